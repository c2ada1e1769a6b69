//===- Orders.cpp - Row-major and column-major tiles ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Orders.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

bool cpu::isFree(Value tile) { return tile.getDefiningOp<tile::ExpandOp>() || splatValue(tile); }

static Order orderOfCarried(tile::LoopOp loop, unsigned position) {
  auto flags = loop->getAttrOfType<DenseBoolArrayAttr>(columnsAttr);
  return flags && flags[position] ? Order::Column : Order::Row;
}

Order cpu::orderOf(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return orderOfCarried(cast<tile::LoopOp>(argument.getOwner()->getParentOp()), argument.getArgNumber() - 1);
  auto result = cast<OpResult>(tile);
  if (auto loop = dyn_cast<tile::LoopOp>(result.getOwner()))
    return orderOfCarried(loop, result.getResultNumber());
  return result.getOwner()->hasAttr(columnAttr) ? Order::Column : Order::Row;
}

static Order orderInDot(tile::DotOp dot, unsigned operand, Order own) {
  bool rows = orderOf(dot.getResult()) == Order::Column; // vectors along the rows: A is read as vectors
  if (operand == 2)
    return rows ? Order::Column : Order::Row;
  if ((operand == 0) != rows)
    return own;
  bool transposed = rows ? dot.getTransposeA() : dot.getTransposeB();
  return transposed != rows ? Order::Column : Order::Row;
}

Order cpu::orderOfUse(OpOperand &use) {
  Operation *user = use.getOwner();
  Order own = isFree(use.get()) ? Order::Row : orderOf(use.get());
  if (auto dot = dyn_cast<tile::DotOp>(user))
    return orderInDot(dot, use.getOperandNumber(), own);
  if (auto loop = dyn_cast<tile::LoopOp>(user))
    return orderOf(loop.getResult(use.getOperandNumber() - 2));
  if (isa<tile::YieldOp>(user))
    return orderOf(user->getParentOp()->getResult(use.getOperandNumber()));
  if (isa<tile::StoreOp, tile::PermuteColumnsOp>(user))
    return Order::Row;
  if (isa<tile::ReduceOp, tile::ExpandOp>(user))
    return own;
  return orderOf(user->getResult(0));
}

int64_t cpu::outerSize(ArrayRef<int64_t> shape, Order order) {
  return shape.size() == 1 ? 1 : shape[order == Order::Row ? 0 : 1];
}

int64_t cpu::innerSize(ArrayRef<int64_t> shape, Order order) {
  return shape.size() == 1 ? shape[0] : shape[order == Order::Row ? 1 : 0];
}
