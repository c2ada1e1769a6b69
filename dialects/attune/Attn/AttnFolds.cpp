//===- AttnFolds.cpp - Folds and canonicalizations -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

OpFoldResult TakeHeadsOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType()) // all heads
    return getSource();
  return {};
}

namespace {
/// Heads of heads are heads.
struct TakeFromTake : OpRewritePattern<TakeHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TakeHeadsOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<TakeHeadsOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the source is not from take_heads");
    auto first = static_cast<int64_t>(op.getFirst() + inner.getFirst());
    rewriter.replaceOpWithNewOp<TakeHeadsOp>(op, op.getType(), inner.getSource(), rewriter.getI64IntegerAttr(first));
    return success();
  }
};

/// Heads that lie within one part are of that part.
struct TakeFromConcat : OpRewritePattern<TakeHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TakeHeadsOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getSource().getDefiningOp<ConcatHeadsOp>();
    if (!concat)
      return rewriter.notifyMatchFailure(op, "the source is not from concat_heads");
    auto first = static_cast<int64_t>(op.getFirst());
    int64_t heads = shapeOf(op.getResult())[1], start = 0;
    for (Value part : concat.getParts()) {
      int64_t own = shapeOf(part)[1];
      if (first >= start && first + heads <= start + own) {
        rewriter.replaceOpWithNewOp<TakeHeadsOp>(op, op.getType(), part, rewriter.getI64IntegerAttr(first - start));
        return success();
      }
      start += own;
    }
    return rewriter.notifyMatchFailure(op, "the heads are of several parts");
  }
};
} // namespace

void TakeHeadsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeFromTake, TakeFromConcat>(context);
}

OpFoldResult ConcatHeadsOp::fold(FoldAdaptor) {
  if (getParts().size() == 1 && getParts().front().getType() == getResult().getType())
    return getParts().front();
  return {};
}

namespace {
/// Parts of parts are parts.
struct FlattenConcat : OpRewritePattern<ConcatHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatHeadsOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : op.getParts())
      if (auto inner = part.getDefiningOp<ConcatHeadsOp>())
        llvm::append_range(parts, inner.getParts());
      else
        parts.push_back(part);
    if (parts.size() == op.getParts().size())
      return rewriter.notifyMatchFailure(op, "no part is from concat_heads of several");
    rewriter.modifyOpInPlace(op, [&] { op.getPartsMutable().assign(parts); });
    return success();
  }
};

/// Neighbouring heads of one tensor, taken and put together again, are taken at once.
struct JoinTakes : OpRewritePattern<ConcatHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatHeadsOp op, PatternRewriter &rewriter) const override {
    for (auto [place, pair] : llvm::enumerate(llvm::zip_equal(op.getParts().drop_back(), op.getParts().drop_front()))) {
      auto left = std::get<0>(pair).getDefiningOp<TakeHeadsOp>(),
           right = std::get<1>(pair).getDefiningOp<TakeHeadsOp>();
      if (!left || !right || left.getSource() != right.getSource() ||
          left.getFirst() + shapeOf(left)[1] != right.getFirst())
        continue;
      SmallVector<int64_t> shape(shapeOf(left));
      shape[1] += shapeOf(right)[1];
      Value joined = TakeHeadsOp::create(rewriter, op.getLoc(), left.getType().clone(shape), left.getSource(),
                                         left.getFirstAttr());
      SmallVector<Value> parts(op.getParts());
      parts[place] = joined;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
      rewriter.modifyOpInPlace(op, [&] { op.getPartsMutable().assign(parts); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no two neighbouring parts are neighbouring heads of one tensor");
  }
};
} // namespace

void ConcatHeadsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenConcat, JoinTakes>(context);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

OpFoldResult PowerOp::fold(FoldAdaptor) {
  if (getDegree() == 1 && getScale().convertToDouble() == 1.0)
    return getWeights();
  return {};
}

namespace {
/// ((s w)^p)^q = (s w)^(p q).
struct PowerOfPower : OpRewritePattern<PowerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowerOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getWeights().getDefiningOp<PowerOp>();
    if (!inner || op.getScale().convertToDouble() != 1.0)
      return rewriter.notifyMatchFailure(op, "the weights are no power, or are scaled");
    constexpr uint64_t bound = 1 << 15; // products of two degrees stay far from overflow
    if (op.getDegree() > bound || inner.getDegree() > bound)
      return rewriter.notifyMatchFailure(op, "the degrees are too large");
    auto degree = static_cast<int64_t>(op.getDegree() * inner.getDegree());
    rewriter.replaceOpWithNewOp<PowerOp>(op, op.getType(), inner.getWeights(), rewriter.getI64IntegerAttr(degree),
                                         inner.getScaleAttr());
    return success();
  }
};
} // namespace

void PowerOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<PowerOfPower>(context);
}

OpFoldResult DiagonalBlocksOp::fold(FoldAdaptor) {
  auto block = static_cast<int64_t>(getBlock());
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  auto within = [&](int64_t size) { return !ShapedType::isDynamic(size) && size <= block; };
  if (getInside() == getOutside() || (within(shape[2]) && within(shape[3])))
    return getInside();
  return {};
}

//===----------------------------------------------------------------------===//
// The other terms
//===----------------------------------------------------------------------===//

OpFoldResult PoolOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType() && static_cast<int64_t>(getCount()) == shapeOf(getSource())[2])
    return getSource(); // runs of one token
  return {};
}

OpFoldResult NormalizeOp::fold(FoldAdaptor) {
  if (!getDenominator() && getNumerator().getType() == getOutput().getType())
    return getNumerator();
  return {};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

OpFoldResult ScaleOp::fold(FoldAdaptor) {
  if (getFactor().convertToDouble() == 1 && getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

OpFoldResult SumHeadsOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType()) // no head is shared
    return getSource();
  return {};
}
