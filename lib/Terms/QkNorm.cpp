//===- QkNorm.cpp - The normalization of queries and keys ---------------===//
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
struct QkNorm : Term {
  QkNorm(double epsilon, bool l2) : epsilon(epsilon), l2(l2) {}

  StringRef name() const override { return "qk_norm"; }
  void printParameters(raw_ostream &os) const override { os << " {epsilon = " << epsilon << (l2 ? ", l2}" : "}"); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [T, width]
    return {l2 ? kernel::divideByNorm(tiles, x, epsilon) : kernel::normalizeRows(tiles, x, epsilon)};
  }

  double epsilon;
  bool l2;
};
} // namespace

terms::TermPtr terms::qkNorm(double epsilon, bool l2) { return std::make_unique<QkNorm>(epsilon, l2); }
