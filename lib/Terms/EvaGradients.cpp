//===- EvaGradients.cpp - Which keys and queries summaries have ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of tokens, chunks and blocks are whole numbers, exact in f32; what is not a pair is 0 whatever stands there.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "KernelFrame.h"
#include "attune/Tile/Units.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

using arith::CmpFPredicate;

namespace {
/// What keeps some entries of a tile, in whatever representation.
struct Kept : Term {
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site);
    return {keep(site, x, tiles.constant(tiles.shape(x), zeroOf(operands[0]->gives())))};
  }
  virtual Value keep(const TileSite &site, Value x, Value zero) const = 0;
};

/// w_ij of keys that are not after the query.
struct NotAfter : Kept {
  StringRef name() const override { return "not_after"; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  Value keep(const TileSite &site, Value w, Value zero) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<int64_t> shape(tiles.shape(w));
    Value rows = tiles.expand(tiles.iota(site[Axis::Query].first, shape[0]), 1, shape);             // [Tq, Tk]
    Value columns = tiles.expand(tiles.iota(site[Axis::Key].first, shape[1]), 0, shape);
    return tiles.select(tiles.compare(CmpFPredicate::OLE, columns, rows), w, zero);
  }
};

/// w_ij of keys before `from`, and from `end` on.
struct KeysOutside : Kept {
  KeysOutside(Index from, Index end) : from(std::move(from)), end(std::move(end)) {}

  StringRef name() const override { return "keys_outside"; }
  AxisSet ownAxes() const override { return setOf(Axis::Key) | from.axes() | end.axes(); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { from.appendArguments(values), end.appendArguments(values); }
  Value keep(const TileSite &site, Value w, Value zero) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<int64_t> shape(tiles.shape(w));
    auto isBefore = [&](const Index &place) {
      Value distance = tiles.iota(tiles.sub(site[Axis::Key].first, place.at(site)), shape[1]);      // j − place
      Value far = tiles.constant({shape[1]}, 0);
      return tiles.expand(tiles.select(tiles.compare(CmpFPredicate::OLT, distance, far), tiles.constant({shape[1]}, 1), far), 0, shape);
    };
    // Before `from`, or not before `end`: of an empty range the first says all.
    Value inside = tiles.times(tiles.minus(tiles.constant(shape, 1), isBefore(from)), isBefore(end));
    return tiles.selectEqual(inside, 0, w, zero);
  }

  Index from, end;
};

/// Two edges of each block: what it leaves of the first and of the last chunk that it meets.
struct Edges {
  Value block, chunk; ///< [T]
  Value empty;        ///< 1 where the second edge is the first, else 0

  Edges(const TileSite &site, const Index &begin, int64_t count, int64_t length, int64_t local) {
    TileBuilder &tiles = site.tiles();
    auto number = [&](double value) { return tiles.constant({count}, value); };
    Value edge = tiles.iota(tiles.sub(site[Axis::Query].first, begin.at(site)), count);
    block = kernel::floorDivide(tiles, edge, 2);
    Value side = tiles.minus(edge, tiles.times(block, number(2)));
    Value start = tiles.times(block, number(static_cast<double>(local)));
    Value first = kernel::floorDivide(tiles, start, length);
    Value last = kernel::floorDivide(tiles, tiles.plus(start, number(static_cast<double>(local - 1))), length);
    chunk = tiles.plus(first, tiles.times(side, tiles.minus(last, first)));
    empty = tiles.selectEqual(tiles.minus(last, first), 0, side, number(0));
  }
};

/// w_rj of keys that belong to summary r: those of its chunk, or of an edge those that are not of its block.
struct Members : Kept {
  Members(int64_t length, int64_t local, Index begin) : length(length), local(local), begin(std::move(begin)) {}

  StringRef name() const override { return local ? "edge_members" : "chunk_members"; }
  void printParameters(raw_ostream &os) const override {
    os << " {chunk = " << length;
    if (local)
      os << ", block = " << local;
    os << '}';
  }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}) | begin.axes(); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { begin.appendArguments(values); }
  Value keep(const TileSite &site, Value w, Value zero) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<int64_t> shape(tiles.shape(w));
    Value keys = tiles.iota(site[Axis::Key].first, shape[1]);                                       // [Tk]
    auto apart = [&](Value rows, int64_t size) {                                                    // [Tq, Tk]: 0 where they are one
      Value columns = kernel::floorDivide(tiles, keys, size);
      return tiles.minus(tiles.expand(rows, 1, shape), tiles.expand(columns, 0, shape));
    };
    if (!local)
      return tiles.selectEqual(apart(tiles.iota(site[Axis::Query].first, shape[0]), length), 0, w, zero);
    Edges edges(site, begin, shape[0], length, local);
    Value members = tiles.selectEqual(apart(edges.chunk, length), 0, w, zero);
    members = tiles.selectEqual(apart(edges.block, local), 0, zero, members);
    return tiles.selectEqual(tiles.expand(edges.empty, 1, shape), 0, members, zero);
  }

  int64_t length, local; ///< local: 0 of chunks
  Index begin;
};

/// x_r of edges of the chunk at the site.
struct EdgesOfChunk : Kept {
  EdgesOfChunk(int64_t length, int64_t local, Index begin) : length(length), local(local), begin(std::move(begin)) {}

  StringRef name() const override { return "edges_of_chunk"; }
  void printParameters(raw_ostream &os) const override { os << " {chunk = " << length << ", block = " << local << '}'; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Block}) | begin.axes(); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { begin.appendArguments(values); }
  Value keep(const TileSite &site, Value x, Value zero) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<int64_t> shape(tiles.shape(x));
    Edges edges(site, begin, shape[0], length, local);
    Value own = tiles.iota(site[Axis::Block].first, 1);                                             // [1]
    Value apart = tiles.minus(tiles.expand(edges.chunk, 1, shape), tile::repeated(tiles, own, shape));
    Value there = tiles.selectEqual(apart, 0, x, zero);
    return tiles.selectEqual(tiles.expand(edges.empty, 1, shape), 0, there, zero);
  }

  int64_t length, local;
  Index begin;
};

/// scale (⟨μ_r, k_j⟩ − |k_j|²/2), as exponents.
struct GaussianPairs : Term {
  explicit GaussianPairs(double scale) : scale(scale) {}

  StringRef name() const override { return "gaussian_pairs"; }
  void printParameters(raw_ostream &os) const override { os << " {scale = " << scale << '}'; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value mu = operands[0]->tile(site, f32), k = operands[1]->tile(site, f32);                      // [Tq, d], [Tk, d]
    SmallVector<int64_t> rows(tiles.shape(mu)), shape{rows[0], tiles.shape(k)[0]};
    Value products = tiles.dot(tiles.times(mu, tiles.constant(rows, scale)), k, tiles.constant(shape, 0), false, /*transposeB=*/true);
    Value squares = tiles.times(tiles.reduceAdd(tiles.times(k, k), 1), tiles.constant({shape[1]}, scale / 2)); // [Tk]
    return {tiles.minus(products, tiles.expand(squares, 0, shape))};
  }

  double scale;
};

/// Σ_r w_rj summarȳ_r, Σ_r x_rj μ_r, Σ_r x_rj, Σ_r m_rj share_r of each key of a tile.
struct MemberSums : StreamedTerm {
  MemberSums(int64_t width, int64_t valueWidth) : width(width), valueWidth(valueWidth) {}

  StringRef name() const override { return "member_sums"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf(Axis::Key); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t keys = site[Axis::Key].count;
    return {{keys, valueWidth}, {keys, width}, {keys}, {keys, width}};
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    auto product = [&](unsigned number, Value sum) {
      return tiles.dot(operands[number]->tile(site, f32), operands[number + 1]->tile(site, f32), sum, /*transposeA=*/true);
    };
    Value x = operands[2]->tile(site, f32);                                                         // [Tq, Tk]
    return {product(0, sums[0]), product(2, sums[1]), tiles.plus(sums[2], tiles.reduceAdd(x, 0)), product(4, sums[3])};
  }

  int64_t width, valueWidth;
};
} // namespace

terms::TermPtr terms::notAfter() { return std::make_unique<NotAfter>(); }
terms::TermPtr terms::keysOutside(Index from, Index end) { return std::make_unique<KeysOutside>(std::move(from), std::move(end)); }
terms::TermPtr terms::chunkMembers(int64_t chunk) { return std::make_unique<Members>(chunk, 0, Index(0)); }
terms::TermPtr terms::edgeMembers(int64_t chunk, int64_t local, Index begin) { return std::make_unique<Members>(chunk, local, std::move(begin)); }
terms::TermPtr terms::edgesOfChunk(int64_t chunk, int64_t local, Index begin) {
  return std::make_unique<EdgesOfChunk>(chunk, local, std::move(begin));
}
terms::TermPtr terms::gaussianPairs(double scale) { return std::make_unique<GaussianPairs>(scale); }
terms::StreamedPtr terms::memberSums(int64_t width, int64_t valueWidth) { return std::make_unique<MemberSums>(width, valueWidth); }
