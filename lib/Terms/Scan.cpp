//===- Scan.cpp - Causal products token by token ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What rows x read of the products y_j z_jᵀ of the rows up to them and of a state before the tile:
//
//   o_i = Sᵀ x_i + Σ_{j ≤ i} ⟨x_i, y_j⟩ z_j          S' = S + Σ_j y_j z_jᵀ
//
// without the weights of a tile's pairs (tile.scan): each row is added to the state before the next one reads it. `reverse`: of the rows from them on. Where
// rows erase with r, what is added is y_j (z_j − Sᵀ r_j)ᵀ, of the state that row j finds.
//
// Where the state decays, by 2^(g_t) at row t, rows are taken as what is left of them at the tile's end, y_j 2^(d_j) with d_j the sum of g behind j, and
// readers make up for it, x_i 2^(−d_i): the state then decays once, by all of g. Both are numbers of f32 unless something decays to less than 2^−60 over the
// tile, where it does so row by row. In reverse d is the sum from the tile's beginning on.
//
// A state that takes tokens one by one rounds each of them to its own last place: of z = Σ b a million tokens lost 5e-5, and of S, many of whose products are small,
// 1.3e-4. Behind `mostTokens` the state is brought over a tile by a product, which sums up its rows first (n = 1,048,576: 4e-7); rows read it as before.
//
//===----------------------------------------------------------------------===//
#include "LogSource.h"
#include "Terms.h"
#include "UsualDecay.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// Up to here they cost 6e-7 of the output (elu + 1, values above 0).
static constexpr int64_t mostTokens = 65536;

bool terms::ScanForm::isLong(int64_t tokens) { return ShapedType::isDynamic(tokens) || tokens > mostTokens; }

namespace {
struct Scan : Term {
  explicit Scan(terms::ScanForm form) : form(form) {}

  StringRef name() const override { return "scan"; }
  void printParameters(raw_ostream &os) const override {
    SmallVector<StringRef, 3> flags;
    if (form.reverse)
      flags.push_back("reverse");
    if (form.exclusive)
      flags.push_back("exclusive");
    if (form.erases)
      flags.push_back("erases");
    if (decays())
      flags.push_back(ofColumns() ? "columns decay" : "rows decay");
    if (!flags.empty())
      llvm::interleaveComma(flags, os << " {"), os << '}';
  }
  std::optional<Representation> takes(unsigned operand) const override {
    return decays() && operand >= firstExponent() ? Representation::Log : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Rows rows{operands[0]->tiles(site, f32), operands[1]->tiles(site, f32), operands[2]->tiles(site, f32)};
    SmallVector<Value, 3> state = operands[3]->tiles(site), sums;
    if (form.accumulates)
      sums = operands[4]->tiles(site, f32);
    if (form.erases)
      rows.erase = operands[firstExponent() - 1]->tiles(site, f32)[0];
    for (Value z : rows.z)
      if (!form.accumulates)
        sums.push_back(tiles.constant(tiles.shape(z), 0));
    if (!decays())
      return scannedAnywhere(tiles, site, rows, sums, state, {});
    auto exponents = [&](unsigned which) { return operands[firstExponent() + which]->tile(site); };
    return fading(tiles, site, rows, sums, state, {exponents(0), exponents(1), exponents(2)});
  }

private:
  using Tiles = SmallVector<Value, 3>;
  struct Rows {
    Tiles x, y, z;      ///< [T, p] each, [T, p] each, [T, w] each
    Value erase = {};   ///< [T, p]; null: they erase nothing
  };
  /// Exponents.
  struct Decay {
    Value rest; ///< [T], or of each row or column of the state [T, c]
    Value all;  ///< [c]
    Value own;  ///< as `rest`
  };

  unsigned firstExponent() const { return 4 + form.accumulates + form.erases; }
  bool decays() const { return form.decay != terms::ScanForm::Decay::None; }
  bool ofColumns() const { return form.decay == terms::ScanForm::Decay::Columns; }

  /// The result of each z, and what each state is then, and of rows that erase what they have written. The factors are those of one decay, or of each row's.
  Tiles scanned(TileBuilder &tiles, const Rows &rows, Tiles sums, Tiles state, Value factors) const {
    Value written;
    for (auto [j, z] : llvm::enumerate(rows.z))
      for (size_t i = 0; i < rows.x.size(); ++i) {
        Value &before = state[i * rows.z.size() + j];
        auto scan = tile::ScanOp::create(tiles.builder, tiles.loc, sums[j].getType(), before.getType(), form.erases ? z.getType() : Type(), rows.x[i], rows.y[i], z, before, sums[j], factors,
                                         rows.erase, factors && ofColumns(), form.exclusive, form.reverse);
        sums[j] = scan.getResult(), before = scan.getNext(), written = scan.getWritten();
      }
    llvm::append_range(sums, state);
    if (written)
      sums.push_back(written);
    return sums;
  }

  /// The same where the state adds up rows of many tokens: those of the tile first, then their sum.
  Tiles summedApart(TileBuilder &tiles, const Rows &rows, const Tiles &sums, const Tiles &state, Value factors) const {
    Tiles next = scanned(tiles, rows, sums, state, factors);
    for (size_t number = 0; number < state.size(); ++number) {
      ArrayRef<int64_t> shape = tiles.shape(state[number]);
      Value before = factors ? tiles.times(state[number], tiles.expand(factors, ofColumns() ? 0 : 1, shape)) : state[number];
      Value y = rows.y[number / rows.z.size()], z = form.erases ? next.back() : rows.z[number % rows.z.size()];
      next[sums.size() + number] = tiles.exactDot(y, z, before, /*transposeA=*/true);
    }
    return next;
  }

  /// What a branch takes and gives.
  Tiles carriedOf(TileBuilder &tiles, const Rows &rows, const Tiles &sums, const Tiles &state) const {
    Tiles all(sums);
    llvm::append_range(all, state);
    if (form.erases)
      all.push_back(tiles.constant(tiles.shape(rows.z.front()), 0));
    return all;
  }

  /// Whether many tokens came before the tile: an index, 0 or 1.
  Value isLate(TileBuilder &tiles, const TileSite &site) const {
    const AxisRange &keys = site[Axis::Key];
    Value before = form.reverse && keys.limit ? tiles.max(tiles.sub(keys.limit, keys.first), tiles.index(0)) : keys.first;
    Value excess = tiles.minus(tiles.iota(before, 1), tiles.constant({1}, mostTokens - 1));         // [1]
    return tile::AnyOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), excess);
  }

  Tiles scannedAnywhere(TileBuilder &tiles, const TileSite &site, const Rows &rows, const Tiles &sums, const Tiles &state, Value factors) const {
    if (!form.mayBeLong)
      return scanned(tiles, rows, sums, state, factors);
    Tiles carried = carriedOf(tiles, rows, sums, state);
    auto stateOf = [&](const Tiles &before) { return Tiles(ArrayRef(before).slice(sums.size(), state.size())); };
    return terms::eitherWay(
        tiles, isLate(tiles, site), carried,
        [&](TileBuilder &inner, Tiles before) { return scanned(inner, rows, sums, stateOf(before), factors); },
        [&](TileBuilder &inner, Tiles before) { return summedApart(inner, rows, sums, stateOf(before), factors); },
        tile::SequentialAttr::get(tiles.builder.getContext()));
  }

  Tiles rowByRow(TileBuilder &tiles, const Rows &rows, const Tiles &sums, const Tiles &state, const Decay &decay) const {
    Value like = (ofColumns() ? rows.z : rows.y).front();
    return scanned(tiles, rows, sums, state, tile::repeated(tiles, tiles.exp2(decay.own), tiles.shape(like)));
  }

  /// At once, with all rows as what is left of them where the tile ends, a state that decays once, and readers that make up for it, unless something decays
  /// to less over the tile than a factor may be: then at each row. Operands of the usual way are made before it is chosen, as scans share them.
  Tiles fading(TileBuilder &tiles, const TileSite &site, const Rows &rows, const Tiles &sums, const Tiles &state, const Decay &decay) const {
    if (tiles.shape(rows.y.front())[0] == 1) // nothing to do at once
      return rowByRow(tiles, rows, sums, state, decay);
    Value down = tiles.exp2(decay.rest), up = tiles.exp2(tiles.minus(tiles.constant(tiles.shape(decay.rest), 0), decay.rest)), all = tiles.exp2(decay.all);
    Rows scaled(rows);
    for (Value &x : ofColumns() ? scaled.z : scaled.y)
      x = tile::rescaled(tiles, x, down);
    for (size_t i = 0; !ofColumns() && i < rows.x.size(); ++i)
      scaled.x[i] = tile::rescaled(tiles, rows.x[i], up);
    if (form.erases)
      scaled.erase = tile::rescaled(tiles, rows.erase, up);
    size_t results = sums.size();
    Tiles carried = carriedOf(tiles, rows, sums, state);
    auto stateOf = [&](const Tiles &before) { return Tiles(ArrayRef(before).slice(results, state.size())); };
    auto atOnce = [&](TileBuilder &inner, Tiles before) {
      if (!ofColumns())
        return scannedAnywhere(inner, site, scaled, sums, stateOf(before), all);
      Tiles none = llvm::map_to_vector<3>(sums, [&](Value sum) { return inner.constant(inner.shape(sum), 0); });
      Tiles next = scannedAnywhere(inner, site, scaled, none, stateOf(before), all);
      for (size_t j = 0; j < results; ++j) {
        Value read = tile::rescaled(inner, next[j], up);
        next[j] = form.accumulates ? inner.plus(sums[j], read) : read;
      }
      return next;
    };
    auto apart = [&](TileBuilder &inner, Tiles before) { return rowByRow(inner, rows, sums, stateOf(before), decay); };
    return terms::usuallyAtOnce(tiles, decay.rest, carried, atOnce, apart, tile::SequentialAttr::get(tiles.builder.getContext()));
  }

  terms::ScanForm form;
};

struct OnesOfRows : Term {
  StringRef name() const override { return "ones_of_rows"; }
  AxisSet ownAxes() const override { return setOf(Axis::Key); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override { return {site.tiles().constant({site[Axis::Key].count, 1}, 1)}; }
};

/// Numbers [m] as a tile of one row, or of one column.
struct AsTile : Term {
  explicit AsTile(bool isRow) : isRow(isRow) {}

  StringRef name() const override { return isRow ? "as_row" : "as_column"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> all = operands[0]->tiles(site, tiles.builder.getF32Type());
    for (Value &x : all) {
      int64_t count = tiles.shape(x)[0];
      x = isRow ? tiles.expand(x, 0, {1, count}) : tiles.expand(x, 1, {count, 1});
    }
    return all;
  }

  bool isRow;
};

struct OfRow : Term {
  StringRef name() const override { return "of_row"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> all = operands[0]->tiles(site);                                           // [1, m] each
    for (Value &x : all)
      x = site.tiles().reduceAdd(x, 0);                                                             // [m]
    return all;
  }
};

struct ReadersInUnit : Term {
  StringRef name() const override { return "readers_in_unit"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : operand == 1 ? Representation::Scaled : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures q = logFeatures(operands[0], site);                                         // [T, m]
    Value unit = operands[1]->read(site).tiles[0], c = operands[2]->tile(site);                     // [m], [T]
    ArrayRef<int64_t> shape = tiles.shape(q.exponents);
    return {q.at(tiles, tiles.minus(tiles.plus(q.exponents, tiles.expand(unit, 0, shape)), tiles.expand(c, 1, shape)))};
  }
};

/// What the operands are, all tiles of all of them, is carried to the next step. Of a scan that decays or erases nobody knows the span of some steps: where a sequence
/// is split, it is that of the weights' form (Regions/ChunkedRegion.cpp).
struct CarriedOn : StreamedTerm {
  CarriedOn(SmallVector<SmallVector<int64_t>> shapes, bool fades) : shapes(std::move(shapes)), fades(fades) {}

  StringRef name() const override { return "carried_on"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    if (fades)
      return tile::SequentialAttr::get(context);
    return tile::SumAttr::get(context);
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return shapes; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange) const override {
    SmallVector<Value> next;
    for (const Source &operand : operands)
      llvm::append_range(next, operand->tiles(site));
    return next;
  }

  SmallVector<SmallVector<int64_t>> shapes;
  bool fades;
};
} // namespace

terms::TermPtr terms::scan(ScanForm form) { return std::make_unique<Scan>(form); }
terms::TermPtr terms::onesOfRows() { return std::make_unique<OnesOfRows>(); }
terms::TermPtr terms::asRow() { return std::make_unique<AsTile>(/*isRow=*/true); }
terms::TermPtr terms::asColumn() { return std::make_unique<AsTile>(/*isRow=*/false); }
terms::TermPtr terms::ofRow() { return std::make_unique<OfRow>(); }
terms::TermPtr terms::readersInUnit() { return std::make_unique<ReadersInUnit>(); }
terms::StreamedPtr terms::carriedOn(SmallVector<SmallVector<int64_t>> shapes, bool fades) {
  return std::make_unique<CarriedOn>(std::move(shapes), fades);
}
