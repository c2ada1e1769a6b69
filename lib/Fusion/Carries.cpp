//===- Carries.cpp - How entries enter what a loop carries --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a carry does when entries come, as its identity and composition are what it does between pieces.
//
//===----------------------------------------------------------------------===//
#include "Carries.h"

#include "Power.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using tile::TileBuilder;

/// `sum` times a factor of each of its rows.
static Value rescaled(TileBuilder &tiles, Value sum, Value factor) {
  ArrayRef<int64_t> shape = tiles.shape(sum);
  return tiles.times(sum, shape.size() == 1 ? factor : tiles.expand(factor, 1, shape));
}

OpenState fusion::join(TileBuilder &tiles, tile::CarryAttrInterface carry, ValueRange state, Value unit,
                       bool maybeNone) {
  auto units = dyn_cast<tile::RescaledSumAttr>(carry);
  if (!units)
    return {Value(), Value(), SmallVector<Value>(state)};
  Value joined = tiles.maximum(state[0], unit), divisor = joined, factor;                       // [R]
  SmallVector<int64_t> rows(tiles.shape(joined));
  if (units.getPower() == tile::RescaledSumAttr::exp2) {
    // A row that has seen no entry yet has the unit −∞; exp2 of −∞ − 0 is 0, of −∞ − −∞ it would be NaN.
    if (maybeNone)
      divisor = tiles.selectEqual(joined, -INFINITY, tiles.constant(rows, 0), joined);
    factor = tiles.exp2(tiles.minus(state[0], divisor));
  } else {
    factor = kernel::unitFactor(tiles, state[0], joined, kernel::inverseUnit(tiles, joined), units.getPower());
  }
  OpenState open{joined, divisor, {}};
  for (Value sum : state.drop_front())
    open.sums.push_back(rescaled(tiles, sum, factor));
  return open;
}
