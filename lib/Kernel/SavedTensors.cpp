//===- SavedTensors.cpp - What a run gives, or is computed again ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     own   = workspace                     kernels of `computed`, over grids of heads · absent
//     saved = tile.either given, own        absent = 1 − Π min(entries of a given tensor, 1)
//
// and the other way round, of what a run leaves:
//
//     source = tile.either left, own        kernels that nothing else needs, over grids of heads · asked
//                                           asked = min(Σ entries of the tensors that are left, 1)
//
// What those kernels read is made before, since others may read it too; tokens that are compressed and read by nobody else are not.
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"
#include "Planner/MapRule.h"
#include "Planner/StateRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// Multiplies the grid of each launch by a number that is made before it.
static void scaleGrids(ArrayRef<tile::LaunchOp> launches, llvm::function_ref<Value(OpBuilder &, TileBuilder &)> factor) {
  for (tile::LaunchOp launch : launches) {
    OpBuilder builder(launch);
    TileBuilder host(builder, launch.getLoc());
    Value times = factor(builder, host);
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(launch, launch.getCalleeAttr());
    size_t axis = 0; // that of heads, which packed sequences leave alone
    for (auto [number, counts] : llvm::enumerate(kernel.getGrid().getAsRange<tile::AxisAttr>()))
      if (counts.getValue() == tile::Axis::Head)
        axis = number;
    Value count = launch.getGrid()[axis];
    launch.getGridMutable()[axis].set(arith::MulIOp::create(builder, launch.getLoc(), count, times));
  }
}

/// The launches do nothing in a run that gives all these tensors.
static void runUnlessGiven(ArrayRef<tile::LaunchOp> launches, ValueRange given) {
  scaleGrids(launches, [&](OpBuilder &builder, TileBuilder &host) {
    Value there = host.index(1);
    for (Value tensor : given)
      there = arith::MulIOp::create(builder, tensor.getLoc(), there, host.min(host.dim(tensor, 0), host.index(1)));
    return host.sub(host.index(1), there);
  });
}

/// The launches do nothing in a run that has none of these tensors.
static void runIfAsked(ArrayRef<tile::LaunchOp> launches, ValueRange left) {
  scaleGrids(launches, [&](OpBuilder &, TileBuilder &host) {
    Value asked = host.index(0);
    for (Value tensor : left)
      asked = host.add(asked, host.dim(tensor, 0));
    return host.min(asked, host.index(1));
  });
}

Value HostBuilder::orKept(Value value, Value own) {
  Value result = kept.lookup(value);
  return result ? tile::EitherOp::create(site.host, site.loc, result, own).getResult() : own;
}

/// Whether a value lies where a result is to have it, if a run has the result.
bool HostBuilder::isStoredFor(Value value, Value result) const {
  const Tokens *tokens = placeOf(value);
  Value memory = tokens ? tokens->memory : workspaces.lookup(value);
  auto either = memory ? memory.getDefiningOp<tile::EitherOp>() : tile::EitherOp();
  return either && either.getGiven() == result;
}

/// The op whose kernels make a value: of the units of a state, or the logarithms of its sums, that of the state, which is made with them or of them.
static Operation *makerOf(Value value) {
  attn::StateOp state;
  if (auto maximum = value.getDefiningOp<attn::KeyMaximumOp>())
    state = stateBesideMaximum(maximum);
  else if (auto lse = value.getDefiningOp<attn::SequenceLseOp>())
    state = stateOfWeights(lse);
  if (state)
    return state;
  return value.getDefiningOp();
}

/// Has numbers of features in memory.
LogicalResult HostBuilder::bringState(Operation *op) {
  OpSet reads, later;
  if (failed(prepareOp(op, reads, later)))
    return failure();
  later.insert(op);
  return materializeAll(later, startProblem());
}

LogicalResult HostBuilder::writeLeft(func::FuncOp function) {
  SmallVector<Value> results, left;
  for (Value result : function.getBody().front().getTerminator()->getOperands()) {
    auto keep = result.getDefiningOp<attn::KeepOp>();
    if (keep && (placeOf(keep.getSource()) || workspaces.contains(keep.getSource()))) // made for others
      missing.remove(result);
    else if (missing.contains(result))
      results.push_back(result), left.push_back(memory(result));
  }
  Block &block = *site.host.getInsertionBlock();
  Operation *before = block.empty() ? nullptr : &block.back();
  const llvm::SmallPtrSet<Operation *, 8> none;
  for (Value result : results) {
    if (auto keep = result.getDefiningOp<attn::KeepOp>()) {
      Value source = keep.getSource();
      bool areTokens = cast<RankedTensorType>(source.getType()).getRank() == 4 && !isState(source);
      if (areTokens ? failed(read(source)) : failed(bringState(makerOf(source))))
        return failure();
      missing.remove(result);
    } else if (missing.contains(result) && failed(write(result, Output{memory(result), 0, std::nullopt}))) {
      return failure();
    }
  }
  runIfAsked(launchesAfter(block, before, none), left);
  for (auto keep : function.getOps<attn::KeepOp>())
    if (!isStoredFor(keep.getSource(), memory(keep.getResult())))
      return keep.emitOpError() << "expected a value that kernels store for others, as a projection, compressed tokens, the output of attention or a state, "
                                   "but got another (not supported yet)";
  return success();
}

LogicalResult HostBuilder::placeSaved(ArrayRef<attn::SavedOp> saved) {
  Operation *op = makerOf(attn::SavedOp(saved.front()).getComputed());
  bool readsFeatures = isa<attn::StateOp, attn::CausalReadoutOp>(op); // which are in no memory
  if (OpSet reads, later; isa<attn::CausalReadoutOp>(op) && failed(prepareOp(op, reads, later)))
    return failure();
  for (Value operand : readsFeatures ? ValueRange() : ValueRange(op->getOperands()))
    if (auto type = cast<RankedTensorType>(operand.getType());
        type.getRank() == 4 && !(isa<attn::CompressOp>(op) && operand.hasOneUse()) && failed(read(operand)))
      return failure();
  Block &block = *site.host.getInsertionBlock();
  Operation *before = block.empty() ? nullptr : &block.back();
  bool ofState = isa<attn::StateOp, attn::SequenceLseOp>(op);
  if (ofState && failed(bringState(op)))
    return failure();
  SmallVector<Value> given, own;
  for (attn::SavedOp each : saved) {
    Value value = each.getComputed();
    given.push_back(memory(each.getGiven()));
    auto type = cast<MemRefType>(given.back().getType());
    if (type.getRank() == 4 && isa<attn::ProjectOp, attn::CompressOp>(op)) {
      FailureOr<Tokens> tokens = read(value);
      if (failed(tokens))
        return failure();
      own.push_back(tokens->memory);
    } else if (ofState) {
      own.push_back(memoryOf(value));
    } else if (type.getRank() == 4) {
      TileBuilder host(site.host, site.loc);
      Value rows = rowsOf(rowsBehind(value)).memory;
      own.push_back(tile::WorkspaceOp::create(site.host, site.loc, MemRefType::get(type.getShape(), type.getElementType()),
                                              ValueRange{host.dim(rows, 0), tokenCount(host, rows)}));
      if (failed(write(value, Output{own.back(), 0, std::nullopt})))
        return failure();
      computed[value] = Tokens{own.back(), 0, type.getDimSize(1), type.getDimSize(3), {}};
    } else {
      if (failed(prepareNumbers(value)))
        return failure();
      own.push_back(memoryOf(value));
    }
  }
  const llvm::SmallPtrSet<Operation *, 8> none;
  runUnlessGiven(launchesAfter(block, before, isa<attn::ProjectOp, attn::CompressOp>(op) ? none : ofTokens), given);
  for (auto [each, tensor, other] : llvm::zip_equal(saved, given, own)) {
    Value memory = tile::EitherOp::create(site.host, site.loc, tensor, other);
    auto type = cast<MemRefType>(memory.getType());
    Value result = attn::SavedOp(each).getResult();
    if (type.getRank() == 4 && !isState(result))
      computed[result] = Tokens{memory, 0, type.getDimSize(1), type.getDimSize(3), {}};
    else
      workspaces[result] = memory;
  }
  return success();
}

LogicalResult HostBuilder::placeSaved(func::FuncOp function) {
  llvm::MapVector<Operation *, SmallVector<attn::SavedOp>> all;
  for (auto saved : function.getOps<attn::SavedOp>())
    all[makerOf(saved.getComputed())].push_back(saved);
  for (auto &[op, saved] : all)
    if (failed(placeSaved(saved)))
      return failure();
  return success();
}
