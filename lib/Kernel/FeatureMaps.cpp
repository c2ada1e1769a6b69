//===- FeatureMaps.cpp - Feature maps on tiles of tokens ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"

#include "MapFormulas.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

int64_t kernel::parameterHeads(const Problem &problem, const FeatureMap &map) {
  if (map.keyFolded || map.keysMapped) // each head of the keys is ω·k of its own, or φ(k)
    return problem.key.heads;
  auto memory = map.parameter ? cast<MemRefType>(map.parameter.getType()) : MemRefType();
  return memory && memory.getDimSize(0) > 1 ? problem.heads() : problem.sharedHeads();
}

SmallVector<int64_t, 2> MapAtPoint::blockWidths(const FeatureMap &map) {
  if (map.map.getKind() == attn::FeatureKind::Cosformer)
    return {map.features / 2, map.features / 2};
  return {map.features};
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

MapAtPoint::MapAtPoint(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                       const Point &point, int64_t headsOfGrid)
    : problem(problem), map(map), point(point) {
  Type f32 = tiles.builder.getF32Type();
  Value c0 = tiles.index(0), memory = map.parameter ? frame[map.parameter] : Value();
  if (map.map.getKind() == attn::FeatureKind::Focused) {
    int64_t width = cast<MemRefType>(memory.getType()).getDimSize(1);
    Value focus = tiles.cast(tiles.load(memory, {point.head, c0}, {width}), f32); // [d]
    inverse = tiles.over(tiles.constant({width}, 1), tiles.softplus(focus));      // [d]
  } else if (memory) {
    auto type = cast<MemRefType>(memory.getType());
    Value head = type.getDimSize(0) > 1 ? point.head : c0;
    omega = tiles.cast(tiles.load(memory, {head, c0, c0}, {type.getDimSize(1), type.getDimSize(2)}), f32); // [m, d]
  }
  if (Value keys = frame[map.shift]) { // the kernels that map queries alone do not take it
    int64_t heads = cast<MemRefType>(keys.getType()).getDimSize(1);
    Value head = headsOfGrid ? tiles.div(point.head, headsOfGrid / heads) : point.head;
    shift = tiles.load(keys, {point.batch, head}, {1, 1});
  }
  if (map.map.isFavor() && map.map.getStabilizer() == attn::Stabilizer::Constant) {
    Value squares = tiles.reduceAdd(tiles.times(omega, omega), 1);                         // [m]
    omegaSquares = tiles.times(squares, tiles.constant(tiles.shape(squares), M_LOG2E / 2)); // [m]
  }
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

Features MapAtPoint::cosformer(TileBuilder &tiles, Value x, Value first) const {
  Value places = positions(tiles, problem, point, first, tiles.shape(x)[0]);                            // [T]
  auto [sines, cosines] = kernel::cosformer(tiles, x, places, map.map.getMaxPosition());
  return {sines, cosines};
}

/// factor · √s · x ωᵀ: [rows, m].
Value MapAtPoint::projection(TileBuilder &tiles, Value x, double factor, Side side) const {
  double scale = map.map.getScale() == 0 ? 1 : std::sqrt(map.map.getScale());
  bool folded = side == Side::Query ? map.queryFolded : map.keyFolded;
  return timesOmega(tiles, x, folded ? Value() : omega, factor * scale);
}

Value MapAtPoint::favorRelu(TileBuilder &tiles, Value x, Side side) const {
  Value features = relu(tiles, projection(tiles, x, 1, side));
  return tiles.plus(features, tiles.constant(tiles.shape(features), map.map.getEpsilon()));
}

/// c of the keys, the same for each row: [rows].
Value MapAtPoint::keyStabilizer(TileBuilder &tiles, int64_t rows) const {
  if (omegaSquares)
    return tiles.reduceMax(tiles.expand(omegaSquares, 0, {rows, map.features}), 1);
  Value ones = tiles.constant({rows, 1}, 1);
  return tiles.reduceAdd(tiles.exactDot(ones, shift, tiles.constant({rows, 1}, 0)), 1);
}

/// m^{-1/2} (e^{L − c} + ε).
Value MapAtPoint::favor(TileBuilder &tiles, Value x, Side side) const {
  attn::Stabilizer stabilizer = map.map.getStabilizer();
  int64_t rows = tiles.shape(x)[0];
  SmallVector<int64_t> shape{rows, map.features};
  Value product = projection(tiles, x, M_LOG2E, side), below; // [T, m]; what is taken off each row: [T]
  bool rowMaximum = side == Side::Query && stabilizer != attn::Stabilizer::None;
  // −|x'|²/2 is in L and in its row's maximum alike.
  if (!(rowMaximum && stabilizer != attn::Stabilizer::Projection))
    below = halfSquares(tiles, x, map.map.getScale());
  if (rowMaximum || (side == Side::Key && stabilizer != attn::Stabilizer::None)) {
    Value c = rowMaximum ? tiles.reduceMax(product, 1) : keyStabilizer(tiles, rows);
    below = below ? tiles.plus(below, c) : c;
  }
  Value exponential = tiles.exp2(tiles.minus(product, tiles.expand(below, 1, shape)));
  Value sum = tiles.plus(exponential, tiles.constant(shape, map.map.getEpsilon()));
  return tiles.times(sum, tiles.constant(shape, 1 / std::sqrt(static_cast<double>(map.features))));
}

//===----------------------------------------------------------------------===//
// Tiles of tokens
//===----------------------------------------------------------------------===//

LogFeatures MapAtPoint::logarithms(TileBuilder &tiles, const TokenReader &tokens, Value first, int64_t rows, Side side,
                                   Value limit) const {
  bool powers = map.map.getKind() == attn::FeatureKind::Focused;
  if (side == Side::Key && map.keysMapped) {
    auto block = [&](int64_t column) { return tokens.loadColumns(tiles, first, rows, column, map.features, limit); };
    Value exponents = block(0);                                                             // [T, m]
    return {exponents, powers ? block(map.features) : Value()};
  }
  Value x = tiles.cast(tokens.load(tiles, first, rows, limit), tiles.builder.getF32Type()); // [T, d]
  if (powers)
    return focusedExponents(tiles, x, inverse, map.map.getPower(), map.map.getEpsilon());
  Value product = projection(tiles, x, M_LOG2E, side);                                      // [T, m]
  if (side == Side::Key)
    product = tiles.minus(product, tiles.expand(halfSquares(tiles, x, map.map.getScale()), 1, {rows, map.features}));
  return {product, Value()};
}

/// The features that a kernel of their own has written, block by block.
Features MapAtPoint::writtenFeatures(TileBuilder &tiles, const TokenReader &tokens, Value first, int64_t rows,
                                     Value limit) const {
  Features blocks;
  int64_t column = 0;
  for (int64_t width : widths()) {
    blocks.push_back(tokens.loadColumns(tiles, first, rows, column, width, limit)); // [T, width]
    column += width;
  }
  return blocks;
}

Features MapAtPoint::features(TileBuilder &tiles, const TokenReader &tokens, Value first, int64_t rows, Side side,
                              Value limit) const {
  if (side == Side::Key && map.keysMapped)
    return writtenFeatures(tiles, tokens, first, rows, limit);
  Value x = tiles.cast(tokens.load(tiles, first, rows, limit), tiles.builder.getF32Type()); // [T, d]
  switch (map.map.getKind()) {
  case attn::FeatureKind::Elu1:
    return {elu1(tiles, x)};
  case attn::FeatureKind::Relu:
    return {relu(tiles, x)};
  case attn::FeatureKind::Cosformer:
    return cosformer(tiles, x, first);
  case attn::FeatureKind::Focused:
    return {focused(tiles, x, inverse, map.map.getPower(), map.map.getEpsilon())};
  case attn::FeatureKind::Favor:
    return {favor(tiles, x, side)};
  case attn::FeatureKind::FavorRelu:
    return {favorRelu(tiles, x, side)};
  case attn::FeatureKind::Softmax:
  case attn::FeatureKind::TensorSquare:
    break; // not maps of kernel attention: `partition` has refused them
  }
  llvm_unreachable("a feature map of kernel attention");
}

//===----------------------------------------------------------------------===//
// Blocks of features
//===----------------------------------------------------------------------===//

Features kernel::clearRows(TileBuilder &tiles, Features features, Value rows) {
  for (Value &block : features)
    block = tiles.mask(block, 0, rows, Value(), Value());
  return features;
}
