//===- OnlineSoftmax.cpp - The carry of softmax: maximum, sum, accumulator ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OnlineSoftmax.h"

#include "KernelFrame.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

SmallVector<Value> OnlineSoftmax::start(TileBuilder &tiles) const {
  return {tiles.constant({rows}, -INFINITY), tiles.constant({rows}, 0), tiles.constant({rows, valueWidth}, 0)};
}

SmallVector<Value> OnlineSoftmax::step(TileBuilder &tiles, ValueRange carried, Value scores, Value v,
                                       bool masked) const {
  SmallVector<int64_t> pairs(tiles.shape(scores));
  Value m = tiles.maximum(carried[0], tiles.reduceMax(scores, 1));                 // [Tq]
  // A row that has seen no key yet has m = −∞; exp2 of −∞ − 0 is 0, of −∞ − −∞ it would be NaN.
  Value shift = masked ? tiles.selectEqual(m, -INFINITY, tiles.constant({rows}, 0), m) : m;
  Value alpha = tiles.exp2(tiles.minus(carried[0], shift));                        // [Tq]
  Value w = tiles.exp2(tiles.minus(scores, tiles.expand(shift, 1, pairs)));        // [Tq, Tk]
  Value l = tiles.plus(tiles.times(carried[1], alpha), tiles.reduceAdd(w, 1));     // [Tq]
  Value acc = tiles.times(carried[2], tiles.expand(alpha, 1, {rows, valueWidth})); // [Tq, dv]
  return {m, l, tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), acc)};
}

Value OnlineSoftmax::finish(TileBuilder &tiles, ValueRange carried) const {
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, carried[2], carried[1]);
}
