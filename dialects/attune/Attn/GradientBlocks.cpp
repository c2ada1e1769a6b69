//===- GradientBlocks.cpp - Tokens in blocks and rescaled states: verifiers and cotangents -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnGradients.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;
using namespace attune::attn::gradients;
using checks::shapeOf;

LogicalResult TrueStateOp::verify() {
  ArrayRef<int64_t> s = shapeOf(getGivenState());
  if (failed(checkState(*this, getGivenState(), getGivenSum(), s))) // A10
    return failure();
  return checkShape(*this, "scale", getScale().getType(), s.take_front(2)); // A99
}

/// A100: `blocks` has N + b rows, `part` those of the part; N is not known where they have equally many.
static LogicalResult checkBlocks(Operation *op, BlockPart part, int64_t block, Value blocks, Value ofPart, Value position, Value lengths) {
  ArrayRef<int64_t> all = shapeOf(blocks);
  if (failed(checkLengths(op, position, all[0])) || failed(checkLengths(op, lengths, all[0]))) // A3
    return failure();
  if (block < 1) // A33
    return op->emitOpError() << "expected a block of at least 1, but got " << block;
  bool dynamic = ShapedType::isDynamic(all[2]);
  int64_t run = dynamic ? all[2] : all[2] - block;
  if (!dynamic && run < 0)
    return op->emitOpError() << "expected the rows of a run and " << block << " more in blocks, but got " << all[2];
  int64_t rows = part == BlockPart::Run ? run : part == BlockPart::Whole ? all[2] : block;
  return checkShape(op, "part", ofPart.getType(), {all[0], all[1], rows, all[3]});
}

LogicalResult TakeFromBlocksOp::verify() {
  return checkBlocks(*this, getPart(), static_cast<int64_t>(getBlock()), getSource(), getResult(), getPosition(), getLengths());
}

LogicalResult PlaceInBlocksOp::verify() {
  bool says = getPart() == BlockPart::Run || getPart() == BlockPart::Whole;
  if (says == static_cast<bool>(getLike())) // A101
    return emitOpError() << "expected " << (says ? "no " : "") << "`like` with " << stringifyBlockPart(getPart()) << ", but got " << (says ? "one" : "none");
  ArrayRef<int64_t> all = shapeOf(getResult());
  if (getLike() && failed(checkShape(*this, "like", getLike().getType(), {all[0], ShapedType::kDynamic, all[2], ShapedType::kDynamic}))) // A100
    return failure();
  return checkBlocks(*this, getPart(), static_cast<int64_t>(getBlock()), getResult(), getSource(), getPosition(), getLengths());
}

/// e^c S, of which S̄ is what reaches the state as it is.
SmallVector<Value> TrueStateOp::buildGradients(OpBuilder &, ValueRange cotangents) { return {cotangents[0], cotangents[1], Value()}; }

SmallVector<Value> TakeFromBlocksOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  bool says = getPart() == BlockPart::Run || getPart() == BlockPart::Whole;
  gradients[0] = PlaceInBlocksOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getPosition(), getLengths(),
                                         says ? Value() : getSource(), getBlockAttr(), getPartAttr());
  return gradients;
}

SmallVector<Value> PlaceInBlocksOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  gradients[0] = TakeFromBlocksOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getPosition(), getLengths(),
                                          getBlockAttr(), getPartAttr());
  return gradients;
}
