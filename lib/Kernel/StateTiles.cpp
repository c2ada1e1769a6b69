//===- StateTiles.cpp - States of kernel attention as tiles ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StateTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

SmallVector<Value> kernel::zeroState(TileBuilder &tiles, const FeatureMap &map, int64_t valueWidth) {
  SmallVector<Value> state;
  for (int64_t width : MapAtPoint::blockWidths(map))
    state.append({tiles.constant({width, valueWidth}, 0), tiles.constant({width}, 0)});
  return state;
}

/// The indices of a block's first feature, and of its first value if `matrix`.
static SmallVector<Value, 6> blockIndices(TileBuilder &tiles, const StatePlace &place, int64_t feature, bool matrix) {
  SmallVector<Value, 6> indices = llvm::to_vector<6>(place.indices);
  indices.push_back(tiles.index(feature));
  if (matrix)
    indices.push_back(tiles.index(0));
  return indices;
}

SmallVector<Value> kernel::loadState(TileBuilder &tiles, const FeatureMap &map, int64_t valueWidth,
                                     const StatePlace &place) {
  SmallVector<Value> state;
  int64_t feature = 0;
  for (int64_t width : MapAtPoint::blockWidths(map)) {
    state.push_back(tiles.load(place.state, blockIndices(tiles, place, feature, true), {width, valueWidth}));
    state.push_back(tiles.load(place.sum, blockIndices(tiles, place, feature, false), {width}));
    feature += width;
  }
  return state;
}

void kernel::storeState(TileBuilder &tiles, const FeatureMap &map, ValueRange state, const StatePlace &place) {
  int64_t feature = 0;
  for (auto [block, width] : llvm::enumerate(MapAtPoint::blockWidths(map))) {
    tiles.store(state[2 * block], place.state, blockIndices(tiles, place, feature, true));
    tiles.store(state[2 * block + 1], place.sum, blockIndices(tiles, place, feature, false));
    feature += width;
  }
}

SmallVector<Value> kernel::addKeys(TileBuilder &tiles, ValueRange state, const Features &b, Value v, Type operand) {
  SmallVector<Value> next;
  for (auto [block, features] : llvm::enumerate(b)) {
    Value sum = tiles.dot(tiles.cast(features, operand), tiles.cast(v, operand), state[2 * block], /*transposeA=*/true);
    next.append({sum, tiles.plus(state[2 * block + 1], tiles.reduceAdd(features, 0))});
  }
  return next;
}

std::pair<Value, Value> kernel::readState(TileBuilder &tiles, ValueRange state, const Features &a, Type operand) {
  Value numerator, denominator;
  for (auto [block, features] : llvm::enumerate(a)) {
    SmallVector<int64_t> shape(tiles.shape(features));
    Value matrix = state[2 * block], sum = state[2 * block + 1];
    Value before = numerator ? numerator : tiles.constant({shape[0], tiles.shape(matrix)[1]}, 0);
    numerator = tiles.dot(tiles.cast(features, operand), tiles.cast(matrix, operand), before); // [T, dv]
    Value part = tiles.reduceAdd(tiles.times(features, tiles.expand(sum, 0, shape)), 1);    // [T]
    denominator = denominator ? tiles.plus(denominator, part) : part;
  }
  return {numerator, denominator};
}
