//===- Erase.cpp - States from which keys erase ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk of the delta rule solves (I + L) U = W: what each key writes depends on what those before it have written. With gates β,
// d_t = Σ_{r ≤ t} g_r over the chunk and S what the chunks before have left,
//
//     L_ij = β_i e^(d_i − d_j) ⟨k_i, k_j⟩ of j < i, else 0        W_i = β_i (v_i − e^(d_i) k_i S)
//     U = (I + L)⁻¹ W                                             S' = e^(d_T) S + Σ_j e^(d_T − d_j) k_jᵀ U_j
//
// docs/Rationale/AffineCarries.md has the chunk as a region of the terms here.
//
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct BelowDiagonal : Term {
  StringRef name() const override { return "below_diagonal"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {tiles.mask(operands[0]->tile(site), 0, Value(), Value(), tiles.index(-1))};
  }
};

/// By blocks of 1, 2, 4, … rows: with T the inverses of the blocks on the diagonal and L' what is below them in each pair, those of
/// twice the size are T − T L' T. ∏_k (I + (−L)^(2^k)) is the same inverse, but its factors grow as binomials of the number of rows.
struct UnitInverse : Term {
  StringRef name() const override { return "unit_inverse"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value below = operands[0]->tile(site);                                                          // [T, T]
    SmallVector<int64_t> square(tiles.shape(below));
    Value inverse = terms::diagonal(site, square[0]), zero = tiles.constant(square, 0);
    for (int64_t size = 1; size < square[0]; size *= 2) {
      Value blocks = tiles.times(below, terms::belowPairs(site, square[0], size));
      if (size > 1) // blocks of one row are 1
        blocks = tiles.exactDot(tiles.exactDot(inverse, blocks, zero), inverse, zero);
      inverse = tiles.minus(inverse, blocks);
    }
    return {inverse};
  }
};

struct Product : Term {
  explicit Product(bool transposed) : transposed(transposed) {}

  StringRef name() const override { return "product"; }
  void printParameters(raw_ostream &os) const override {
    if (transposed)
      os << " {transposed}";
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();                                                          // stored features may be narrower
    Value a = operands[0]->tile(site, f32), x = operands[1]->tile(site, f32);                       // [T, k] or [k, T], [k, c]
    SmallVector<int64_t> shape{tiles.shape(a)[transposed ? 1 : 0], tiles.shape(x)[1]};
    Value b = operands.size() > 2 ? operands[2]->tile(site) : tiles.constant(shape, 0);             // [T, c]
    return {tiles.exactDot(a, x, b, transposed)};
  }

  bool transposed;
};

/// 1 on the diagonal: [features, features].
struct UnitMatrix : Term {
  explicit UnitMatrix(int64_t features) : features(features) {}

  StringRef name() const override { return "unit_matrix"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    return {terms::diagonal(site, features)};
  }

  int64_t features;
};

struct ErasedSums : StreamedTerm {
  ErasedSums(int64_t features, int64_t width, bool decays) : features(features), width(width), decays(decays) {}

  StringRef name() const override { return "erased_sums"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return decays && operand == 0 ? Representation::Log : Representation::Plain;
  }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::AffineAttr::get(context, tile::Transition::Matrix);
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {{features, width}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value next = sums[0];                                                                           // [m, dv]
    if (decays)
      next = tile::rescaled(tiles, next, tiles.exp2(operands[0]->tile(site)));
    for (unsigned i = decays ? 1 : 0; i < operands.size(); i += 2)
      next = tiles.exactDot(operands[i]->tile(site, f32), operands[i + 1]->tile(site, f32), next, /*transposeA=*/true);
    return {next};
  }

  int64_t features, width;
  bool decays;
};
} // namespace

terms::TermPtr terms::belowDiagonal() { return std::make_unique<BelowDiagonal>(); }
terms::TermPtr terms::unitInverse() { return std::make_unique<UnitInverse>(); }
terms::TermPtr terms::product(bool transposed) { return std::make_unique<Product>(transposed); }
terms::TermPtr terms::unitMatrix(int64_t features) { return std::make_unique<UnitMatrix>(features); }
terms::StreamedPtr terms::erasedSums(int64_t features, int64_t width, bool decays) {
  return std::make_unique<ErasedSums>(features, width, decays);
}
