//===- ReadoutGradients.cpp - Cotangents of what a chunk reads and adds ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the readout u_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ v_j, w_i = Σ_{j ≤ i} ⟨a_i, b_j⟩, with p_ij = ⟨a_i, b_j⟩ and p̄_ij = ⟨ū_i, v_j⟩ + w̄_i within a chunk:
//
//   ā_i = S ū_i + w̄_i z + Σ_{j ≤ i} p̄_ij b_j          S, z: Σ b vᵀ, Σ b of the chunks before
//   b̄_j = R v_j + ζ + Σ_{i ≥ j} p̄_ij a_i              R, ζ: Σ a ūᵀ, Σ a w̄ of the chunks behind
//   v̄_j = Rᵀ b_j + Σ_{i ≥ j} p_ij ū_i
//
// Features may lie in several tiles, each with its own rows of a state. States are read in f32, as forwards.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct OfReadout {
  OfReadout(bool wide, bool divides) : wide(wide), divides(divides) {}

protected:
  Type operandOf(const TileSite &site) const { return wide ? Type(site.tiles().builder.getF32Type()) : site.operand(); }
  /// Of a state, the matrix [m, dv] and the sum [m] of a tile of features.
  Value matrix(ArrayRef<Value> state, size_t tile) const { return state[(divides ? 2 : 1) * tile]; }
  Value sum(ArrayRef<Value> state, size_t tile) const { return state[2 * tile + 1]; }

  bool wide, divides;
};

/// (ū, state, p̄, b) or (ū, state, p̄, b, w̄): a tile for each of b.
struct QueryReadoutGradient : Term, OfReadout {
  using OfReadout::OfReadout;

  StringRef name() const override { return "query_readout_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type(), type = operandOf(site);
    Value u = operands[0]->tile(site, f32);                                                         // [T, dv]
    SmallVector<Value, 3> state = operands[1]->tiles(site), result;                                 // S [m, dv], z [m]
    for (auto [number, b] : llvm::enumerate(operands[3]->tiles(site, type))) {                      // [T, m]
      ArrayRef<int64_t> shape = tiles.shape(b);
      Value sums = tiles.dot(u, matrix(state, number), tiles.constant(shape, 0), false, /*transposeB=*/true);
      if (divides)
        sums = tiles.plus(sums, tiles.times(tiles.expand(operands[4]->tile(site, f32), 1, shape), tiles.expand(sum(state, number), 0, shape)));
      result.push_back(tiles.dot(operands[2]->tile(site, type), b, sums));
    }
    return result;
  }
};

/// (v, b, state, p̄, p, a, ū): a tile for each of b, then v̄.
struct KeyReadoutGradient : Term, OfReadout {
  using OfReadout::OfReadout;

  StringRef name() const override { return "key_readout_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type(), type = operandOf(site);
    Value v = operands[0]->tile(site, f32), ofValues = tiles.constant(tiles.shape(v), 0);           // [T, dv]
    SmallVector<Value, 3> b = operands[1]->tiles(site, f32), state = operands[2]->tiles(site), result; // [T, m], R [m, dv], ζ [m]
    for (auto [number, a] : llvm::enumerate(operands[5]->tiles(site, type))) {                      // [T, m]
      ArrayRef<int64_t> shape = tiles.shape(a);
      Value begin = divides ? tiles.expand(sum(state, number), 0, shape) : tiles.constant(shape, 0);
      Value sums = tiles.dot(v, matrix(state, number), begin, false, /*transposeB=*/true);
      result.push_back(tiles.dot(operands[3]->tile(site, type), a, sums, /*transposeA=*/true));
      ofValues = tiles.dot(b[number], matrix(state, number), ofValues);
    }
    result.push_back(tiles.dot(operands[4]->tile(site, type), operands[6]->tile(site, type), ofValues, /*transposeA=*/true));
    return result;
  }
};

/// (a, ū) or (a, ū, w̄): R += aᵀ ū, ζ += Σ_i a_i w̄_i.
struct CotangentSums : StreamedTerm, OfReadout {
  CotangentSums(ArrayRef<int64_t> features, int64_t width, bool wide, bool divides)
      : OfReadout(wide, divides), features(features), width(width) {}

  StringRef name() const override { return "cotangent_sums"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override {
    SmallVector<SmallVector<int64_t>> shapes;
    for (int64_t count : features) {
      shapes.push_back({count, width}); // R
      if (divides)
        shapes.push_back({count});      // ζ
    }
    return shapes;
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type(), type = operandOf(site);
    Value u = operands[1]->tile(site, type);                                                        // [T, dv]
    SmallVector<Value, 3> a = operands[0]->tiles(site, type), exact = operands[0]->tiles(site, f32); // [T, m]
    SmallVector<Value> next;
    for (size_t tile = 0; tile < a.size(); ++tile) {
      next.push_back(tiles.dot(a[tile], u, sums[next.size()], /*transposeA=*/true));
      if (!divides)
        continue;
      Value weighed = tiles.times(exact[tile], tiles.expand(operands[2]->tile(site, f32), 1, tiles.shape(exact[tile])));
      next.push_back(tiles.plus(sums[next.size()], tiles.reduceAdd(weighed, 0)));
    }
    return next;
  }

  SmallVector<int64_t> features;
  int64_t width;
};
} // namespace

terms::TermPtr terms::queryReadoutGradient(bool wide, bool divides) { return std::make_unique<QueryReadoutGradient>(wide, divides); }
terms::TermPtr terms::keyReadoutGradient(bool wide, bool divides) { return std::make_unique<KeyReadoutGradient>(wide, divides); }
terms::StreamedPtr terms::cotangentSums(ArrayRef<int64_t> features, int64_t width, bool wide, bool divides) {
  return std::make_unique<CotangentSums>(features, width, wide, divides);
}
