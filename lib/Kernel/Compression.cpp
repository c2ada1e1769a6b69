//===- Compression.cpp - A sequence compressed to slots: E·K -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pieces:  parallel over (batch, KV head, piece × slot block)   [T, width] = Σ_j E [T, j] · k [j, width] over the piece
//   merge:   parallel over (batch, KV head, slot block)           the sum of the pieces, in their order
//
// A piece has a fixed number of keys, so the order of sums depends on N alone. Keys that do not exist are 0.
//
//===----------------------------------------------------------------------===//
#include "Compression.h"

#include "FeatureMaps.h"
#include "attune/Tile/KernelSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

int64_t kernel::slotCount(Value weight) {
  auto type = cast<MemRefType>(weight.getType());
  return type.getDimSize(type.getRank() == 4 ? 2 : 1);
}

Value kernel::loadSlotWeights(TileBuilder &tiles, Value weight, Value own, Value slot, Value token,
                              ArrayRef<int64_t> shape) {
  if (cast<MemRefType>(weight.getType()).getRank() == 3)
    return tiles.load(weight, {own, slot, token}, shape);
  Value block = tiles.div(token, tile::slotTokens);
  bool whole = shape[1] == tile::slotTokens;
  Value column = whole ? tiles.index(0) : tiles.sub(token, tiles.mul(block, tile::slotTokens));
  return tiles.load(weight, {own, block, slot, column}, shape);
}

using KeyBlocks = llvm::function_ref<Features(TileBuilder &tiles, Value first)>;
/// Σ_j E [T, j] · k [j, width] of the slots first … over the keys from ≤ j < end, block by block of the width, as products
/// of `operand`.
static SmallVector<Value> compress(TileBuilder &tiles, const Problem &problem, const Slots &slots,
                                   ArrayRef<int64_t> widths, KeyBlocks keys, Value weight, ValueRange place, Value from,
                                   Value end, Type operand) {
  int64_t keyTile = problem.keyTile();
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) {
    Value e = loadSlotWeights(inner, weight, place[0], place[1], j, {slots.tile, keyTile}); // [T, Tk]
    SmallVector<Value> next;
    for (auto [k, sum] : llvm::zip_equal(keys(inner, j), carried))                          // [Tk, width]
      next.push_back(inner.dot(inner.cast(e, operand), inner.cast(k, operand), sum));
    return next;
  };
  SmallVector<Value> zeros;
  for (int64_t width : widths)
    zeros.push_back(tiles.constant({slots.tile, width}, 0));
  return loop(tiles, tiles.sums(), from, end, keyTile, zeros, step);
}

/// The sums of the pieces into `pieces` [batch, heads, pieces, k, width].
static void buildPieces(BuildSite &site, const Problem &problem, const Slots &slots, const FeatureMap *map, Value weight,
                        Value pieces, Value count) {
  KernelFrame frame(site, problem, "compress", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key}, {weight, problem.lengths, pieces, map ? map->parameter : Value()}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value number = tiles.programId(tile::Axis::KeyPiece), c0 = tiles.index(0);
  Value piece = tiles.div(number, slots.blocks());
  Value slot = tiles.mul(tiles.sub(number, tiles.mul(piece, slots.blocks())), slots.tile);
  Value from = tiles.mul(piece, problem.schedule.getPiece());
  Value limit = keyLimit(frame, tiles, problem, point);
  Value end = tiles.min(tiles.add(from, tiles.index(problem.schedule.getPiece())), limit);
  TokenReader key(tiles, frame, problem, problem.key, point, slots.heads);
  std::optional<MapAtPoint> mapped;
  if (map)
    mapped.emplace(tiles, frame, problem, *map, point);
  auto keys = [&](TileBuilder &inner, Value j) -> Features {
    if (!mapped)
      return {key.load(inner, j, problem.keyTile(), limit)};
    Features features = mapped->features(inner, key, j, problem.keyTile(), Side::Key, limit);
    return clearRows(inner, features, inner.sub(limit, j));
  };
  SmallVector<int64_t, 2> widths = map ? MapAtPoint::blockWidths(*map) : SmallVector<int64_t, 2>{slots.width};
  Value head = slots.weightHeads > 1 ? tiles.div(point.head, slots.heads / slots.weightHeads) : c0;
  Type operand = map ? kernelOperand(problem, tiles) : problem.schedule.getOperand();
  SmallVector<Value> sums =
      compress(tiles, problem, slots, widths, keys, frame[weight], {head, slot}, from, end, operand);
  int64_t column = 0;
  for (auto [sum, width] : llvm::zip_equal(sums, widths)) {
    tiles.store(sum, frame[pieces], {point.batch, point.head, piece, slot, tiles.index(column)});
    column += width;
  }
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(slots.heads), host.mul(count, slots.blocks())});
}

void kernel::buildSlotMerge(BuildSite &site, const Problem &problem, const Slots &slots, Value pieces,
                            const Tokens &result) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {pieces, result.memory});
  TileBuilder &tiles = frame.tiles;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value slot = tiles.mul(tiles.programId(tile::Axis::QueryBlock), slots.tile), parts = frame[pieces];
  SmallVector<int64_t> shape{slots.tile, slots.width};
  auto step = [&](TileBuilder &inner, Value piece, ValueRange carried) -> SmallVector<Value> {
    return {inner.plus(carried[0], inner.load(parts, {batch, head, piece, slot, c0}, shape))};
  };
  Value sum = loop(tiles, tiles.sums(), c0, tiles.dim(parts, 2), 1, tiles.constant(shape, 0), step)[0];
  tiles.store(sum, frame[result.memory], {batch, head, slot, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(result.memory, 0), host.index(slots.heads), host.index(slots.blocks())});
}

void kernel::buildCompression(BuildSite &site, const Problem &problem, Value weight, const Tokens &result,
                              const FeatureMap *map) {
  auto shape = cast<MemRefType>(weight.getType());
  int64_t count = slotCount(weight);
  Slots slots{count, std::min(count, problem.schedule.getQueryTile()), result.width, result.heads,
              shape.getDimSize(0)};
  TileBuilder host(site.host, site.loc);
  Value pieces = host.ceilDiv(tokenCount(host, problem.key.memory), problem.schedule.getPiece());
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value sums = site.workspace({dynamic, slots.heads, dynamic, count, slots.width},
                              {host.dim(problem.key.memory, 0), pieces});
  buildPieces(site, problem, slots, map, weight, sums, pieces);
  buildSlotMerge(site, problem, slots, sums, result);
}
