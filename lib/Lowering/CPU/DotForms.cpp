//===- DotForms.cpp - What a dot takes over from the ops around it -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DotForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

std::optional<ScaledAccumulator> cpu::scaledAccumulator(tile::DotOp dot) {
  auto product = dot.getAcc().getDefiningOp<arith::MulFOp>();
  if (!product || !product.getResult().hasOneUse() || product->getBlock() != dot->getBlock())
    return std::nullopt;
  for (unsigned position : {0u, 1u}) {
    auto expand = product->getOperand(position).getDefiningOp<tile::ExpandOp>();
    Value other = product->getOperand(1 - position);
    if (expand && !isFree(expand.getSource()) && !isFree(other) && orderOf(other) == orderOf(dot.getResult()))
      return ScaledAccumulator{product, other, expand.getSource(), static_cast<int64_t>(expand.getAxis())};
  }
  return std::nullopt;
}

static std::optional<int64_t> diagonalOf(tile::MaskOp mask) {
  APInt diagonal;
  if (mask && mask.getDiagonal() && matchPattern(mask.getDiagonal(), m_ConstantInt(&diagonal)))
    return diagonal.getSExtValue();
  return std::nullopt;
}

std::optional<int64_t> cpu::resultDiagonal(tile::DotOp dot) {
  std::optional<int64_t> common;
  for (Operation *user : dot.getResult().getUsers()) {
    auto diagonal = diagonalOf(dyn_cast<tile::MaskOp>(user));
    if (!diagonal || (common && *common != *diagonal))
      return std::nullopt;
    common = diagonal;
  }
  return common;
}

std::optional<int64_t> cpu::operandDiagonal(tile::DotOp dot) {
  auto mask = dot.getA().getDefiningOp<tile::MaskOp>();
  if (!mask || dot.getTransposeA() || !mask.getFill().isZero())
    return std::nullopt;
  return diagonalOf(mask);
}

bool cpu::readInPlace(tile::LoadOp load, int64_t lanes) {
  Value tile = load.getResult();
  auto memory = cast<MemRefType>(load.getSource().getType());
  APInt column;
  if (load.getFold() || !tileType(tile).getElementType().isF32() || rankOf(tile) != 2 ||
      memory.isDynamicDim(memory.getRank() - 1) || !matchPattern(load.getIndices().back(), m_ConstantInt(&column)) ||
      column.getSExtValue() + shapeOf(tile)[1] > memory.getDimSize(memory.getRank() - 1))
    return false;
  // What is stored into the same memory may come before the tile is read.
  bool written = false;
  load->getParentOfType<tile::KernelOp>()->walk(
      [&](tile::StoreOp store) { written |= store.getTarget() == load.getSource(); });
  if (written)
    return false;
  bool wholeRows = shapeOf(tile)[1] % lanes == 0, wholeColumns = shapeOf(tile)[0] % lanes == 0;
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    if (isa<tile::LoopOp, tile::YieldOp, tile::StoreOp, tile::ReduceOp>(use.getOwner()))
      return false;
    // In the other order the tile is transposed, by whole blocks.
    if (orderOfUse(use) == Order::Column)
      return wholeRows && wholeColumns;
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot || use.getOperandNumber() == 2)
      return false;
    bool rows = orderOf(dot.getResult()) == Order::Column;
    bool vectors = (use.getOperandNumber() == 0) == rows;
    return !vectors || wholeRows;
  });
}
