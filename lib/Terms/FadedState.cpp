//===- FadedState.cpp - What decay leaves of a state in units ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of a state is 2^M (z, S). Decayed by 2^e it is 2^(M + w + r) (2^(e − w − r) z, …) with w = round(e) and r so that what is left of z is about 1
// again. M stays a whole number, which is exact as far as 2^24, and a row that decays for long is in range, as nothing but its unit gets smaller.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogPairs.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Faded : Term {
  explicit Faded(bool ofCotangents) : ofCotangents(ofCotangents) {}

  StringRef name() const override { return "faded"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Scaled : Representation::Log;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // M [m], z [m], S [m, dv]
    Value e = operands[1]->tile(site), whole = tiles.roundEven(e);                                  // [m]
    SmallVector<int64_t> shape(tiles.shape(e));
    Value one = tiles.constant(shape, 1), none = tiles.constant(shape, kernel::noLogarithm);
    Value part = tiles.exp2(tiles.minus(e, whole)), size = tiles.times(sizeOf(tiles, state), part);
    Value rest = tiles.roundEven(tiles.log2(tiles.selectEqual(size, 0, one, size)));
    Value unit = tiles.plus(state[0], tiles.plus(whole, rest)), factor = tiles.times(part, tiles.exp2(tiles.negate(rest)));
    return {tiles.selectEqual(size, 0, none, unit), tiles.times(state[1], factor),
            tiles.times(state[2], tiles.expand(factor, 1, tiles.shape(state[2])))};
  }

private:
  /// What is to be about 1 [m].
  Value sizeOf(TileBuilder &tiles, ArrayRef<Value> state) const {
    return ofCotangents ? tiles.maximum(tiles.abs(state[1]), tiles.reduceMax(tiles.abs(state[2]), 1)) : state[1];
  }

  bool ofCotangents;
};
} // namespace

terms::TermPtr terms::faded(bool ofCotangents) { return std::make_unique<Faded>(ofCotangents); }
