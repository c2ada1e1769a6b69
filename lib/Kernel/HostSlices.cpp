//===- HostSlices.cpp - What slices are read of is stored first -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where tiles have slices of channels, what needs whole rows, or ω, is not done in the loads: rotated and normalised tokens and
// features of queries and keys are stored by kernels of their own, and every form of attention reads slices of those. Chunks, which have slices of values
// alone, normalize rows in their loads as ever.
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/Regions.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

bool HostBuilder::isReadWhole(Value tokens) {
  return llvm::all_of(tokens.getUsers(), [](Operation *user) {
    bool isOfRows = isa<attn::MapOp, attn::GateOp, attn::RepeatHeadsOp>(user);
    return isa<attn::CausalReadoutOp>(user) || (isOfRows && isReadWhole(user->getResult(0)));
  });
}

FailureOr<Tokens> HostBuilder::withStep(FailureOr<Tokens> tokens, TokenStep step, bool isWhole) {
  if (failed(tokens))
    return failure();
  tokens->steps.push_back(step);
  if (!schedule.isSliced() || isWhole)
    return tokens;
  Problem problem = startProblem();
  problem.query = *tokens, problem.value.width = tokens->width;
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<Value> sizes{host.dim(tokens->memory, 0), tokenCount(host, tokens->memory)};
  Tokens result{site.workspace({dynamic, tokens->heads, dynamic, tokens->width}, sizes), 0, tokens->heads, tokens->width, {}};
  problem.output.memory = result.memory;
  bool rotates = step.kind == TokenStep::Kind::Rope;
  if (failed(buildKernel(rotates ? rotationRegion(problem) : normalizedRowsRegion(problem))))
    return failure();
  return result;
}

/// Whether an op reads slices of features where tiles have them: not what keeps a state in registers, or compresses features.
static bool readsSlices(Operation *op) {
  if (auto readout = dyn_cast<attn::ReadoutOp>(op))
    return attn::executionOf(readout).values != attn::Values::Fused && !readout.getDenominator().use_empty();
  if (auto state = dyn_cast<attn::StateOp>(op))
    return llvm::all_of(state->getUsers(), [](Operation *user) { return isa<attn::ReadoutOp>(user) && readsSlices(user); });
  return isa<attn::ContractOp>(op);
}

tile::ScheduleAttr HostBuilder::scheduleOf(func::FuncOp function, tile::ScheduleAttr schedule) {
  bool hasUnits = llvm::any_of(function.getOps<attn::KeyMaximumOp>(), [](attn::KeyMaximumOp op) { return attn::isOfFeatures(op.getResult()); });
  return attn::isBackward(function) && hasUnits && schedule.isSliced() ? tile::scheduleOfRows(schedule) : schedule;
}

void HostBuilder::storeFeatures(func::FuncOp function) {
  if (!schedule.isSliced() || ofGradients) // which bring them to memory as whole rows
    return;
  for (auto map : function.getOps<attn::MapOp>())
    if (llvm::all_of(map->getUsers(), readsSlices) && map.getFeatureMap().getKind() != attn::FeatureKind::Identity)
      attn::decide(map, [](attn::Execution &execution) { execution.values = attn::Values::Materialized; });
}
