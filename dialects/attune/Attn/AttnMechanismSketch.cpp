//===- AttnMechanismSketch.cpp - Sketched attention as terms: pairs, states, blocks that runs share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pairs    w_ij = ⟨S(q_i), S(k_j)⟩², exact in blocks
//   states   φ(x) = S(x) ⊗ S(x) is a feature map, and what follows is kernel attention
//   both     exact in blocks and a state: tokens are laid where they lie in blocks, pairs are those of the run, and the state is read besides
//
//===----------------------------------------------------------------------===//
#include "AttnGradients.h"
#include "UsefulOperations.h"

#include <cmath>

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::terms;

Value terms::buildPower(OpBuilder &builder, Location loc, Value rows, Value columns, int64_t degree, FloatAttr scale) {
  Value weights = buildWeights(builder, loc, rows, columns);
  return PowerOp::create(builder, loc, weights.getType(), weights, builder.getI64IntegerAttr(degree), scale);
}

namespace {
/// Numerator and denominator of outputs.
struct Sums {
  Value numerator, denominator;
};

class Sketches {
public:
  Sketches(OpBuilder &builder, PolysketchOp op) : builder(builder), op(op), loc(op.getLoc()), one(builder.getF64FloatAttr(1)) {}

  /// With `inUnits` of rows that are divided by their largest product.
  SmallVector<Value> throughPairs(bool inUnits = false);
  SmallVector<Value> throughStates();
  SmallVector<Value> inBlocks();

private:
  Value sketch(Value tokens, FloatAttr scale);
  /// S(x) ⊗ S(x), of keys that exist: all of it where a run hands states of it on, else each product once.
  Value square(Value sketch, Value lengths, bool keys);
  /// Of rows and columns of sketches, and exact ones of queries and keys.
  Value weights(Value query, Value key, Value rows, Value columns, Value lengths, FloatAttr scale, FloatAttr ofRows);
  /// Of each row the largest product whose power is one of its weights, exact ones in blocks and roots of sketched ones.
  Value unitOfWeights(Value columns, const Sight &sight);
  /// e^c of the initial state; null: there is none.
  TrueStateOp initial();
  /// Output, and what is left of states.
  SmallVector<Value> results(Value output, Value state, Value sum);
  Value place(Value tokens, BlockPart part, Value lengths, Value like = Value());
  Value take(Type type, Value blocks, BlockPart part, Value lengths);
  /// Tokens of the run behind those that are held.
  Value laid(Value tokens, Value held, Value lengths);
  Sums readOwn(Value weights, Value value);

  RankedTensorType f32(ArrayRef<int64_t> shape) { return f32Of(builder, shape); }

  OpBuilder &builder;
  PolysketchOp op;
  Location loc;
  FloatAttr one;
};
} // namespace

Value Sketches::sketch(Value tokens, FloatAttr scale) {
  ArrayRef<int64_t> x = shapeOf(tokens);
  auto type = f32({x[0], shapeOf(op.getQuery())[1], x[2], static_cast<int64_t>(op.getSize())});
  return SketchOp::create(builder, loc, type, tokens, op.getSigns(), op.getIndices(), op.getSizeAttr(), scale);
}

Value Sketches::square(Value sketch, Value lengths, bool keys) {
  ArrayRef<int64_t> s = shapeOf(sketch);
  auto map = FeatureMapAttr::get(builder.getContext(), op.hasStates() ? FeatureKind::TensorSquare : FeatureKind::SymmetricSquare);
  return MapOp::create(builder, loc, f32({s[0], s[1], s[2], map.getFeatures(s[3])}), sketch, lengths, /*parameter=*/Value(), /*shift=*/Value(),
                       /*position=*/Value(), map, keys ? builder.getUnitAttr() : UnitAttr(), /*execution=*/{});
}

Value Sketches::weights(Value query, Value key, Value rows, Value columns, Value lengths, FloatAttr scale, FloatAttr ofRows) {
  Value weights = buildPower(builder, loc, rows, columns, /*degree=*/2, ofRows);
  if (op.getLocalExact()) {
    Value exact = buildPower(builder, loc, query, key, static_cast<int64_t>(op.getDegree()), scale);
    weights = DiagonalBlocksOp::create(builder, loc, weights.getType(), exact, weights, op.getLocalExactAttr());
  }
  return buildVisible(builder, loc, weights, {lengths, op.getCausalAttr()});
}

/// Roots of weights are made in the unit of all products, of which the powers of those that count may be far below the range of f32.
Value Sketches::unitOfWeights(Value columns, const Sight &sight) {
  auto roots = static_cast<int64_t>(op.getDegree()) / 2;
  Value query = op.getQuery(), key = op.getKey();
  Value ofProducts = buildUnit(builder, loc, buildWeights(builder, loc, query, key), sight);
  Value near = buildDivided(builder, loc, query, ofProducts);
  Value sketched = buildWeights(builder, loc, sketch(near, one), columns), exact = buildPower(builder, loc, near, key, roots, one);
  Value all = DiagonalBlocksOp::create(builder, loc, sketched.getType(), exact, sketched, op.getLocalExactAttr());
  Value ofRoots = buildUnit(builder, loc, all, sight, roots);
  return MultiplyOp::create(builder, loc, ofProducts.getType(), ofProducts, ofRoots);
}

TrueStateOp Sketches::initial() {
  if (!op.getInitialState())
    return {};
  return TrueStateOp::create(builder, loc, op.getInitialState().getType(), op.getInitialSum().getType(), op.getInitialState(), op.getInitialSum(), op.getInitialScale());
}

SmallVector<Value> Sketches::results(Value output, Value state, Value sum) {
  SmallVector<Value> results{output};
  if (!op.getFinalState())
    return results;
  // The scale of a true state is 0, in whatever size batches have.
  const Role sums[] = {Role::Batch, Role::Head, Role::Feature};
  Value each = gradients::contract(builder, loc, sum, sums, sum, sums, ArrayRef(sums).drop_back());
  results.append({state, sum, gradients::scaled(builder, loc, each, 0)});
  return results;
}

SmallVector<Value> Sketches::throughPairs(bool inUnits) {
  Sight sight{op.getLengths(), op.getCausalAttr()};
  Value query = op.getQuery(), key = op.getKey();
  FloatAttr scale = op.getScaleAttr(), ofRows = one;
  double given = scale.getValueAsDouble(), degree = static_cast<double>(op.getDegree());
  // A unit takes any scale along: with this one products of drawn rows are about 1, and so are their powers, whatever the scale of the spec is.
  double steady = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(shapeOf(query)[3], 1)));
  bool exact = static_cast<bool>(op.getLocalExact()), ofSketches = inUnits && !exact;
  Value columns;
  if (inUnits && exact) { // weights are those of products: so are the units, and sketches of rows in them are in units
    constexpr double steep = 16; // from this degree on powers of ordinary products are far from the largest, and sketches from both
    double least = leastUnit(op.getDenominatorAttr(), degree, given);
    if (degree < steep) {
      query = buildInUnits(builder, loc, query, key, sight, least);
    } else {
      columns = sketch(key, one);
      query = buildDivided(builder, loc, query, unitOfWeights(columns, sight), least);
    }
    scale = least == 0 ? one : scale;
  }
  Value rows = sketch(query, ofSketches ? builder.getF64FloatAttr(steady) : scale);
  columns = columns ? columns : sketch(key, one);
  if (ofSketches) {
    double ofRoots = std::pow(given / steady, degree / 2), least = leastUnit(op.getDenominatorAttr(), 2, ofRoots);
    rows = buildInUnits(builder, loc, rows, columns, sight, least);
    ofRows = least == 0 ? one : builder.getF64FloatAttr(ofRoots);
  }
  Value all = weights(query, key, rows, columns, op.getLengths(), scale, ofRows);
  return {buildNormalized(builder, loc, all, op.getValue(), op.getDenominatorAttr(), op.getOutput().getType())};
}

SmallVector<Value> Sketches::throughStates() {
  Value a = square(sketch(op.getQuery(), op.getScaleAttr()), Value(), false), b = square(sketch(op.getKey(), one), op.getLengths(), true);
  ArrayRef<int64_t> q = shapeOf(a), k = shapeOf(b), v = shapeOf(op.getValue());
  RankedTensorType numerator = f32({q[0], q[1], q[2], v[3]}), denominator = f32(q.drop_back()), state = f32({k[0], k[1], k[3], v[3]}),
                   sum = f32({k[0], k[1], k[3]});
  if (!op.getCausal()) {
    auto ofKeys = StateOp::create(builder, loc, state, sum, b, op.getValue(), op.getLengths());
    auto readout = ReadoutOp::create(builder, loc, numerator, denominator, a, ofKeys.getState(), ofKeys.getSum(), /*execution=*/{});
    return {NormalizeOp::create(builder, loc, op.getOutput().getType(), readout.getNumerator(), readout.getDenominator(), op.getDenominatorAttr())};
  }
  TrueStateOp begin = initial();
  auto readout = CausalReadoutOp::create(builder, loc, numerator, denominator, state, sum, /*scale=*/Type(), /*written=*/Type(), a, b, op.getValue(), op.getLengths(),
                                         begin ? begin.getState() : Value(), begin ? begin.getSum() : Value(), /*decay=*/Value(),
                                         /*erase=*/Value(), /*initialScale=*/Value(), /*execution=*/{});
  Value output =
      NormalizeOp::create(builder, loc, op.getOutput().getType(), readout.getNumerator(), readout.getDenominator(), op.getDenominatorAttr());
  return results(output, readout.getState(), readout.getSum());
}

//===----------------------------------------------------------------------===//
// Blocks that runs share
//===----------------------------------------------------------------------===//

Value Sketches::place(Value tokens, BlockPart part, Value lengths, Value like) {
  ArrayRef<int64_t> x = shapeOf(tokens), run = shapeOf(op.getQuery());
  int64_t rows = ShapedType::isDynamic(run[2]) ? run[2] : run[2] + static_cast<int64_t>(*op.getLocalExact());
  return PlaceInBlocksOp::create(builder, loc, f32({x[0], x[1], rows, x[3]}), tokens, op.getPosition(), lengths, like, op.getLocalExactAttr(),
                                 BlockPartAttr::get(builder.getContext(), part));
}

Value Sketches::take(Type type, Value blocks, BlockPart part, Value lengths) {
  return TakeFromBlocksOp::create(builder, loc, type, blocks, op.getPosition(), lengths, op.getLocalExactAttr(),
                                  BlockPartAttr::get(builder.getContext(), part));
}

Value Sketches::laid(Value tokens, Value held, Value lengths) {
  Value run = place(tokens, BlockPart::Run, lengths);
  return held ? gradients::sum(builder, loc, run, place(held, BlockPart::Held, Value(), run)) : run;
}

Sums Sketches::readOwn(Value weights, Value value) {
  const Role pairs[] = {Role::Batch, Role::Head, Role::Query, Role::Key}, values[] = {Role::Batch, Role::Head, Role::Key, Role::Value},
             outputs[] = {Role::Batch, Role::Head, Role::Query, Role::Value};
  ArrayRef<int64_t> w = shapeOf(weights);
  return {gradients::contract(builder, loc, weights, pairs, value, values, outputs), RowSumOp::create(builder, loc, f32(w.drop_back()), weights)};
}

/// Rows of 0 have weights of 0, so that only what is left of states asks for lengths.
SmallVector<Value> Sketches::inBlocks() {
  Value query = laid(op.getQuery(), Value(), Value()), key = laid(op.getKey(), op.getHeldKey(), op.getLengths());
  Value value = laid(op.getValue(), op.getHeldValue(), op.getLengths());
  Value rows = sketch(query, op.getScaleAttr()), columns = sketch(key, one);
  Sums sums = readOwn(weights(query, key, rows, columns, Value(), op.getScaleAttr(), one), value);
  TrueStateOp begin = initial();
  if (begin) {
    auto before = ReadoutOp::create(builder, loc, sums.numerator.getType(), sums.denominator.getType(), square(rows, Value(), false), begin.getState(),
                                    begin.getSum(), /*execution=*/{});
    sums.numerator = gradients::sum(builder, loc, before.getNumerator(), sums.numerator);
    sums.denominator = gradients::sum(builder, loc, before.getDenominator(), sums.denominator);
  }
  Value normalized = NormalizeOp::create(builder, loc, sums.numerator.getType(), sums.numerator, sums.denominator, op.getDenominatorAttr());
  Value output = take(op.getOutput().getType(), normalized, BlockPart::Run, Value());
  if (!op.getFinalState())
    return {output};
  Value features = square(columns, Value(), true), whole = take(features.getType(), features, BlockPart::Whole, op.getLengths());
  ArrayRef<int64_t> k = shapeOf(whole), v = shapeOf(value);
  auto state = StateOp::create(builder, loc, f32({k[0], k[1], k[3], v[3]}), f32({k[0], k[1], k[3]}), whole, value, /*lengths=*/Value());
  Value all = state.getState(), sum = state.getSum();
  if (begin) {
    auto merged = StateMergeOp::create(builder, loc, all.getType(), sum.getType(), begin.getState(), begin.getSum(), all, sum);
    all = merged.getState(), sum = merged.getSum();
  }
  SmallVector<Value> found = results(output, all, sum);
  found.push_back(take(op.getFinalKey().getType(), key, BlockPart::Last, op.getLengths()));
  found.push_back(take(op.getFinalValue().getType(), value, BlockPart::Last, op.getLengths()));
  return found;
}

SmallVector<Value> PolysketchOp::decompose(OpBuilder &builder) {
  Sketches sketches(builder, *this);
  if (!hasStates())
    return sketches.throughPairs();
  return getLocalExact() ? sketches.inBlocks() : sketches.throughStates();
}

SmallVector<Value> PolysketchOp::decomposeInUnits(OpBuilder &builder) {
  bool isFree = !hasStates() && !getDenominator().getNone();
  return isFree ? Sketches(builder, *this).throughPairs(/*inUnits=*/true) : decompose(builder);
}

SmallVector<Value> PolysketchOp::decomposeLinear(OpBuilder &builder) {
  return getLocalExact() ? SmallVector<Value>() : Sketches(builder, *this).throughStates();
}

/// The sketch of a row: half the degree leaves of d × r, then products of two r × r. Its square has r (r + 1) / 2
/// different features. In blocks of so many tokens weights are exact, d wide. The keys of a group are sketched for each
/// query head.
double PolysketchOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  s.shared = 1;
  double r = static_cast<double>(getSize()), leaves = static_cast<double>(getDegree()) / 2;
  double block = static_cast<double>(getLocalExact().value_or(0));
  double sketches = (s.n + s.N) * (leaves * s.d * r + (leaves - 1) * 2 * r * r);
  double inside = s.n * block / 2 * (s.d + s.dv + 1);
  double outside = s.pairs(s.N, r) - s.n * block / 2 * (r + s.dv);
  return s.ofAll(sketches + inside + std::min(s.states(r * (r + 1) / 2), outside));
}
