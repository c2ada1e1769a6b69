//===- InputCompression.cpp - The input compressed to slots, then projected ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pieces:   parallel over (batch, head of E × 64 columns, piece × slot block)   [T, 64] = Σ_j E [T, j] · x [j, 64]
//   merge:    the sum of the pieces, in their order (Compression.cpp)
//   sums:     parallel over (batch, head of E, slot block)    [T] = Σ_j E [T, j] over the tokens that exist, for a bias
//   slots:    parallel over (batch, KV head, slot block)      [T, d] = Σ_D (E x) [T, 64] · W [64, d of the head] + sums βᵀ
//
// Tokens that do not exist are 0 and are not in the sums, so that a bias weighs as much as before E.
//
//===----------------------------------------------------------------------===//
#include "Compression.h"

#include "attune/Attn/CompressFirst.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static constexpr int64_t dynamic = ShapedType::kDynamic;

static int64_t sizeOf(Value memory, unsigned dimension) { return cast<MemRefType>(memory.getType()).getDimSize(dimension); }

/// The slots of E x, a head for each block of columns.
static Slots slotsOf(const Problem &problem, Value x, Value weight) {
  int64_t count = slotCount(weight), columns = std::min(attn::inputColumns, sizeOf(x, 2));
  int64_t heads = sizeOf(weight, 0) * llvm::divideCeil(sizeOf(x, 2), columns);
  return {count, std::min(count, problem.schedule.getQueryTile()), columns, heads, sizeOf(weight, 0)};
}

/// Tokens of a batch entry that exist.
static Value tokensOf(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, Value x, Value batch) {
  Value count = tiles.dim(frame[x], 1);
  return problem.lengths ? lengthOf(frame, tiles, problem, batch, count) : count;
}

/// The sums of the pieces into `pieces` [batch, heads of E · blocks, pieces, k, columns].
static void buildPieces(BuildSite &site, const Problem &problem, const Slots &slots, Value x, Value weight, Value pieces,
                        Value count) {
  KernelFrame frame(site, problem, "compress_input", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    {x, weight, problem.lengths, pieces});
  TileBuilder &tiles = frame.tiles;
  int64_t blocks = slots.heads / slots.weightHeads, rows = problem.keyTile();
  Type operand = problem.schedule.getOperand();
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value own = tiles.div(head, blocks), column = tiles.mul(tiles.sub(head, tiles.mul(own, blocks)), slots.width);
  Value number = tiles.programId(tile::Axis::KeyPiece), piece = tiles.div(number, slots.blocks());
  Value slot = tiles.mul(tiles.sub(number, tiles.mul(piece, slots.blocks())), slots.tile);
  Value from = tiles.mul(piece, problem.schedule.getPiece());
  Value limit = tokensOf(frame, tiles, problem, x, batch);
  Value end = tiles.min(tiles.add(from, tiles.index(problem.schedule.getPiece())), limit);
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) -> SmallVector<Value> {
    Value e = loadSlotWeights(inner, frame[weight], own, slot, j, {slots.tile, rows});      // [T, Tk]
    Value tokens = inner.load(frame[x], {batch, j, column}, {rows, slots.width}, limit);      // [Tk, 64]
    return {inner.dot(inner.cast(e, operand), inner.cast(tokens, operand), carried[0])};
  };
  Value zero = tiles.constant({slots.tile, slots.width}, 0);
  Value sum = loop(tiles, tiles.sums(), from, end, rows, zero, step)[0];                  // [T, 64]
  tiles.store(sum, frame[pieces], {batch, head, piece, slot, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(x, 0), host.index(slots.heads), host.mul(count, slots.blocks())});
}

CompressedInput kernel::buildInputCompression(BuildSite &site, const Problem &problem, Value x, Value weight) {
  Slots slots = slotsOf(problem, x, weight);
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(x, 0), pieces = host.ceilDiv(host.dim(x, 1), problem.schedule.getPiece());
  Value sums = site.workspace({dynamic, slots.heads, dynamic, slots.count, slots.width}, {batch, pieces});
  Tokens result{site.workspace({dynamic, slots.heads, slots.count, slots.width}, batch), 0, slots.heads, slots.width, {}};
  buildPieces(site, problem, slots, x, weight, sums, pieces);
  buildSlotMerge(site, problem, slots, sums, result);
  return {result, Value(), slots.weightHeads};
}

Value kernel::buildSlotSums(BuildSite &site, const Problem &problem, Value x, Value weight) {
  Slots slots = slotsOf(problem, x, weight);
  TileBuilder host(site.host, site.loc);
  Value result = site.workspace({dynamic, slots.weightHeads, slots.count}, host.dim(x, 0));
  KernelFrame frame(site, problem, "slot_sums", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {x, weight, problem.lengths, result});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.keyTile();
  Value batch = tiles.programId(tile::Axis::Batch), own = tiles.programId(tile::Axis::Head);
  Value slot = tiles.mul(tiles.programId(tile::Axis::QueryBlock), slots.tile);
  Value limit = tokensOf(frame, tiles, problem, x, batch);
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) -> SmallVector<Value> {
    Value e = loadSlotWeights(inner, frame[weight], own, slot, j, {slots.tile, rows});      // [T, Tk]
    Value existing = inner.mask(inner.cast(e, inner.builder.getF32Type()), 0, Value(), inner.sub(limit, j), Value());
    return {inner.plus(carried[0], inner.reduceAdd(existing, 1))};                            // [T]
  };
  Value sum = loop(tiles, tiles.sums(), tiles.index(0), limit, rows, tiles.constant(slots.tile, 0), step)[0];
  tiles.store(sum, frame[result], {batch, own, slot});
  frame.finish(site, {host.dim(x, 0), host.index(slots.weightHeads), host.index(slots.blocks())});
  return result;
}

void kernel::buildSlotProjection(BuildSite &site, const Problem &problem, const CompressedInput &input, Value weight,
                                 Value bias, const Tokens &result) {
  KernelFrame frame(site, problem, "project_slots", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {input.slots.memory, input.sums, weight, bias, result.memory});
  TileBuilder &tiles = frame.tiles;
  int64_t count = sizeOf(result.memory, 2), rows = std::min(count, problem.schedule.getQueryTile());
  int64_t columns = input.slots.width, blocks = input.slots.heads / input.weightHeads, width = result.width;
  // On a CPU the sums keep what they have: the slots are keys, of which exponents are made.
  bool gpu = problem.schedule.getTarget() == tile::TargetKind::GPU;
  Type operand = gpu ? problem.schedule.getOperand() : Type(tiles.builder.getF32Type());
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value slot = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows), column = tiles.mul(head, width);
  Value own = input.weightHeads > 1 ? tiles.div(head, result.heads / input.weightHeads) : c0;
  bool prepared = cast<MemRefType>(weight.getType()).getRank() == 3;
  auto step = [&](TileBuilder &inner, Value block, ValueRange carried) -> SmallVector<Value> {
    Value source = inner.add(inner.mul(own, blocks), block), model = inner.mul(block, columns);
    Value a = inner.load(frame[input.slots.memory], {batch, source, slot, c0}, {rows, columns}); // [T, 64]
    SmallVector<Value, 3> place{model, column};
    if (prepared)
      place = {head, model, c0};
    Value w = inner.load(frame[weight], place, {columns, width});                               // [64, d]
    return {inner.dot(inner.cast(a, operand), inner.cast(w, operand), carried[0])};
  };
  Value zero = tiles.constant({rows, width}, 0);
  Value projected = loop(tiles, tiles.sums(), c0, tiles.index(blocks), 1, zero, step)[0];   // [T, d]
  if (bias) {
    Value b = tiles.cast(tiles.load(frame[bias], column, width), tiles.builder.getF32Type());   // [d]
    Value s = tiles.load(frame[input.sums], {batch, own, slot}, rows);                          // [T]
    SmallVector<int64_t> shape{rows, width};
    projected = tiles.plus(projected, tiles.times(tiles.expand(s, 1, shape), tiles.expand(b, 0, shape)));
  }
  tiles.store(projected, frame[result.memory], {batch, head, slot, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(result.memory, 0), host.index(result.heads), host.index(llvm::divideCeil(count, rows))});
}
