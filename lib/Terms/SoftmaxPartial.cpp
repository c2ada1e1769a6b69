//===- SoftmaxPartial.cpp - Sums of exponentials in a unit of each row ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct SoftmaxPartial : StreamedTerm {
  SoftmaxPartial(int64_t width, bool wide) : width(width), wide(wide) {}

  StringRef name() const override { return "softmax_partial"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Plain;
  }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
  }
  std::optional<double> leastUnit() const override { return -std::numeric_limits<double>::infinity(); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows}, {rows}, {rows, width}}; // m, l, acc
  }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    Value s = operands[0]->tile(site);                                                              // [Tq, Tk]
    return site.tiles().reduceMax(s, 1);                                                            // [Tq]
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit,
                                       ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site);                                                              // [Tq, Tk]
    Value w = tiles.exp2(tiles.minus(s, tiles.expand(unit, 1, tiles.shape(s))));                    // [Tq, Tk]
    Value l = tiles.plus(sums[0], tiles.reduceAdd(w, 1));                                           // [Tq]
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    Value v = operands[1]->tile(site, type);                                                        // [Tk, dv]
    return {l, tiles.dot(tiles.cast(w, type), v, sums[1])};                                         // [Tq, dv]
  }

  int64_t width;
  bool wide;
};
} // namespace

terms::StreamedPtr terms::softmaxPartial(int64_t width, bool wide) {
  return std::make_unique<SoftmaxPartial>(width, wide);
}
