//===- Problem.cpp - A spec, its tensors, and its loss --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Reference/HostArrays.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attune;
using reference::Array;

static Spec parse(const std::string &yaml) {
  SourceFile file("probe.yaml", yaml);
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Good) << yaml;
  print(diagnostics, file, llvm::errs());
  return spec;
}

static std::string tensorName(mlir::func::FuncOp function, unsigned number, bool result) {
  auto name = result ? function.getResultAttrOfType<mlir::StringAttr>(number, "attn.name")
                     : function.getArgAttrOfType<mlir::StringAttr>(number, "attn.name");
  return name ? name.str() : "";
}

/// As drawn, but a token's position is a small one, and the units of a state are not far apart.
static Array draw(SpecTensor tensor, uint64_t seed) {
  if (llvm::StringRef(tensor.name).ends_with("state.position"))
    tensor.bound = 4;
  if (tensor.rescales)
    tensor.deviation = 0.5;
  return reference::toArray(drawTensor(tensor, seed), {});
}

Problem::Problem(const std::string &yaml, uint64_t seed, bool compiled) : spec(parse(yaml)) {
  module = specToAttn(spec, "probe.yaml", context);
  forward = module->lookupSymbol<mlir::func::FuncOp>(spec.name);
  mlir::FailureOr<mlir::func::FuncOp> built = graph::buildBackward(forward, /*linear=*/compiled);
  EXPECT_TRUE(mlir::succeeded(built) && mlir::succeeded(mlir::verify(*module))) << yaml;
  backward = mlir::succeeded(built) ? *built : nullptr;
  std::vector<SpecTensor> tensors = inputTensors(spec, Direction::Backward), parameters = parameterTensors(spec);
  tensors.insert(tensors.end(), parameters.begin(), parameters.end());
  for (const SpecTensor &tensor : tensors)
    drawn[tensor.name] = draw(tensor, seed);
}

/// The results by their names. Of what is not drawn, the function is given zeros.
static Arrays evaluate(mlir::func::FuncOp function, const Arrays &arrays) {
  std::vector<Array> arguments;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto found = arrays.find(tensorName(function, number, /*result=*/false));
    arguments.push_back(found != arrays.end() ? found->second : Array(llvm::cast<mlir::RankedTensorType>(type).getShape()));
  }
  auto results = reference::evalAttn(function, arguments);
  EXPECT_TRUE(mlir::succeeded(results));
  Arrays named;
  if (mlir::succeeded(results))
    for (auto [number, result] : llvm::enumerate(*results))
      named[tensorName(function, number, /*result=*/true)] = result;
  return named;
}

Arrays Problem::gradients(const Arrays &arrays) const {
  Arrays named;
  for (auto &[name, array] : evaluate(backward, arrays)) {
    EXPECT_TRUE(llvm::StringRef(name).starts_with(gradientPrefix)) << name;
    named[name.substr(gradientPrefix.size())] = array;
  }
  return named;
}

/// e to the scale of a state, for each of its elements; 1 of another tensor.
static std::vector<double> unitsOf(const std::string &name, const Arrays &arrays, int64_t count) {
  std::vector<double> units(count, 1);
  llvm::StringRef state(name);
  if (!(state.ends_with("state.s") || state.ends_with("state.z")))
    return units;
  auto scale = arrays.find((state.drop_back() + "scale").str());
  if (scale == arrays.end())
    return units;
  std::vector<double> scales = scale->second.elements();
  for (int64_t i = 0; i < count; ++i)
    units[i] = std::exp(scales[i * static_cast<int64_t>(scales.size()) / count]);
  return units;
}

double Problem::loss(const Arrays &arrays) const {
  double sum = 0;
  Arrays outputs = evaluate(forward, arrays);
  for (const SpecTensor &cotangent : cotangentTensors(spec)) {
    std::string name = cotangent.name.substr(gradientPrefix.size());
    std::vector<double> values = outputs.at(name).elements(), weights = arrays.at(cotangent.name).elements();
    std::vector<double> units = unitsOf(name, outputs, static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i]) && values[i] != 0)
        sum += values[i] * units[i] * weights[i];
  }
  return sum;
}

/// The arrays, one of them `step` further in a direction. A state is moved by its true value.
static Arrays moved(const Arrays &arrays, const std::string &name, const std::vector<double> &direction, double step) {
  Arrays result = arrays;
  std::vector<double> values = arrays.at(name).elements(), units = unitsOf(name, arrays, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += step * direction[i] / units[i];
  result[name] = reference::makeArray(arrays.at(name).shape(), values);
  return result;
}

double Problem::extrapolated(const std::string &name, const std::vector<double> &direction, double step) const {
  double central[3];
  for (int i = 0; i < 3; ++i, step /= 2)
    central[i] = (loss(moved(drawn, name, direction, step)) - loss(moved(drawn, name, direction, -step))) / (2 * step);
  double first = (4 * central[1] - central[0]) / 3, second = (4 * central[2] - central[1]) / 3;
  return (16 * second - first) / 15;
}

double Problem::difference(const std::string &name, const std::vector<double> &direction) const {
  double best = 0, least = std::numeric_limits<double>::infinity();
  double before = extrapolated(name, direction, 1e-2);
  for (double step : {1e-3, 1e-4, 1e-5}) {
    double estimate = extrapolated(name, direction, step);
    if (std::abs(estimate - before) < least)
      least = std::abs(estimate - before), best = estimate;
    before = estimate;
  }
  return best;
}

double attune::norm(const Array &array) {
  double sum = 0;
  for (double element : array.elements())
    sum += element * element;
  return std::sqrt(sum);
}
