//===- LowerMaps.cpp - Feature maps as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

#include <numbers>

using namespace mlir;
using namespace attune;
using namespace attune::raise;
using attn::FeatureKind;

namespace {
/// The features of every token, over "b", heads of the result, "tf"; those of tokens that do not exist are anything.
class Features {
public:
  Features(OpBuilder &builder, attn::MapOp op)
      : op(op), map(op.getFeatureMap()), heads(headsOf(op.getResult())),
        loops(builder, op.getLoc(), {headsOf(op.getSource()), heads}), source(loops.named(op.getSource(), "bhtd")) {}
  Value build();
  Loops &getLoops() { return loops; }

private:
  std::string over(StringRef pattern) { return loops.names(pattern, heads); }
  Value entrywise(function_ref<Number(Number)> function);
  Value cosformer();
  Value focused();
  Value favorRelu();
  Value softmax();
  Value tensorSquare();
  Value symmetricSquare();
  attn::MapOp op;
  attn::FeatureMapAttr map;
  int64_t heads;
  Loops loops;
  Named source;
};
} // namespace

Value Features::entrywise(function_ref<Number(Number)> function) {
  return loops.map(source.names, {source}, [&](Point, ArrayRef<Number> x) { return function(x[0]); });
}

/// Sines at z = 0, cosines at z = 1, of the angle of the token's place, counted from 1.
Value Features::cosformer() {
  loops.size('z', loops.builder.getIndexAttr(2));
  loops.size('t', loops.sizeOf(op.getSource(), 2));
  double step = std::numbers::pi / (2 * static_cast<double>(map.getMaxPosition()));
  Value turns = loops.map("zt", {}, [&](Point at, ArrayRef<Number>) {
    Number angle = (at.index('t') + 1).number() * step;
    return select(at.index('z') == 0, angle.apply<math::SinOp>(), angle.apply<math::CosOp>()).narrowed();
  });
  std::string split = source.names;
  split.insert(split.size() - 1, "z");
  Value both =
      loops.map(split, {source, {turns, "zt"}}, [](Point, ArrayRef<Number> x) { return larger(x[0], 0) * x[1]; });
  return loops.merge(both, split.size() - 2, 2);
}

/// (|y| / |y^p|) y^p; y is divided by its largest entry before the power, which cancels.
Value Features::focused() {
  Named focus = loops.named(op.getParameter(), "hd");
  std::string row = over("bht"), entry = over("bhtd");
  Named y = {loops.map(entry, {source, focus},
                       [&](Point, ArrayRef<Number> x) {
                         Number negated = x[1].constant(0) - x[1].apply<math::AbsFOp>();
                         Number divisor = larger(x[1], 0) + exp(negated).apply<math::Log1pOp>();
                         return (larger(x[0], 0) + map.getEpsilon()) / divisor;
                       }),
             entry};
  Named largest = {loops.maximum(entry, row, {y}, [](Point, ArrayRef<Number> x) { return x[0]; }), row};
  auto ratio = [](ArrayRef<Number> x) { return x[0] / x[1]; };
  auto raised = [&](ArrayRef<Number> x) { return ratio(x).apply<math::PowFOp>(map.getPower()); };
  Named norm = {loops.sum(entry, row, {y, largest}, [&](Point, ArrayRef<Number> x) { return power(ratio(x), 2); }),
                row};
  Named ofPower = {loops.sum(entry, row, {y, largest}, [&](Point, ArrayRef<Number> x) { return power(raised(x), 2); }),
                   row};
  return loops.map(entry, {y, largest, norm, ofPower},
                   [&](Point, ArrayRef<Number> x) { return raised(x) * (x[1] * (sqrt(x[2]) / sqrt(x[3]))); });
}

Value Features::favorRelu() {
  double root = map.getScale() == 0 ? 1 : std::sqrt(map.getScale());
  Value products = loops.sum(over("bhtfd"), over("bhtf"), {source, loops.parameter(op.getParameter(), "hfd")},
                             [&](Point, ArrayRef<Number> x) { return x[0] * root * x[1]; });
  return loops.map(over("bhtf"), {{products, over("bhtf")}},
                   [&](Point, ArrayRef<Number> x) { return larger(x[0], 0) + map.getEpsilon(); });
}

Value Features::softmax() {
  std::string row = without(source.names, "d");
  Named largest = {loops.maximum(source.names, row, {source}, [](Point, ArrayRef<Number> x) { return x[0]; }), row};
  Named weights = {
      loops.map(source.names, {source, largest}, [](Point, ArrayRef<Number> x) { return exp(x[0] - x[1]); }),
      source.names};
  Named sum = {loops.sum(source.names, row, {weights}, [](Point, ArrayRef<Number> x) { return x[0]; }), row};
  return loops.map(source.names, {weights, sum}, [](Point, ArrayRef<Number> x) { return x[0] / x[1]; });
}

Value Features::tensorSquare() {
  std::string row = without(source.names, "d");
  Value pairs = loops.map(row + "de", {source, {source.tensor, row + "e"}},
                          [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  return loops.merge(pairs, row.size(), 2);
}

Value Features::symmetricSquare() {
  std::string row = without(source.names, "d");
  int64_t width = cast<RankedTensorType>(op.getSource().getType()).getDimSize(3);
  loops.size('z', loops.builder.getIndexAttr(width / 2 + 1));
  auto isPair = [&](Point at) { return (at.index('d') + at.index('z')) % at.index('d').constant(width) == at.index('e'); };
  Value pairs = loops.sum(row + "zde", row + "zd", {source, {source.tensor, row + "e"}}, [&](Point at, ArrayRef<Number> x) {
    Place shift = at.index('z');
    Truth isSquare = shift == 0 || shift + shift == shift.constant(width);
    return select(isPair(at), x[0] * x[1] * select(isSquare, x[0].constant(1), std::numbers::sqrt2), 0);
  });
  return loops.merge(pairs, row.size(), 2);
}

Value Features::build() {
  switch (map.getKind()) {
  case FeatureKind::Elu1:
    return entrywise([](Number x) {
      return select(x.compare(arith::CmpFPredicate::OGT, x.constant(0)), x + 1, exp(smaller(x, 0)));
    });
  case FeatureKind::Relu:
    return entrywise([](Number x) { return larger(x, 0); });
  case FeatureKind::Identity:
    return entrywise([&](Number x) { return op.getKeys() ? x : x * map.getScale(); });
  case FeatureKind::Cosformer:
    return cosformer();
  case FeatureKind::Focused:
    return focused();
  case FeatureKind::Favor:
    return favorFeatures(loops, op, heads);
  case FeatureKind::FavorRelu:
    return favorRelu();
  case FeatureKind::Softmax:
    return softmax();
  case FeatureKind::TensorSquare:
    return tensorSquare();
  case FeatureKind::SymmetricSquare:
    return symmetricSquare();
  }
}

Results attune::raise::lower(OpBuilder &builder, attn::MapOp op) {
  if (op.getPosition())
    return {};
  Features features(builder, op);
  Value result = features.build();
  return {existing(features.getLoops(), features.getLoops().flat(result, "bhtf", headsOf(op.getResult())),
                   op.getLengths())};
}
