//===- LinearPart.cpp - What a body does to columns of a tile -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LinearPart.h"

#include "mlir/IR/IRMapping.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

static int64_t rankOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getRank(); }

LinearPart::LinearPart(OpBuilder &builder, LoopOp loop, Value source, Value columns)
    : tiles(builder, loop.getLoc()), loop(loop), source(source), count(tiles.shape(columns)[1]) {
  parts[source] = {columns, 1};
}

SmallVector<int64_t> LinearPart::shapeOf(Value tile, int64_t axis) {
  SmallVector<int64_t> shape(tiles.shape(tile));
  shape[axis] = count;
  return shape;
}

LogicalResult LinearPart::refuse(Operation *op, const char *expected) {
  auto diagnostic = op->emitError() << "expected " << expected << ", but got '" << op->getName() << "'";
  diagnostic.attachNote(loop.getLoc()) << "the loop says that it carries " << loop.getCarry()
                                       << "; give it the carry that it has, or leave it uncut";
  return failure();
}

FailureOr<Value> LinearPart::of(Value value) {
  FailureOr<Part> part = partOf(value);
  if (failed(part))
    return failure();
  return *part ? part->tile : tiles.constant(shapeOf(value, 1), 0);
}

FailureOr<LinearPart::Part> LinearPart::partOf(Value value) {
  if (auto found = parts.find(value); found != parts.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  FailureOr<Part> part;
  if (auto argument = dyn_cast<BlockArgument>(value))
    part = partOfArgument(argument);
  else
    part = loop.getBody().isAncestor(op->getParentRegion()) ? partOfOp(op) : FailureOr<Part>(Part());
  if (succeeded(part))
    parts[value] = *part;
  return part;
}

FailureOr<LinearPart::Part> LinearPart::partOfArgument(BlockArgument argument) {
  if (argument.getOwner() == &loop.getBody().front() && argument != loop.getInductionVar())
    return refuse(loop, "the first carried tile of the next step to depend on no other carried tile");
  return Part();
}

FailureOr<LinearPart::Part> LinearPart::partOfOp(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  bool depends = false;
  for (Value value : read) {
    FailureOr<Part> part = partOf(value);
    if (failed(part))
      return failure();
    depends |= static_cast<bool>(*part);
  }
  if (!depends)
    return Part();
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return parts.lookup(operand); });
  tiles.loc = op->getLoc();
  return TypeSwitch<Operation *, FailureOr<Part>>(op)
      .Case([&](DotOp dot) { return ofDot(dot, operands); })
      .Case([&](ReduceOp reduce) { return ofReduce(reduce, operands[0]); })
      .Case([&](ExpandOp expand) { return ofExpand(expand, operands[0]); })
      .Case([&](MaskOp mask) { return ofMask(mask, operands[0]); })
      .Case([&](arith::AddFOp) { return ofSum(op, operands[0], operands[1], /*negateRight=*/false); })
      .Case([&](arith::SubFOp) { return ofSum(op, operands[0], operands[1], /*negateRight=*/true); })
      .Case<arith::MulFOp, arith::DivFOp>([&](Operation *) { return ofProduct(op, operands); })
      .Case<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>([&](Operation *) { return ofUnary(op, operands[0]); })
      .Default([&](Operation *) { return refuse(op, "ops that are linear in the carried tile"); });
}

//===----------------------------------------------------------------------===//
// Across elements
//===----------------------------------------------------------------------===//

/// Rows of the result are rows of A, and columns those of B: one of the two may be the tile's columns, never the axis
/// that is summed over.
FailureOr<LinearPart::Part> LinearPart::ofDot(DotOp op, ArrayRef<Part> parts) {
  Part a = parts[0], b = parts[1], acc = parts[2];
  if (a && b)
    return refuse(op, "ops that are linear in the carried tile");
  int64_t axis = a ? 0 : b ? 1 : acc.axis;
  bool sums = (a && a.axis != (op.getTransposeA() ? 1 : 0)) || (b && b.axis != (op.getTransposeB() ? 0 : 1));
  if (sums || (acc && acc.axis != axis))
    return refuse(op, "the columns of the carried tile to stay apart");
  if (!a && !b)
    return acc;
  Value start = acc ? acc.tile : tiles.constant(shapeOf(op.getResult(), axis), 0);
  auto result = DotOp::create(tiles.builder, tiles.loc, start.getType(), a ? a.tile : op.getA(),
                              b ? b.tile : op.getB(), start, op.getTransposeA(), op.getTransposeB());
  result.setPrecisionAttr(op.getPrecisionAttr());
  return Part{result, axis};
}

FailureOr<LinearPart::Part> LinearPart::ofReduce(ReduceOp op, Part source) {
  if (op.getKind() != ReduceKind::Add)
    return refuse(op, "ops that are linear in the carried tile");
  if (static_cast<int64_t>(op.getAxis()) == source.axis)
    return refuse(op, "the columns of the carried tile to stay apart");
  return Part{tiles.reduceAdd(source.tile, op.getAxis()), 0};
}

FailureOr<LinearPart::Part> LinearPart::ofExpand(ExpandOp op, Part source) {
  int64_t axis = 1 - op.getAxis();
  return Part{tiles.expand(source.tile, op.getAxis(), shapeOf(op.getResult(), axis)), axis};
}

/// Rows that are filled have no part in what the tile becomes.
FailureOr<LinearPart::Part> LinearPart::ofMask(MaskOp op, Part source) {
  if (op.getCols() || op.getDiagonal() || rankOf(source.tile) != 2 || source.axis != 1)
    return refuse(op, "the columns of the carried tile to stay apart");
  return Part{tiles.mask(source.tile, 0, op.getRows(), {}, {}), source.axis};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

FailureOr<LinearPart::Part> LinearPart::ofSum(Operation *op, Part left, Part right, bool negateRight) {
  if (left && right && left.axis != right.axis)
    return refuse(op, "the columns of the carried tile to stay apart");
  if (!right)
    return left;
  if (!left)
    return negateRight ? Part{tiles.negate(right.tile), right.axis} : right;
  return Part{negateRight ? tiles.minus(left.tile, right.tile) : tiles.plus(left.tile, right.tile), left.axis};
}

FailureOr<LinearPart::Part> LinearPart::ofProduct(Operation *op, ArrayRef<Part> parts) {
  if (parts[0] && parts[1])
    return refuse(op, "ops that are linear in the carried tile");
  if (isa<arith::DivFOp>(op) && parts[1])
    return refuse(op, "ops that are linear in the carried tile");
  Part part = parts[0] ? parts[0] : parts[1];
  Value other = resized(op->getOperand(parts[0] ? 1 : 0), part.axis);
  if (!other)
    return refuse(op, "factors of the carried tile with the same columns everywhere");
  return Part{isa<arith::DivFOp>(op) ? tiles.over(part.tile, other) : tiles.times(part.tile, other), part.axis};
}

FailureOr<LinearPart::Part> LinearPart::ofUnary(Operation *op, Part operand) {
  if (isa<arith::NegFOp>(op))
    return Part{tiles.negate(operand.tile), operand.axis};
  return Part{tiles.cast(operand.tile, tiles.element(op->getResult(0))), operand.axis};
}

Value LinearPart::resized(Value tile, int64_t axis) {
  SmallVector<int64_t> shape = shapeOf(tile, axis);
  Operation *op = tile.getDefiningOp();
  if (std::optional<double> number = splatValue(tile); number && tiles.element(tile).isF32())
    return tiles.constant(shape, *number);
  if (auto expand = dyn_cast_if_present<ExpandOp>(op))
    return static_cast<int64_t>(expand.getAxis()) == axis ? tiles.expand(expand.getSource(), axis, shape) : Value();
  if (!op || !op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value other = isTile(operand.getType()) ? resized(operand, axis) : operand;
    if (!other)
      return {};
    mapping.map(operand, other);
  }
  Operation *other = tiles.builder.clone(*op, mapping);
  other->getResult(0).setType(RankedTensorType::get(shape, tiles.element(tile)));
  return other->getResult(0);
}
