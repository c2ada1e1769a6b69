//===- GradientTensors.cpp - What has a gradient --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecTensors.h"

#include "llvm/ADT/STLExtras.h"

namespace attune {

/// Whole numbers, signs and units are constants of the function.
static bool isDifferentiable(const SpecTensor &tensor) {
  return isFloat(tensor.type) && tensor.elements != Elements::Sign && !tensor.rescales;
}

std::vector<SpecTensor> differentiableTensors(const Spec &spec) {
  std::vector<SpecTensor> result = inputTensors(spec);
  llvm::append_range(result, parameterTensors(spec));
  llvm::erase_if(result, [](const SpecTensor &tensor) { return !isDifferentiable(tensor); });
  return result;
}

std::vector<std::string> gradientNames(const Spec &spec) {
  if (!spec.allGradients)
    return spec.gradients;
  std::vector<std::string> names;
  for (const SpecTensor &tensor : differentiableTensors(spec))
    names.push_back(tensor.name);
  return names;
}

std::vector<SpecTensor> cotangentTensors(const Spec &spec) {
  std::vector<SpecTensor> result;
  for (const SpecTensor &output : outputTensors(spec)) {
    if (!isDifferentiable(output))
      continue;
    result.push_back({gradientPrefix.str() + output.name, output.type, output.shape, "gradients"});
    result.back().optional = true, result.back().ofSequences = output.ofSequences;
  }
  return result;
}

std::vector<SpecTensor> inputTensors(const Spec &spec, Direction direction) {
  std::vector<SpecTensor> result = inputTensors(spec);
  if (direction == Direction::Backward)
    llvm::append_range(result, cotangentTensors(spec));
  return result;
}

} // namespace attune
