//===- LiveTiles.cpp - Bytes of tiles that a program holds ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LiveTiles.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace attune;
using namespace attune::cost;

static double bytesOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  bool isHeld = tile && !(op && (op->hasTrait<OpTrait::ConstantLike>() || isa<tile::ExpandOp>(op)));
  return isHeld ? static_cast<double>(tile.getNumElements()) * tile.getElementTypeBitWidth() / 8 : 0;
}

/// Of each op of a block the tiles that it is the last to read. What `tile.expand` makes is read as its source.
static llvm::DenseMap<Operation *, double> lastReads(Block &block) {
  llvm::DenseMap<Operation *, double> bytes;
  llvm::SmallPtrSet<void *, 32> read;
  auto readBy = [&](Value value, Operation *reader) {
    while (auto expand = value.getDefiningOp<tile::ExpandOp>())
      value = expand.getSource();
    if (value.getParentBlock() == &block && read.insert(value.getAsOpaquePointer()).second)
      bytes[reader] += bytesOf(value);
  };
  for (Operation &op : llvm::reverse(block)) {
    if (isa<tile::ExpandOp>(op))
      continue;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        readBy(operand, &op);
    });
  }
  for (BlockArgument argument : block.getArguments())
    if (!read.contains(argument.getAsOpaquePointer()))
      bytes[&block.front()] += bytesOf(argument);
  return bytes;
}

/// Bytes of the operands in whose place the results of an op can be: of what is computed element by element those that nobody reads
/// afterwards, of a product what it is added to.
static double takenOver(Operation &op, double dying) {
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return dot.getAcc().hasOneUse() && dot.getAcc().getParentBlock() == op.getBlock() ? bytesOf(dot.getAcc()) : 0;
  return op.hasTrait<OpTrait::Elementwise>() ? dying : 0;
}

double cost::liveBytes(Block &block) {
  llvm::DenseMap<Operation *, double> last = lastReads(block);
  double live = 0, most = 0;
  for (BlockArgument argument : block.getArguments())
    live += bytesOf(argument);
  for (Operation &op : block) {
    double made = 0, held = 0, dying = last.lookup(&op);
    for (Value result : op.getResults())
      made += result.use_empty() ? 0 : bytesOf(result);
    if (auto loop = dyn_cast<tile::LoopOp>(op)) {
      // What is carried takes the place of what the loop begins with, if nobody reads that afterwards.
      double begun = 0;
      for (Value init : loop.getInits())
        begun += bytesOf(init);
      held = liveBytes(loop.getBody().front()) - std::min(begun, dying);
    } else {
      held = made - std::min(made, takenOver(op, dying));
    }
    most = std::max(most, live + held);
    live += made - dying;
  }
  return std::max(most, live);
}

double cost::carriedBytes(tile::LoopOp loop) {
  double bytes = 0;
  for (Value result : loop.getResults())
    if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
      bytes += static_cast<double>(tile.getNumElements()) * tile.getElementTypeBitWidth() / 8;
  return bytes;
}
