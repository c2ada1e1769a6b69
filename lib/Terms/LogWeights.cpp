//===- LogWeights.cpp - Weights of entries, as logarithms --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// log2 of a count, or 0 if the count is not to weigh; −∞ of none.
struct LogCount : Term {
  explicit LogCount(bool weighs) : weighs(weighs) {}

  StringRef name() const override { return "log_count"; }
  void printParameters(raw_ostream &os) const override { os << (weighs ? " {weighs}" : ""); }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value count = operands[0]->tile(site);                                                            // [1]
    Value weight = weighs ? tiles.log2(count) : tiles.constant({1}, 0);
    return {tiles.selectEqual(count, 0, tiles.constant({1}, -INFINITY), weight)};
  }

  bool weighs;
};

/// s_ij + w_j.
struct AddLogWeights : Term {
  StringRef name() const override { return "add_log_weights"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : std::optional<Representation>();
  }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site), w = operands[1]->tile(site);                                   // [Tq, Tk], [Tk]
    return {tiles.plus(s, tiles.expand(w, 0, tiles.shape(s)))};
  }
};
} // namespace

terms::TermPtr terms::logCount(bool weighs) { return std::make_unique<LogCount>(weighs); }
terms::TermPtr terms::addLogWeights() { return std::make_unique<AddLogWeights>(); }
