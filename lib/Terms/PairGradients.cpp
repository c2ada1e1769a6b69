//===- PairGradients.cpp - What gradients of pairs are made of ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// A row that sees no key has lse = −∞, and weights that are 0.
struct SoftmaxWeights : Term {
  StringRef name() const override { return "softmax_weights"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site), unit = inLog2(site, operands[1]);                            // [Tq, Tk], [Tq]
    return {tiles.exp2(tiles.minus(s, tiles.expand(unit, 1, tiles.shape(s))))};
  }

private:
  /// Made where the rows are, once.
  Value inLog2(const TileSite &site, const Source &lse) const {
    return site
        .once(this, nullptr, lse->axes(),
              [&](const TileSite &at) -> SiteValue {
                TileBuilder &tiles = at.tiles();
                Value sum = lse->tile(at);                                                          // [Tq]
                ArrayRef<int64_t> rows = tiles.shape(sum);
                Value unit = tiles.times(sum, tiles.constant(rows, M_LOG2E));
                return {{tiles.selectEqual(sum, -INFINITY, tiles.constant(rows, INFINITY), unit)}};
              })
        .tiles.front();
  }
};

/// A row that sees no key has weights that are 0.
struct SoftmaxOfPairs : Term {
  StringRef name() const override { return "softmax_of_pairs"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site);                                                              // [Tq, Tk]
    ArrayRef<int64_t> pairs = tiles.shape(s);
    Value most = tiles.reduceMax(s, 1);                                                             // [Tq]
    SmallVector<int64_t> rows(tiles.shape(most));
    Value zero = tiles.constant(rows, 0), unit = tiles.selectEqual(most, -INFINITY, zero, most);
    Value e = tiles.exp2(tiles.minus(s, tiles.expand(unit, 1, pairs))), sums = tiles.reduceAdd(e, 1); // [Tq, Tk], [Tq]
    Value shares = tiles.selectEqual(sums, 0, zero, tiles.over(tiles.constant(rows, 1), sums));
    return {tiles.times(e, tiles.expand(shares, 1, pairs))};
  }
};

struct Spread : Term {
  StringRef name() const override { return "spread"; }
  AxisSet ownAxes() const override { return setOf(Axis::Key); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site);                                                              // [Tq]
    return {tiles.expand(x, 1, {tiles.shape(x)[0], site[Axis::Key].count})};                        // [Tq, Tk]
  }
};

struct OverRows : Term {
  explicit OverRows(Axis rows) : rows(rows) {}

  StringRef name() const override { return "over_rows"; }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value z = operands[0]->tile(site);                                                              // [m]
    return {tiles.expand(z, 0, {site[rows].count, tiles.shape(z)[0]})};                             // [T, m]
  }

  Axis rows;
};

struct Zeros : Term {
  Zeros(AxisSet places, Axis rows, int64_t width) : places(places), rows(rows), width(width) {}

  StringRef name() const override { return "zeros"; }
  AxisSet ownAxes() const override { return places; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    return {site.tiles().constant({site[rows].count, width}, 0)};                                   // [T, width]
  }

  AxisSet places;
  Axis rows;
  int64_t width;
};

struct SoftcapGradient : Term {
  explicit SoftcapGradient(double factor) : factor(factor) {}

  StringRef name() const override { return "softcap_gradient"; }
  void printParameters(raw_ostream &os) const override { os << " {factor = " << factor << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value product = operands[0]->tile(site), cotangent = operands[1]->tile(site);                   // [Tq, Tk]
    ArrayRef<int64_t> pairs = tiles.shape(product);
    Value capped = tiles.tanh(tiles.times(product, tiles.constant(pairs, factor)));
    return {tiles.times(cotangent, tiles.minus(tiles.constant(pairs, 1), tiles.times(capped, capped)))};
  }

  double factor;
};

struct RowSums : Term {
  StringRef name() const override { return "row_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    return {site.tiles().reduceAdd(operands[0]->tile(site), 1)};                                    // [T]
  }
};

struct RowProducts : Term {
  StringRef name() const override { return "row_products"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    SmallVector<Value, 3> a = operands[0]->tiles(site, f32), b = operands[1]->tiles(site, f32);     // [T, d] each
    Value sum;
    for (auto [x, y] : llvm::zip_equal(a, b)) {
      Value part = tiles.reduceAdd(tiles.times(x, y), 1);                                           // [T]
      sum = sum ? tiles.plus(sum, part) : part;
    }
    return {sum};
  }
};

/// Where a floor holds a denominator back, or it is 0, nothing reaches it.
struct DenominatorGradient : Term {
  explicit DenominatorGradient(attn::DenominatorAttr guard) : guard(guard) {}

  StringRef name() const override { return "denominator_gradient"; }
  void printParameters(raw_ostream &os) const override { os << " {guard = " << guard << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value delta = operands[0]->tile(site), denominator = operands[1]->tile(site);                   // [T]
    ArrayRef<int64_t> rows = tiles.shape(delta);
    Value guarded = tiles.plus(denominator, tiles.constant(rows, guard.getBias())), zero = tiles.constant(rows, 0);
    Value gradient = tiles.negate(tiles.over(delta, guarded));
    if (guard.getFloor() != 0) {
      Value held = tiles.compare(arith::CmpFPredicate::OLE, guarded, tiles.constant(rows, guard.getFloor()));
      gradient = tiles.select(held, zero, gradient);
    }
    return {tiles.selectEqual(guarded, 0, zero, gradient)};
  }

  attn::DenominatorAttr guard;
};

struct TransposedSums : StreamedTerm {
  TransposedSums(ArrayRef<int64_t> widths, bool wide) : widths(widths), wide(wide) {}

  StringRef name() const override { return "transposed_sums"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    SmallVector<SmallVector<int64_t>> shapes;
    for (int64_t width : widths)
      shapes.push_back({site[Axis::Key].count, width});
    return shapes;
  }
  AxisSet ownAxes() const override { return setOf(Axis::Key); }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    SmallVector<Value> next;
    for (auto [number, sum] : llvm::enumerate(sums)) {
      Value w = operands[2 * number]->tile(site, type), x = operands[2 * number + 1]->tile(site, type); // [Tq, Tk], [Tq, d]
      next.push_back(tiles.dot(w, x, sum, /*transposeA=*/true));                                    // [Tk, d]
    }
    return next;
  }

  SmallVector<int64_t> widths;
  bool wide;
};
} // namespace

terms::TermPtr terms::softmaxWeights() { return std::make_unique<SoftmaxWeights>(); }
terms::TermPtr terms::softmaxOfPairs() { return std::make_unique<SoftmaxOfPairs>(); }
terms::TermPtr terms::spread() { return std::make_unique<Spread>(); }
terms::TermPtr terms::zeros(AxisSet places, Axis rows, int64_t width) { return std::make_unique<Zeros>(places, rows, width); }
terms::TermPtr terms::overRows(Axis rows) { return std::make_unique<OverRows>(rows); }
terms::TermPtr terms::softcapGradient(double factor) { return std::make_unique<SoftcapGradient>(factor); }
terms::TermPtr terms::rowSums() { return std::make_unique<RowSums>(); }
terms::TermPtr terms::rowProducts() { return std::make_unique<RowProducts>(); }
terms::TermPtr terms::denominatorGradient(attn::DenominatorAttr guard) { return std::make_unique<DenominatorGradient>(guard); }
terms::StreamedPtr terms::transposedSums(ArrayRef<int64_t> widths, bool wide) { return std::make_unique<TransposedSums>(widths, wide); }
