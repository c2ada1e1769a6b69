//===- Polysketch.cpp - Polynomial attention through sketches ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   w_ij = ⟨S(q_i), S(k_j)⟩², and ⟨q_i, k_j⟩^p inside diagonal blocks of b tokens
//
//   sketch:     S(q / |q|) and S(k), once                             (Regions/SketchRegion.cpp)
//   quadratic:  parallel over (batch, head, query tile): pairs with the keys before the block, then inside it
//   state:      parallel over (batch, head, piece): block after block of the piece's keys enters every slice S_f;
//               parallel over (batch, head, slice): the pieces merged; then a readout of the query tiles
//   chunked:    parallel over (batch, head): block after block, every query tile reads the state of the blocks before and
//               pairs with the keys of its own; then the block's keys enter the state
//   split:      the states of pieces of the keys before the last part; then chunked, parallel over parts as well, from what
//               the pieces before a part sum up to
//
// Both kinds of weights are squares: of ⟨S(q), S(k)⟩, and of ⟨q / |q|, k⟩^(p/2). They are carried relative to the largest of
// their row (Power.h). A tile of queries never leaves its block.
//
//===----------------------------------------------------------------------===//
#include "Pieces.h"
#include "SketchedTiles.h"
#include "attune/Kernel/SketchRules.h"
#include "attune/Tile/WindowTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using fusion::buildRegion;

/// Whether exact pairs have units of their own. From degree 32 on the root of a logit that is small beside |q| |k| is below
/// the range, and matters if the row has no larger one.
static bool exactApart(const PolysketchOptions &options) { return options.localExact && options.degree >= 32; }

static attn::DenominatorAttr unguarded(TileBuilder &tiles) {
  return attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
}

/// |scale M q| of the tile's queries [Tq]; without a running unit M what stands beside them.
static Value queryLengths(TileBuilder &tiles, const QueryTile &tile) {
  const Sketches &at = tile.at;
  SmallVector<Value> first{tile.point.batch, tile.point.head, tile.first};
  Value length = tiles.load(tile.frame[at.queryLengths], first, at.rows); // [Tq]
  if (tile.running)
    length = tiles.times(length, tile.running.ofQueries(tiles, tile.point, tile.first, at.rows));
  return tiles.minimum(length, tiles.constant({at.rows}, 0x1p120)); // finite, and so are its powers of 2
}

static PowerCarry carryOf(TileBuilder &tiles, const QueryTile &tile) {
  const Sketches &at = tile.at;
  if (exactApart(at.options)) // the guard comes last
    return {at.rows, at.problem.valueWidth(), 2, unguarded(tiles)};
  return {at.rows, at.problem.valueWidth(), 2, at.options.guard, queryLengths(tiles, tile), at.options.degree / 2};
}

/// Pairs with keys from ≤ j < end: of sketches, or exact ones. `diagonal`: only j ≤ i. A carry of degree 2 takes the roots
/// of weights, one of degree p the logits themselves.
static SmallVector<Value> addPairs(TileBuilder &tiles, const QueryTile &tile, const PowerCarry &carry, Value from,
                                   Value end, SmallVector<Value> carried, bool exact, bool diagonal) {
  Type f32 = tiles.builder.getF32Type();
  int64_t rows = tile.at.rows;
  Value q = tiles.cast((exact ? tile.query : tile.sketchedQuery).load(tiles, tile.first, rows), f32); // [Tq, d or r]
  if (exact) {
    Value norm = sketchLength(tiles, q, tile.at.options.matrices.hasPairs());                          // [Tq]
    Value unit = tiles.over(tiles.constant({rows}, 1), tiles.maximum(norm, tiles.constant({rows}, 0x1p-120)));
    if (tile.at.largest)
      unit = tiles.over(unit, largestNorm(tiles, tile.frame[tile.at.largest], tile.point, rows));     // [Tq]
    q = tiles.times(q, tiles.expand(unit, 1, tiles.shape(q)));
    if (tile.running) { // one after the other: of null tokens the product of both passes the range
      Value largest = tiles.maximum(tile.running.ofQueries(tiles, tile.point, tile.first, rows),
                                    tiles.constant({rows}, 0x1p-120));
      q = tiles.over(q, tiles.expand(largest, 1, tiles.shape(q)));
    }
  }
  return loop(tiles, tiles.rescaledSums(carry.degree), from, end, rows, carried, [&](TileBuilder &inner, Value first, ValueRange before) {
    Value k = inner.cast((exact ? tile.key : tile.sketchedKey).load(inner, first, rows, end), f32);   // [Tk, d or r]
    Value t = inner.dot(q, k, inner.constant({rows, rows}, 0), false, true);                          // [Tq, Tk]
    if (exact)
      t = carry.degree == 2 ? evenPower(inner, t, tile.at.options.degree / 2) : t;
    else if (tile.running)
      t = inner.times(t, tile.running.ofPairs(inner, tile.point, tile.first, first, rows, end));
    if (diagonal)
      t = inner.mask(t, 0, Value(), Value(), inner.sub(tile.first, first));
    return carry.step(inner, before, t, tile.value.load(inner, first, rows, end));
  });
}

/// Pairs with the block's own keys, from `start` to the last that a query of the tile sees.
static SmallVector<Value> addOwnBlock(TileBuilder &tiles, const QueryTile &tile, const PowerCarry &carry, Value start,
                                      SmallVector<Value> carried) {
  const PolysketchOptions &options = tile.at.options;
  Value end = tiles.min(tiles.add(tile.first, tiles.index(tile.at.rows)), tile.limit);
  if (exactApart(options)) {
    PowerCarry own{tile.at.rows, carry.valueWidth, options.degree, unguarded(tiles)};
    SmallVector<Value> exact = addPairs(tiles, tile, own, start, end, own.start(tiles), /*exact=*/true, /*diagonal=*/true);
    bool guarded = options.guard.getBias() != 0 || options.guard.getFloor() != 0;
    ApartGuard guard{options.guard, guarded ? queryLengths(tiles, tile) : Value()};
    return mergeUnits(tiles, carried, exact, options.degree / 2, guard);
  }
  return addPairs(tiles, tile, carry, start, end, carried, tile.at.options.localExact.has_value(), /*diagonal=*/true);
}

static void finishTile(TileBuilder &tiles, const QueryTile &tile, const PowerCarry &carry, ValueRange carried,
                       Value blockEnd) {
  storeOutput(tiles, tile.frame, tile.at.problem, tile.point, tile.first, carry.finish(tiles, carried), blockEnd);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The states of pieces of the keys. Reading all keys for each slice would take them from memory r times.
static void buildPieces(BuildSite &site, const Sketches &at, const SketchState &pieces, Value count) {
  KernelFrame frame(site, at.problem, "pieces", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    at.values({pieces.state, pieces.sum, pieces.unit}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, at.problem);
  QueryTile tile = queryTile(tiles, at, frame, point);
  SketchState state = inKernel(frame, at, pieces);
  state.piece = tiles.programId(tile::Axis::KeyPiece);
  Value limit = keyLimit(frame, tiles, at.problem, point);
  TokenRange range = Pieces(at.problem, at.block).tokens(tiles, frame, state.piece, limit);
  state.clear(tiles, point);
  // Tiles of keys do not leave the blocks of a causal attention.
  int64_t step = at.problem.split ? at.block : keysOfSketchBlock;
  loop(tiles, tiles.sums(), range.first, range.end, step, {}, [&](TileBuilder &inner, Value first, ValueRange) {
    addToSlices(inner, tile, state, first, inner.min(inner.add(first, inner.index(step)), range.end), range.end);
    return SmallVector<Value>();
  });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(at.problem.query.memory, 0), host.index(at.problem.heads()), count});
}

/// The first `count` pieces, one after another: slice `f` of their sum.
static SmallVector<Value> sumOfPieces(TileBuilder &tiles, const SketchState &parts, const Point &point, Value f,
                                      Value count) {
  tile::CarryAttrInterface carry = SketchState::carry(tiles);
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) {
    SketchState part = parts;
    part.piece = piece;
    return carry.buildCompose(inner.builder, inner.loc, before, part.load(inner, point, f));
  };
  return loop(tiles, carry, tiles.index(0), count, 1, parts.empty(tiles), step);
}

/// All pieces, slice by slice.
static void buildMerge(BuildSite &site, const Sketches &at, const SketchState &pieces, const SketchState &result) {
  KernelFrame frame(site, at.problem, "merge", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::ValueBlock},
                    {pieces.state, pieces.sum, pieces.unit, result.state, result.sum, result.unit});
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, at.problem);
  SketchState state = inKernel(frame, at, result), parts = inKernel(frame, at, pieces);
  Value f = tiles.programId(tile::Axis::ValueBlock);
  state.store(tiles, point, f, sumOfPieces(tiles, parts, point, f, tiles.dim(parts.unit, 2)));
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(at.problem.query.memory, 0), host.index(at.problem.heads()), host.index(state.slices())});
}

static void buildSketchedState(BuildSite &site, const Sketches &at, const SketchState &state) {
  TileBuilder host(site.host, site.loc);
  Value count = Pieces(at.problem, at.block).count(host);
  SketchState pieces = allocateState(site, at, count);
  buildPieces(site, at, pieces, count);
  buildMerge(site, at, pieces, state);
}

static void buildReadout(BuildSite &site, const Sketches &at, const SketchState &hostState) {
  KernelFrame frame(site, at.problem, "readout", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    at.values({hostState.state, hostState.sum, hostState.unit}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, at.problem);
  QueryTile tile = queryTile(tiles, at, frame, point);
  tile.first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), at.rows);
  PowerCarry carry = carryOf(tiles, tile);
  finishTile(tiles, tile, carry, readState(tiles, tile, inKernel(frame, at, hostState), carry, Value()),
             Value());
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(at.problem.query.memory, 0), host.index(at.problem.heads()),
                      host.ceilDiv(host.dim(at.problem.query.memory, 2), at.rows)});
}

//===----------------------------------------------------------------------===//
// Chunked
//===----------------------------------------------------------------------===//

/// S, z and K at the beginning of a part: what the pieces before it sum up to.
static void startPart(TileBuilder &tiles, const SketchState &state, const SketchState &pieces, const Point &point,
                      Value count) {
  loop(tiles, tiles.sums(), tiles.index(0), tiles.index(state.slices()), 1, {},
       [&](TileBuilder &inner, Value f, ValueRange) -> SmallVector<Value> {
         state.store(inner, point, f, sumOfPieces(inner, pieces, point, f, count));
         return {};
       });
}

/// `hostPieces`: the states of the pieces, where parts of the sequence run side by side; the state has parts then.
static void buildBlocks(BuildSite &site, const Sketches &at, const SketchState &hostState, const SketchState *hostPieces) {
  Pieces cuts(at.problem, at.block);
  SmallVector<Value> memories{hostState.state, hostState.sum, hostState.unit};
  if (hostPieces)
    memories.append({hostPieces->state, hostPieces->sum, hostPieces->unit});
  KernelFrame frame(site, at.problem, "chunked", cuts.grid(), at.values(memories));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, at.problem);
  QueryTile tile = queryTile(tiles, at, frame, point);
  SketchState state = inKernel(frame, at, hostState);
  tile.limit = keyLimit(frame, tiles, at.problem, point);
  Value queries = tiles.dim(frame[at.problem.query.memory], 2);
  TokenRange tokens = cuts.tokensOfPoint(tiles, frame);
  if (hostPieces) {
    state.piece = tiles.programId(tile::Axis::KeyPiece);
    startPart(tiles, state, inKernel(frame, at, *hostPieces), point, cuts.countBefore(tiles));
  } else {
    state.clear(tiles, point);
  }
  auto block = [&](TileBuilder &outer, Value start, ValueRange) -> SmallVector<Value> {
    Value end = outer.min(outer.add(start, outer.index(at.block)), queries);
    loop(outer, outer.sums(), start, end, at.rows, {}, [&](TileBuilder &inner, Value first, ValueRange) {
      QueryTile here = tile;
      here.first = first;
      PowerCarry carry = carryOf(inner, here);
      SmallVector<Value> carried = readState(inner, here, state, carry, start);
      finishTile(inner, here, carry, addOwnBlock(inner, here, carry, start, carried), end);
      return SmallVector<Value>();
    });
    addToSlices(outer, tile, state, start, outer.min(end, tile.limit), end);
    return {};
  };
  loop(tiles, tiles.sums(), tokens.first, tokens.end, at.block, {}, block);
  TileBuilder host(site.host, site.loc);
  frame.finish(site, cuts.gridSizes(host, host.dim(at.problem.query.memory, 0), host.index(at.problem.heads())));
}

static void buildParts(BuildSite &site, const Sketches &at) {
  if (!at.problem.split)
    return buildBlocks(site, at, allocateState(site, at), nullptr);
  TileBuilder host(site.host, site.loc);
  Pieces cuts(at.problem, at.block);
  Value count = cuts.count(host);
  SketchState pieces = allocateState(site, at, count);
  buildPieces(site, at, pieces, count);
  buildBlocks(site, at, allocateState(site, at, cuts.partCount(host)), &pieces);
}

//===----------------------------------------------------------------------===//
// The mechanism
//===----------------------------------------------------------------------===//

static LogicalResult buildReaders(BuildSite &site, const Problem &problem, const PolysketchOptions &options, const KeyUnit &unit,
                         const Sketched &query, const Sketched &key) {
  if (options.form == "quadratic")
    return buildRegion(site, sketchedPairsRegion({problem, options, unit, query, key, tilesOf(problem, options)}));
  RunningUnit running{unit.lengths, unit.running, options.matrices.degree()};
  Sketches at{problem,     options,        query.tokens, key.tokens, query.columns,
              key.columns, query.lengths, unit.largest, running,    tilesOf(problem, options)};
  if (options.form == "chunked")
    return buildParts(site, at), success();
  SketchState state = allocateState(site, at);
  buildSketchedState(site, at, state);
  buildReadout(site, at, state);
  return success();
}

/// Workspaces for the sketches of `tokens`, sketched for H heads.
static Sketched allocateSketches(BuildSite &site, const Problem &problem, const Tokens &tokens,
                                 const PolysketchOptions &options, bool queries) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = problem.heads(), r = options.size;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(tokens.memory, 0), count = host.dim(tokens.memory, 2);
  Sketched result;
  bool once = productsOnce(problem, options);
  int64_t width = once ? r + r / 2 : r;
  result.tokens = {site.workspace({dynamic, heads, dynamic, width}, {batch, count}), 0, heads, r, {}};
  if (once) { // by the tiles of those who read columns
    result.grid = tilesOf(problem, options);
    result.columns = site.workspace({dynamic, heads, dynamic, r, result.grid.rows}, {batch, result.grid.count(host, count)});
  } else {
    int64_t rows = sketchSchedule(problem.schedule, tokens.width, r).getQueryTile();
    result.grid = {rows, rows};
  }
  if (queries)
    result.lengths = site.workspace({dynamic, heads, dynamic}, {batch, count});
  return result;
}

/// Those of queries or keys, in a kernel of their own.
static FailureOr<Sketched> sketchTokens(BuildSite &site, Problem problem, const Tokens &tokens,
                                        const PolysketchOptions &options, const KeyUnit &unit, bool queries) {
  Sketched result = allocateSketches(site, problem, tokens, options, queries);
  if (!result.columns)
    problem.schedule = sketchSchedule(problem.schedule, tokens.width, options.size);
  problem.name += queries ? "_query" : "_key";
  if (failed(buildRegion(site, sketchRegion(problem, tokens, options.matrices, queries ? options.scale : 1, unit, result))))
    return failure();
  return result;
}

/// The unit of lengths of keys, in a kernel of its own if there is one.
static FailureOr<KeyUnit> buildUnit(BuildSite &site, const Problem &problem, const PolysketchOptions &options) {
  KeyUnit unit;
  if (!sketchNeedsUnit(options.degree))
    return unit;
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  int64_t heads = problem.heads();
  Value batch = host.dim(problem.key.memory, 0), count = host.dim(problem.query.memory, 2);
  if (problem.causal) {
    unit.lengths = site.workspace({dynamic, heads, dynamic}, {batch, count});
    unit.running = site.workspace({dynamic, heads, dynamic}, {batch, count});
  } else {
    unit.largest = site.workspace({dynamic, heads}, batch);
  }
  if (failed(buildRegion(site, problem.causal ? runningUnitRegion(problem, options.matrices, unit)
                                              : largestKeyRegion(problem, unit))))
    return failure();
  return unit;
}

LogicalResult kernel::buildPolysketch(BuildSite &site, const Problem &problem, const PolysketchOptions &options) {
  FailureOr<KeyUnit> unit = buildUnit(site, problem, options);
  if (failed(unit))
    return failure();
  FailureOr<Sketched> query = sketchTokens(site, problem, problem.query, options, *unit, /*queries=*/true);
  FailureOr<Sketched> key = sketchTokens(site, problem, problem.key, options, *unit, /*queries=*/false);
  if (failed(query) || failed(key))
    return failure();
  return buildReaders(site, problem, options, *unit, *query, *key);
}
