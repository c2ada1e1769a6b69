//===- TileFaults.cpp - Masks, bounds, carries and scales that are wrong --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fault.h"

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

using Result = std::optional<Change>;

template <typename Op> static SmallVector<Op> all(ModuleOp kernels) {
  SmallVector<Op> found;
  for (auto kernel : kernels.getOps<tile::KernelOp>())
    kernel.walk([&](Op op) { found.push_back(op); });
  return found;
}

/// The first loop of a kernel whose name ends so.
static tile::LoopOp loopOf(ModuleOp kernels, StringRef end) {
  for (auto loop : all<tile::LoopOp>(kernels))
    if (loop->getParentOfType<tile::KernelOp>().getSymName().ends_with(end))
      return loop;
  return {};
}

/// Adds `value` to an index operand.
static Change shift(OpOperand &operand, int64_t value) {
  OpBuilder builder(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  Value by = arith::ConstantIndexOp::create(builder, loc, value);
  operand.set(arith::AddIOp::create(builder, loc, operand.get(), by));
  return {0, 2, 1};
}

/// Puts a tile of one number in the place of an operand.
static Change setTile(OpOperand &operand, double number) {
  OpBuilder builder(operand.getOwner());
  auto type = cast<RankedTensorType>(operand.get().getType());
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  operand.set(arith::ConstantOp::create(builder, operand.getOwner()->getLoc(), DenseElementsAttr::get(type, element)));
  return {0, 1, 1};
}

//===----------------------------------------------------------------------===//
// Masks and bounds
//===----------------------------------------------------------------------===//

/// The operand of a mask, if it has it.
static OpOperand *operandOf(tile::MaskOp mask, Value operand) {
  for (OpOperand &each : mask->getOpOperands())
    if (operand && each.get() == operand)
      return &each;
  return nullptr;
}

static Result diagonalOffByOne(ModuleOp kernels) {
  for (auto mask : all<tile::MaskOp>(kernels))
    if (OpOperand *diagonal = operandOf(mask, mask.getDiagonal()))
      return shift(*diagonal, 1);
  return {};
}

static Result columnsOffByOne(ModuleOp kernels) {
  for (auto mask : all<tile::MaskOp>(kernels))
    if (OpOperand *columns = operandOf(mask, mask.getCols()))
      return shift(*columns, -1);
  return {};
}

static Result unmasked(ModuleOp kernels) {
  for (auto mask : all<tile::MaskOp>(kernels)) {
    unsigned uses = std::distance(mask->use_begin(), mask->use_end());
    mask.getResult().replaceAllUsesWith(mask.getSource());
    mask.erase();
    return Change{1, 0, uses};
  }
  return {};
}

/// The memory's own number of keys in place of the length of this entry of the batch.
static Result lengthsIgnored(ModuleOp kernels) {
  for (auto read : all<memref::LoadOp>(kernels)) {
    OpBuilder builder(read);
    auto kernel = read->getParentOfType<tile::KernelOp>();
    auto keys = kernel.getBody().getArgument(1);
    Location loc = read.getLoc();
    Value axis = arith::ConstantIndexOp::create(builder, loc, 2), dim = memref::DimOp::create(builder, loc, keys, axis);
    auto cast = llvm::dyn_cast<arith::IndexCastOp>(*read->user_begin());
    if (!cast || !read->hasOneUse())
      return {};
    unsigned uses = std::distance(cast->use_begin(), cast->use_end());
    cast.getResult().replaceAllUsesWith(dim);
    return Change{0, 2, uses};
  }
  return {};
}

static Result headOfQueries(ModuleOp kernels) {
  for (auto load : all<tile::LoadOp>(kernels)) {
    auto group = load.getIndices()[1].getDefiningOp<arith::DivUIOp>();
    if (!group)
      continue;
    load.getIndicesMutable()[1].set(group.getLhs());
    return Change{0, 0, 1};
  }
  return {};
}

static Result lastTileMissing(ModuleOp kernels) {
  auto loops = all<tile::LoopOp>(kernels);
  return loops.empty() ? Result() : Result(shift(loops.back().getUpperMutable(), -loops.back().getStep()));
}

static Result diagonalTileMissing(ModuleOp kernels) {
  auto loops = all<tile::LoopOp>(kernels);
  return loops.empty() ? Result() : Result(shift(loops.back().getLowerMutable(), loops.back().getStep()));
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

/// The multiplication of carry `number` by what its maximum has changed by.
static arith::MulFOp rescaleOf(tile::LoopOp loop, unsigned number) {
  if (!loop || loop.getBody().front().getNumArguments() <= number + 1)
    return {};
  for (Operation *user : loop.getBody().front().getArgument(number + 1).getUsers())
    if (auto product = llvm::dyn_cast<arith::MulFOp>(user))
      return product;
  return {};
}

static Result notRescaled(tile::LoopOp loop, unsigned carry) {
  auto product = rescaleOf(loop, carry);
  return product ? Result(setTile(product->getOpOperand(1), 1)) : Result();
}

static Result accumulatorNotRescaled(ModuleOp kernels) { return notRescaled(loopOf(kernels, "softmax"), 2); }
static Result sumNotRescaled(ModuleOp kernels) { return notRescaled(loopOf(kernels, "softmax"), 1); }
static Result stateNotRescaled(ModuleOp kernels) { return notRescaled(loopOf(kernels, "state"), 2); }

/// In a merge, the piece's own part is taken as it is.
static Result pieceNotRescaled(ModuleOp kernels) {
  auto loop = loopOf(kernels, "merge");
  if (!loop)
    return {};
  for (auto product : loop.getBody().front().getOps<arith::MulFOp>())
    if (product.getLhs().getDefiningOp<tile::LoadOp>())
      return setTile(product->getOpOperand(1), 1);
  return {};
}

/// The first piece twice, the others never.
static Result mergedInAnotherOrder(ModuleOp kernels) {
  auto loop = loopOf(kernels, "merge");
  if (!loop)
    return {};
  for (auto load : loop.getBody().front().getOps<tile::LoadOp>())
    for (OpOperand &index : load->getOpOperands())
      if (index.get() == loop.getBody().front().getArgument(0)) {
        index.set(loop.getLower());
        return Change{0, 0, 1};
      }
  return {};
}

static Result maximumNotCarried(ModuleOp kernels) {
  auto loop = loopOf(kernels, "softmax");
  if (!loop)
    return {};
  loop.getBody().front().getTerminator()->setOperand(0, loop.getBody().front().getArgument(1));
  return Change{0, 0, 1};
}

static Result stateNotCarried(ModuleOp kernels) {
  auto loop = loopOf(kernels, "chunked");
  if (!loop)
    return {};
  loop.getBody().front().getTerminator()->setOperand(0, loop.getBody().front().getArgument(1));
  return Change{0, 0, 1};
}

static Result stateNotCleared(ModuleOp kernels) {
  auto loop = loopOf(kernels, "chunked");
  return loop ? Result(setTile(loop.getInitArgsMutable()[0], 1)) : Result();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The product of the queries with the scale of the logits.
static Result noScale(ModuleOp kernels) {
  for (auto product : all<arith::MulFOp>(kernels))
    if (product.getRhs().getDefiningOp<arith::ConstantOp>())
      return setTile(product->getOpOperand(1), 1);
  return {};
}

static Result notNormalised(ModuleOp kernels) {
  auto products = all<arith::MulFOp>(kernels);
  return products.empty() ? Result() : Result(setTile(products.back()->getOpOperand(1), 1));
}

/// One product of TF32 numbers where three are promised.
static Result lessPrecise(ModuleOp kernels) {
  for (auto dot : all<tile::DotOp>(kernels))
    if (dot.getPrecision().value_or(tile::Precision::F32) == tile::Precision::F32) {
      dot.setPrecision(tile::Precision::TF32);
      return Change{0, 0, 1};
    }
  return {};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Fault> test::tileFaults() {
  static const Fault faults[] = {
      {"causal", "diagonal-off-by-one", "queries see the key after their own", wrongValues, diagonalOffByOne},
      {"causal", "diagonal-tile-missing", "the masked tiles begin one too late", wrongValues, diagonalTileMissing},
      {"causal", "last-tile-missing", "the masked tiles end one too early", wrongValues, lastTileMissing},
      {"causal", "accumulator-not-rescaled", "a new maximum does not scale the accumulator", wrongValues,
       accumulatorNotRescaled},
      {"causal", "sum-not-rescaled", "a new maximum does not scale the sum", wrongValues, sumNotRescaled},
      {"causal", "maximum-not-carried", "every tile begins with the first maximum", wrongValues, maximumNotCarried},
      {"causal", "no-scale", "logits without 1/sqrt(d) log2(e)", wrongValues, noScale},
      {"causal", "not-normalised", "the output is not divided by the sum", wrongValues, notNormalised},
      {"lengths", "lengths-ignored", "key lengths are those of the memory", wrongValues, lengthsIgnored},
      {"lengths", "columns-off-by-one", "the last key is masked", wrongValues, columnsOffByOne},
      {"lengths", "unmasked", "keys past the length have logits of 0", wrongValues, unmasked},
      {"lengths", "head-of-queries", "keys of query heads, where there are fewer", wrongValues, headOfQueries},
      {"chunked", "diagonal-off-by-one-chunked", "the same within a chunk", wrongValues, diagonalOffByOne},
      {"chunked", "state-not-cleared", "the state starts from one", wrongValues, stateNotCleared},
      {"favor", "features-unmasked", "keys past the end have features", wrongValues, unmasked},
      {"chunked", "state-not-carried", "every chunk begins with the first state", wrongValues, stateNotCarried},
      {"favor", "state-not-rescaled", "a feature's new maximum does not scale its state", wrongValues,
       stateNotRescaled},
      {"favor", "piece-not-rescaled", "a merge does not scale the state of a piece", wrongValues, pieceNotRescaled},
      {"favor", "merged-in-another-order", "a merge takes the first piece's maximum for all", wrongValues,
       mergedInAnotherOrder},
      {"favor", "less-precise", "a product of f32 numbers rounded to TF32", wrongValues, lessPrecise},
  };
  return faults;
}
