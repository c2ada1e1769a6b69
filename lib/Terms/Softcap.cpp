//===- Softcap.cpp - Bounded logits ------------------------------------===//
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

namespace {
struct Softcap : Term {
  explicit Softcap(double c) : c(c) {}

  StringRef name() const override { return "softcap"; }
  void printParameters(raw_ostream &os) const override { os << " {c = " << c << '}'; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site);                                                              // [Tq, Tk]
    auto number = [&](double value) { return tiles.constant(tiles.shape(s), value); };
    return {tiles.times(tiles.tanh(tiles.times(s, number(1 / c))), number(c))};
  }

  double c;
};
} // namespace

terms::TermPtr terms::softcap(double c) { return std::make_unique<Softcap>(c); }
