//===- Logits.cpp - Products of queries and keys ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// acc + A Bᵀ. Of one row each it is one number, the sum of a row: as the result of a product it would fill a vector's other lanes with
/// what is made of numbers that nobody has written.
static Value addPairs(TileBuilder &tiles, Value a, Value b, Value acc) {
  SmallVector<int64_t> pairs(tiles.shape(acc));
  if (pairs[0] != 1 || pairs[1] != 1 || !tiles.element(a).isF32())
    return tiles.dot(a, b, acc, false, true);
  return tiles.plus(acc, tiles.expand(tiles.reduceAdd(tiles.times(a, b), 1), 1, pairs));
}

namespace {
struct Logits : Term {
  Logits(Representation representation, double scale, bool wide)
      : representation(representation), scale(scale), wide(wide) {}

  StringRef name() const override { return "logits"; }
  void printParameters(raw_ostream &os) const override {
    if (scale != 1)
      os << " {scale = " << scale << '}';
    if (wide)
      os << " {wide}";
  }
  Representation gives(Sources) const override { return representation; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    SmallVector<Value, 3> q = operands[0]->tiles(site, type), k = operands[1]->tiles(site, type);   // [Tq, d], [Tk, d]
    SmallVector<int64_t> pairs{tiles.shape(q[0])[0], tiles.shape(k[0])[0]};
    Value s = tiles.constant(pairs, 0);                                                             // [Tq, Tk]
    for (auto [a, b] : llvm::zip_equal(q, k))
      s = addPairs(tiles, a, b, s);
    return {scale == 1 ? s : tiles.times(s, tiles.constant(pairs, scale))};
  }

  Representation representation;
  double scale;
  bool wide;
};
} // namespace

terms::TermPtr terms::logits(Representation gives, double scale, bool wide) {
  return std::make_unique<Logits>(gives, scale, wide);
}
