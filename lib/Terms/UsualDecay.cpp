//===- UsualDecay.cpp - Chunks that decay little, and the others ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "UsualDecay.h"

using namespace mlir;
using namespace attune;
using terms::DecayWay;
using tile::TileBuilder;

/// The largest |d| of a chunk whose factors 2^d and 2^(−d) leave numbers of f32 what they are.
static constexpr double mostSpan = 60;

/// Tiles after a loop of one step or none.
static SmallVector<Value, 3> branch(TileBuilder &tiles, Value lower, Value upper, ArrayRef<Value> begin, DecayWay way, tile::CarryAttrInterface carry) {
  auto body = [&](OpBuilder &builder, Location loc, Value, ValueRange carried) {
    TileBuilder inner(builder, loc);
    tile::YieldOp::create(builder, loc, way(inner, SmallVector<Value, 3>(carried)));
  };
  auto loop = tile::LoopOp::create(tiles.builder, tiles.loc, carry, lower, upper, 1, begin, body);
  return SmallVector<Value, 3>(loop.getResults());
}

/// Whether something decays to less: an index, 0 or 1.
static Value spansMore(TileBuilder &tiles, Value since) {
  Value span = tiles.abs(since);
  if (tiles.shape(span).size() == 2)
    span = tiles.reduceMax(span, 0);                                                                // [m]
  Value excess = tiles.minus(span, tiles.constant(tiles.shape(span), mostSpan));
  return tile::AnyOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), excess);
}

SmallVector<Value, 3> terms::eitherWay(TileBuilder &tiles, Value rare, SmallVector<Value, 3> begin, DecayWay usual, DecayWay always,
                                        tile::CarryAttrInterface carry) {
  return branch(tiles, tiles.index(0), rare, branch(tiles, rare, tiles.index(1), begin, usual, carry), always, carry);
}

SmallVector<Value, 3> terms::usuallyAtOnce(TileBuilder &tiles, Value since, SmallVector<Value, 3> begin, DecayWay usual, DecayWay always,
                                              tile::CarryAttrInterface carry) {
  return eitherWay(tiles, spansMore(tiles, since), std::move(begin), usual, always, carry);
}
