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
  explicit QkNorm(double epsilon) : epsilon(epsilon) {}

  StringRef name() const override { return "qk_norm"; }
  void printParameters(raw_ostream &os) const override { os << " {epsilon = " << epsilon << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {kernel::normalizeRows(tiles, operands[0]->tile(site, tiles.builder.getF32Type()), epsilon)};
  }

  double epsilon;
};
} // namespace

terms::TermPtr terms::qkNorm(double epsilon) { return std::make_unique<QkNorm>(epsilon); }
