//===- LowerRope.cpp - Rotary position embedding as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

/// base^{−2p/d} of each pair p.
static Value frequencies(OpBuilder &builder, Location loc, double base, int64_t width) {
  SmallVector<double> values;
  for (int64_t pair = 0; pair < width / 2; ++pair)
    values.push_back(std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(width)));
  auto type = RankedTensorType::get({width / 2}, builder.getF64Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<double>(values)));
}

/// Sines or cosines of token t and pair p. The angles are f64: of far places f32 has few digits after the turns.
template <typename Op> static Named turns(Loops &loops, attn::RopeOp op, Value frequency) {
  Place last = loops.placeOf(op.getSource(), 2);
  Place keys = op.getAligned() ? loops.placeOf(op.getAligned(), 2) : last;
  loops.size('t', loops.sizeOf(op.getSource(), 2));
  Value result = loops.map("tp", {{frequency, "p"}}, [&](Point at, ArrayRef<Number> x) {
    Place position = at.index('t') + at.place(keys.value) - at.place(last.value);
    return (position.number() * x[0]).template apply<Op>().narrowed();
  });
  return {result, "tp"};
}

/// The first or second entries of all pairs, "bhtp".
static Named side(Loops &loops, attn::RopeOp op, int64_t which) {
  OpBuilder &builder = loops.builder;
  int64_t pairs = sizeOf(op.getSource(), 3) / 2;
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0)), steps(4, builder.getIndexAttr(1)), sizes;
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    sizes.push_back(loops.sizeOf(op.getSource(), dimension));
  sizes.push_back(builder.getIndexAttr(pairs));
  offsets[3] = builder.getIndexAttr(op.getHalf() ? which * pairs : which);
  steps[3] = builder.getIndexAttr(op.getHalf() ? 1 : 2);
  return {tensor::ExtractSliceOp::create(builder, loops.loc, op.getSource(), offsets, sizes, steps), "bhtp"};
}

Results attune::raise::lower(OpBuilder &builder, attn::RopeOp op) {
  if (op.getAligned() && isa<IntegerType>(getElementTypeOrSelf(op.getAligned().getType())))
    return {}; // places that go on from others are those of states
  Loops loops(builder, op.getLoc());
  Value frequency = frequencies(builder, op.getLoc(), op.getBase().convertToDouble(), sizeOf(op.getSource(), 3));
  Named sine = turns<math::SinOp>(loops, op, frequency), cosine = turns<math::CosOp>(loops, op, frequency);
  loops.size('z', builder.getIndexAttr(2));
  Value result = loops.map(
      op.getHalf() ? "bhtzp" : "bhtpz", {side(loops, op, 0), side(loops, op, 1), cosine, sine},
      [](Point at, ArrayRef<Number> x) {
        return select(at.index('z') == 0, x[0] * x[2] - x[1] * x[3], x[1] * x[2] + x[0] * x[3]);
      },
      elementOf(op.getResult()));
  return {loops.merge(result, 3, 2)};
}
