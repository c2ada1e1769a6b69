//===- AttnVerifyGradient.cpp - Verifiers of what gradients are made of -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

//===----------------------------------------------------------------------===//
// Entry by entry
//===----------------------------------------------------------------------===//

LogicalResult ScaleOp::verify() {
  if (!getFactor().isFinite()) // A81
    return emitOpError() << "expected a finite factor, but got " << getFactor().convertToDouble();
  return checkShape(*this, "result", getResult().getType(), shapeOf(getSource())); // A80
}

LogicalResult MultiplyOp::verify() { // A80
  if (failed(checkShape(*this, "rhs", getRhs().getType(), shapeOf(getLhs()))))
    return failure();
  return checkShape(*this, "result", getResult().getType(), shapeOf(getLhs()));
}

/// A82: the roles of the source are of the other, with the same sizes.
static LogicalResult checkSpread(SpreadOp op) {
  ArrayRef<int64_t> source = shapeOf(op.getSource()), like = shapeOf(op.getLike());
  auto sourceRoles = op.getSourceRoles().getAsRange<RoleAttr>(), likeRoles = op.getLikeRoles().getAsRange<RoleAttr>();
  if (op.getSourceRoles().size() != source.size() || op.getLikeRoles().size() != like.size())
    return op.emitOpError() << "expected a role for each dimension, but got " << op.getSourceRoles().size() << " and "
                            << op.getLikeRoles().size() << " for " << source.size() << " and " << like.size();
  for (auto roles : {sourceRoles, likeRoles})
    for (RoleAttr role : roles)
      if (llvm::count(roles, role) != 1)
        return op.emitOpError() << "expected distinct roles, but got " << stringifyRole(role.getValue()) << " twice";
  for (auto [role, size] : llvm::zip_equal(sourceRoles, source)) {
    auto place = llvm::find(likeRoles, role);
    if (place == likeRoles.end())
      return op.emitOpError() << "expected the role " << stringifyRole(role.getValue()) << " of the source in `like`";
    int64_t other = like[std::distance(likeRoles.begin(), place)];
    if (!agree(size, other))
      return op.emitOpError() << "expected equal sizes of " << stringifyRole(role.getValue()) << ", but got " << size << " and " << other;
  }
  return success();
}

LogicalResult SpreadOp::verify() {
  if (failed(checkSpread(*this)))
    return failure();
  return checkShape(*this, "result", getResult().getType(), shapeOf(getLike())); // A80
}

//===----------------------------------------------------------------------===//
// Heads and tokens
//===----------------------------------------------------------------------===//

LogicalResult SumHeadsOp::verify() { // A83
  ArrayRef<int64_t> x = shapeOf(getSource()), r = shapeOf(getResult());
  size_t dimension = getParameter() ? 0 : 1;
  if (x.size() <= dimension || r.size() <= dimension)
    return emitOpError() << "expected heads in dimension " << dimension << ", but got " << getSource().getType();
  if (failed(checkHeads(*this, x[dimension], r[dimension])))
    return failure();
  SmallVector<int64_t> expected(x);
  expected[dimension] = r[dimension];
  return checkShape(*this, "result", getResult().getType(), expected);
}

LogicalResult PlaceHeadsOp::verify() { // A84
  ArrayRef<int64_t> x = shapeOf(getSource()), r = shapeOf(getResult());
  auto first = static_cast<int64_t>(getFirst());
  if (first < 0 || first > r[1] - x[1])
    return emitOpError() << "expected " << x[1] << " heads from " << first << " on within " << r[1] << " heads";
  return checkShape(*this, "result", getResult().getType(), {x[0], r[1], x[2], x[3]});
}

LogicalResult ExistingOp::verify() {
  if (failed(checkLengths(*this, getLengths(), shapeOf(getSource())[0]))) // A3
    return failure();
  return checkShape(*this, "result", getResult().getType(), shapeOf(getSource())); // A80
}

LogicalResult SavedOp::verify() {
  if (!isa<BlockArgument>(getGiven())) // A98
    return emitOpError() << "expected an argument of the function as what a run may give, but got a value that is computed";
  return success();
}

LogicalResult KeepOp::verify() {
  if (!getResult().hasOneUse() || !(*getResult().user_begin())->hasTrait<OpTrait::IsTerminator>()) // A102
    return emitOpError() << "expected a result that the function returns and nothing else reads, but got " << llvm::range_size(getResult().getUses())
                         << " uses of it";
  return success();
}

LogicalResult UnpoolOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource()), like = shapeOf(getLike());
  if (!ShapedType::isDynamic(x[2]) && !divides(x[2], like[2])) // A34
    return emitOpError() << "expected a number of runs that divides " << like[2] << " tokens, but got " << x[2];
  if (failed(checkShape(*this, "source", getSource().getType(), {like[0], like[1], x[2], like[3]})))
    return failure();
  return checkShape(*this, "result", getResult().getType(), like); // A80
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

LogicalResult SoftcapGradientOp::verify() {
  if (failed(checkPositive(*this, "scale", getScale()))) // A4
    return failure();
  return checkPositive(*this, "softcap", getSoftcap()); // A63
}

LogicalResult DistanceSumsOp::verify() { // A86
  return checkShape(*this, "result", getResult().getType(), {shapeOf(getWeights())[1]});
}

LogicalResult DecaySumsOp::verify() {
  ArrayRef<int64_t> w = shapeOf(getWeights()), g = shapeOf(getResult());
  int64_t heads = g.size() == 3 ? g[1] : g.empty() ? 0 : g[0];
  if (failed(checkHeads(*this, w[1], heads)) || failed(checkCausal(*this, w[2], w[3])) ||
      failed(checkGate(*this, "result", getResult(), {w[0], heads, w[3]}, /*entries=*/0, /*ofHeads=*/true))) // A87
    return failure();
  return checkLengths(*this, getLengths(), w[0]); // A3
}

//===----------------------------------------------------------------------===//
// The causal readout
//===----------------------------------------------------------------------===//

/// A90: a cotangent or a gradient has the sizes of what it belongs to, and is there with it.
static LogicalResult checkLike(Operation *op, StringRef what, Value gradient, Value of) {
  if (static_cast<bool>(gradient) != static_cast<bool>(of))
    return op->emitOpError() << "expected a gradient of the " << what << (of ? ", which is given" : " only where that is given");
  return gradient ? checkShape(op, what, gradient.getType(), shapeOf(of)) : success();
}

static LogicalResult checkCotangents(CausalReadoutGradientOp op) {
  ArrayRef<int64_t> a = shapeOf(op.getQueryFeatures()), b = shapeOf(op.getKeyFeatures()), v = shapeOf(op.getValue());
  if (!op.getNumerator() && !op.getDenominator() && !op.getState() && !op.getSum())
    return op.emitOpError() << "expected a cotangent, but got none";
  if (op.getGuard() && (!op.getNumerator() || op.getDenominator() || op.getErase()))
    return op.emitOpError() << "expected the cotangent of the output alone, as numerator, and no erase beside a guard, but got "
                            << (!op.getNumerator() ? "none" : op.getDenominator() ? "one of the denominator" : "erase");
  SmallVector<std::tuple<StringRef, Value, SmallVector<int64_t, 4>>> all{
      {"numerator", op.getNumerator(), {a[0], a[1], a[2], v[3]}}, {"denominator", op.getDenominator(), {a[0], a[1], a[2]}},
      {"state", op.getState(), {a[0], b[1], a[3], v[3]}},         {"sum", op.getSum(), {a[0], b[1], a[3]}}};
  for (auto &[what, value, shape] : all)
    if (value && failed(checkShape(op, what, value.getType(), shape)))
      return failure();
  return success();
}

/// A104
static LogicalResult checkLogarithms(CausalReadoutGradientOp op) {
  if (!op.getLogarithms())
    return op.getWrite() ? op.emitOpError() << "expected write only beside cotangents of logarithms" : LogicalResult(success());
  if (!op.getGuard())
    return op.emitOpError() << "expected a guard beside cotangents of logarithms, but got none";
  if (op.getDecay() && executionOf(op).split)
    return op.emitOpError() << "expected a gradient that is not split where logarithms decay, but got " << op.getExecutionAttr();
  for (Value features : {op.getQueryFeatures(), op.getKeyFeatures()}) {
    auto map = features.getDefiningOp<MapOp>();
    if (!map || !haveLogarithms(map.getFeatureMap()))
      return op.emitOpError() << "expected features of focused, or of favor without epsilon, with cotangents of logarithms";
    if (map.getFeatureMap().isFavor() && op.getDecay())
      return op.emitOpError() << "expected no decay of features of favor beside cotangents of logarithms";
    if (map.getFeatureMap().isFavor() && op.getInitialState() && !op.getInitialScale())
      return op.emitOpError() << "expected an initial state of favor with its scale beside cotangents of logarithms";
  }
  return op.getWrite() ? checkGate(op, "write", op.getWrite(), shapeOf(op.getKeyFeatures()), 0) : success();
}

LogicalResult CausalReadoutGradientOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getQueryFeatures()), b = shapeOf(getKeyFeatures()), v = shapeOf(getValue());
  if (failed(checkLengths(*this, getLengths(), a[0])) || // A3
      failed(checkShape(*this, "key features", getKeyFeatures().getType(), {a[0], b[1], a[2], a[3]})) ||
      failed(checkShape(*this, "value", getValue().getType(), {a[0], v[1], a[2], v[3]})) ||
      failed(checkHeads(*this, a[1], b[1])) || failed(checkHeads(*this, b[1], v[1])) ||              // A9, A18
      (getDecay() && failed(checkGate(*this, "decay", getDecay(), b, b[3], /*ofHeads=*/true))) ||    // A51
      (getErase() && failed(checkGate(*this, "erase", getErase(), b, b[3]))) ||                      // A59
      failed(checkState(*this, getInitialState(), getInitialSum(), {a[0], b[1], a[3], v[3]}, /*divides=*/false)) || // A10
      failed(checkCotangents(*this)) ||                                                                              // A90
      failed(checkLogarithms(*this)))                                                                                // A104
    return failure();
  if (static_cast<bool>(getWritten()) != static_cast<bool>(getErase())) // A109
    return emitOpError() << "expected what tokens have written, `written`, with erase and only there, but got " << (getErase() ? "erase alone" : "no erase");
  if (getWritten() && failed(checkShape(*this, "written", getWritten().getType(), {a[0], b[1], a[2], v[3]}))) // A109
    return failure();
  if (getErase() && executionOf(*this).split) // A90
    return emitOpError() << "expected a gradient that is not split of keys that erase, but got " << getExecutionAttr();
  if (failed(checkLike(*this, "query features", getQueryGradient(), getQueryFeatures())) ||
      failed(checkLike(*this, "key features", getKeyGradient(), getKeyFeatures())) ||
      failed(checkLike(*this, "value", getValueGradient(), getValue())) ||
      failed(checkLike(*this, "initial state", getStateGradient(), getInitialState())) ||
      failed(checkLike(*this, "initial sum", getSumGradient(), getInitialSum())) ||
      failed(checkLike(*this, "decay", getDecayGradient(), getDecay()))) // A90
    return failure();
  if (failed(checkLike(*this, "erase", getEraseGradient(), getErase())))
    return failure();
  return checkLike(*this, "write", getWriteGradient(), getWrite()); // A90
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() { // A94
  if (failed(checkRank(*this, "source", getSource(), 2)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(getSource());
  return checkShape(*this, "result", getResult().getType(), {x[1], x[0]});
}

LogicalResult WeightGradientOp::verify() { // A95
  ArrayRef<int64_t> x = shapeOf(getHeads()), m = shapeOf(getModel());
  if (failed(checkShape(*this, "model", getModel().getType(), {x[0], x[2], m[2]})))
    return failure();
  SmallVector<int64_t, 2> expected{m[2], x[1] * x[3]};
  if (getOutput())
    std::swap(expected[0], expected[1]);
  return checkShape(*this, "result", getResult().getType(), expected);
}

LogicalResult TokenSumOp::verify() { // A96
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (x.size() != 3 && x.size() != 4)
    return emitOpError() << "expected tokens of rank 3 or 4, but got " << getSource().getType();
  bool dynamic = x.size() == 4 && (ShapedType::isDynamic(x[1]) || ShapedType::isDynamic(x[3]));
  return checkShape(*this, "result", getResult().getType(), {x.size() == 3 ? x[2] : dynamic ? ShapedType::kDynamic : x[1] * x[3]});
}

LogicalResult RopeGradientOp::verify() { // A42
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (x[3] % 2 != 0)
    return emitOpError() << "expected an even width, but got " << x[3];
  if (getAligned() && !agree(shapeOf(getAligned())[0], x[0]))
    return emitOpError() << "expected what tokens are aligned to for " << x[0] << " batch entries, but got " << shapeOf(getAligned())[0];
  return checkPositive(*this, "base", getBase());
}

LogicalResult QkNormGradientOp::verify() { return checkPositive(*this, "epsilon", getEpsilon()); } // A43

LogicalResult LepeGradientOp::verify() {
  ArrayRef<int64_t> c = shapeOf(getCotangent()), v = shapeOf(getValue());
  if (failed(checkLengths(*this, getLengths(), c[0])) ||                                                // A3
      failed(checkShape(*this, "value", getValue().getType(), {c[0], v[1], c[2], c[3]})) ||             // A45
      failed(checkHeads(*this, c[1], v[1])) || failed(checkWindow(*this, getWindowAttr(), c[2], v[2]))) // A45, A20
    return failure();
  if (getGrid() && (getWindow() || getGrid()->size() != 2 || (*getGrid())[0] < 1 || (*getGrid())[1] < 1 ||
                    !agree(c[2], (*getGrid())[0] * (*getGrid())[1]))) // A45
    return emitOpError() << "expected a grid of two sizes of at least 1 whose product is the number of tokens, and no window beside it";
  SmallVector<int64_t, 4> taps{c[1], c[3], 3};
  if (getGrid() || (getWindow() && getWindow()->isGrid()))
    taps.push_back(3);
  if (failed(checkShape(*this, "weight", getWeight().getType(), taps)) || // A45
      failed(checkShape(*this, "value gradient", getValueGradient().getType(), v)) ||
      failed(checkShape(*this, "weight gradient", getWeightGradient().getType(), taps)))
    return failure();
  return checkShape(*this, "bias gradient", getBiasGradient().getType(), {c[1], c[3]}); // A97
}
