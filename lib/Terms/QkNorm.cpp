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

struct QkNormGradient : QkNorm {
  using QkNorm::QkNorm;

  StringRef name() const override { return "qk_norm_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), cotangent = operands[1]->tile(site, f32);               // [T, width]
    return {kernel::normGradient(tiles, x, cotangent, epsilon, l2)};
  }
};
} // namespace

terms::TermPtr terms::qkNormGradient(double epsilon, bool l2) { return std::make_unique<QkNormGradient>(epsilon, l2); }
terms::TermPtr terms::qkNorm(double epsilon, bool l2) { return std::make_unique<QkNorm>(epsilon, l2); }
