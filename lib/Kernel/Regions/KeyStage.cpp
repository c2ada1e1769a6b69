//===- KeyStage.cpp - Kernels that stream the keys of a head ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KeyStage.h"

#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

Stage kernel::existingKeys(const RegionPlanner &plan) {
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Key].causal = std::nullopt;
  return {Axis::Key, plan.problem.keyTile(), {{"keys", Border::Begin, Border::End, /*masked=*/true}}, extents};
}

Source kernel::stateOfExponents(Stage keys, Source l, Source v, int64_t features, int64_t width, bool wide, Source shares) {
  auto unit = std::make_shared<BoundSource>("unit", Axis::Key, Representation::Plain);
  keys.unit = unit;
  Source b = term(terms::inUnit(), {l, unit});
  StepForm step{terms::state(features, width, wide, static_cast<bool>(shares)), {b, v, l}};
  if (shares)
    step.operands.push_back(std::move(shares));
  return stream(keys, std::move(step));
}

RegionOutput kernel::storeOrAdd(Source value, Value memory, SmallVector<Dimension, 4> place, bool adds) {
  if (adds)
    value = term(terms::plus(), {fusion::memory(memory, place), std::move(value)});
  return {std::move(value), memory, std::move(place)};
}

KernelRegion kernel::stateKernel(const RegionPlanner &plan, StringRef suffix, Axis head) {
  const Problem &problem = plan.problem;
  GridAxis batch{Axis::Batch, tile::Axis::Batch};
  return {problem.name, suffix.str(), problem.schedule, {batch, {head, tile::Axis::Head}}, plan.extents, {}};
}
