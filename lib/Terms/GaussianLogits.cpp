//===- GaussianLogits.cpp - Exponents of a Gaussian around a point -----===//
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
/// s (⟨μ, k_j⟩ − |k_j|²/2) = s ⟨k_j, μ − k_j/2⟩.
struct GaussianLogits : Term {
  explicit GaussianLogits(double scale) : scale(scale) {}

  StringRef name() const override { return "gaussian_logits"; }
  void printParameters(raw_ostream &os) const override { os << " {scale = " << scale << '}'; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value mu = operands[0]->tile(site), k = operands[1]->tile(site, tiles.builder.getF32Type());      // [1, d], [T, d]
    SmallVector<int64_t> shape(tiles.shape(k));
    Value half = tiles.times(k, tiles.constant(shape, 0.5));
    Value from = tiles.minus(tiles.expand(tiles.reduceAdd(mu, 0), 0, shape), half);                 // [T, d]
    // As a row: 1 · (k ⊙ (μ − k/2))ᵀ.
    return {tiles.dot(tiles.constant({1, shape[1]}, scale), tiles.times(k, from), tiles.constant({1, shape[0]}, 0), false,
                      true)};                                                                         // [1, T]
  }

  double scale;
};
} // namespace

terms::TermPtr terms::gaussianLogits(double scale) { return std::make_unique<GaussianLogits>(scale); }
