//===- CompressionRegion.cpp - Low-rank compression of tokens ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   compress:       parallel over (batch, head, block of compressed tokens, piece)    [T, width] = Σ_j E [T, j] · k [j, width]
//   compress_input: parallel over (batch, head of E × 64 columns, block, piece)       [T, 64] = Σ_j E [T, j] · x [j, 64]
//   compress_transposed: parallel over (batch, head, token block)    [Tk, width] = Σ_i E [T, Tk]ᵀ · c [T, width]
//   compress_gradient:   parallel over (head of E, block of compressed tokens, token block)    [T, Tk] = Σ_batch Σ_head c [T, width] · x [Tk, width]ᵀ
//   merge:          of either, the pieces in their order (tile-split-reduction)
//   slot_sums:      parallel over (batch, head of E, block)    [T] = Σ_j E [T, j] over the tokens that exist, for a bias
//   project_slots:  parallel over (batch, KV head, block)      [T, d] = Σ_D (E x) [T, 64] · W [64, d of the head] + sums βᵀ
//
// A piece has a fixed number of tokens, so the order of sums depends on N alone. Tokens that do not exist are 0, and not in the sums, so
// that a bias weighs as much as before E.
//
//===----------------------------------------------------------------------===//
#include "CompressionRegion.h"

#include "BatchSums.h"
#include "KeyStage.h"
#include "Terms.h"
#include "attune/Attn/CompressFirst.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static int64_t sizeOf(Value memory, unsigned dimension) { return cast<MemRefType>(memory.getType()).getDimSize(dimension); }

//===----------------------------------------------------------------------===//
// E
//===----------------------------------------------------------------------===//

namespace {
/// A weight [W, k, N], or packed [W, N / 64, k, 64], of which kernels with so many heads take blocks of rows.
struct Weight {
  Weight(Value memory, int64_t heads) : memory(memory), packed(cast<MemRefType>(memory.getType()).getRank() == 4) {
    int64_t own = sizeOf(memory, 0);
    head = own > 1 ? Dimension{Axis::Head, heads / own} : Dimension{};
  }

  unsigned rows() const { return packed ? 2 : 1; }
  int64_t count() const { return sizeOf(memory, rows()); }
  /// E [T, Tk] of the head at the site; of packed weights Tk divides 64 and the first token.
  Source tile(int64_t keys) const;

  Value memory;
  bool packed;
  Dimension head;
};
} // namespace

Source Weight::tile(int64_t keys) const {
  Dimension token{Axis::Key, 1, 0, 1, keys};
  if (!packed)
    return fusion::memory(memory, {head, rowsOf(Axis::Query), token});
  token.modulo = tile::slotTokens;
  Dimension column = keys == tile::slotTokens ? columnsOf(keys) : token;
  return fusion::memory(memory, {head, {Axis::Key, tile::slotTokens}, rowsOf(Axis::Query), column});
}

/// Compressed tokens are the rows of the axis of queries.
static void setRows(RegionPlanner &plan, Value memory, unsigned dimension, int64_t heads) {
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query] = {memory, dimension};
  (*extents)[Axis::Head].count = heads;
  plan.extents = extents;
}

static KernelRegion regionOf(const RegionPlanner &plan, StringRef suffix, int64_t count) {
  KernelRegion region = stateKernel(plan, suffix);
  int64_t rows = std::min(count, plan.problem.schedule.getQueryTile());
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, rows});
  return region;
}

/// The stage over tokens, in pieces that a kernel of its own merges.
static Stage piecesOf(const RegionPlanner &plan) {
  Stage stage = existingKeys(plan);
  stage.cut = StageCut{plan.problem.schedule.getPiece(), plan.problem.name + "_merge"};
  return stage;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

KernelRegion kernel::compressionRegion(const Problem &problem, Value weight, const Tokens &result, Source features,
                                       ArrayRef<int64_t> widths) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Weight e(weight, result.heads);
  setRows(plan, weight, e.rows(), result.heads);
  Source tokens = features ? term(terms::existing(Axis::Key), {features})
                           : plan.tokens(problem.key, Axis::Key, Axis::Head, result.heads);
  bool wide = features && needsWideProducts(problem);
  Source sums = stream(piecesOf(plan), {terms::compress(widths, wide), {e.tile(problem.keyTile()), tokens}});
  KernelRegion region = regionOf(plan, "compress", e.count());
  int64_t column = 0;
  for (auto [number, width] : llvm::enumerate(widths)) {
    Dimension columns = columnsOf(width);
    columns.add = column, column += width;
    region.outputs.push_back({sums, result.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), columns},
                              static_cast<unsigned>(number)});
  }
  return region;
}

KernelRegion kernel::compressionTransposeRegion(const Problem &problem, const Tokens &slots, Value weight, const Tokens &result) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  Weight e(weight, result.heads);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = result.heads;
  (*extents)[Axis::Key] = {e.packed ? result.memory : weight, 2, 0, problem.lengths};
  plan.extents = extents;
  Stage rows{Axis::Query, problem.queryTile(), {{"slots", Border::Begin, Border::End, false}}, extents};
  Source c = plan.tokens(slots, Axis::Query, Axis::Head, result.heads);
  bool wide = needsWideProducts(problem);
  Source sums = stream(rows, {terms::transposedSums({result.width}, wide), {e.tile(problem.keyTile()), c}});
  Dimension every = rowsOf(Axis::Key);
  if (problem.lengths) {
    sums = term(terms::existing(Axis::Key), {sums});
    every.limit = Index::size(result.memory, 2);
  }
  KernelRegion region = stateKernel(plan, "compress_transposed");
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  region.outputs = {{sums, result.memory, {entryOf(Axis::Batch), {Axis::Head, 1, result.firstHead}, every, columnsOf(result.width)}}};
  return region;
}

KernelRegion kernel::compressionWeightRegion(const Problem &problem, ArrayRef<CompressionPair> pairs, Value weight) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  int64_t own = sizeOf(weight, 0);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::SharedHead].count = own;
  (*extents)[Axis::Key] = {weight, 2};
  plan.extents = extents;
  SmallVector<int64_t, 2> shape{problem.queryTile(), problem.keyTile()};
  Source all;
  for (const CompressionPair &pair : pairs) {
    SmallVector<Source> blocks;
    int64_t column = 0;
    for (int64_t width : pair.widths) {
      Dimension columns = columnsOf(width);
      columns.add = column, column += width;
      blocks.push_back(plan.tokens(pair.slots, Axis::Query, Axis::Head, pair.heads, columns));
    }
    Source c = blocks.size() == 1 ? blocks.front() : term(terms::blocks(), blocks), x = pair.tokens;
    if (pair.lengths)
      x = term(terms::rowsBefore(Axis::Key, Index::length(pair.lengths, Index::size(weight, 2))), {x});
    Source products = term(terms::logits(Representation::Plain, 1, needsWideProducts(problem)), {c, x});
    Source sums = sumOfBatch(plan, sumOfHeads(plan, products, pair.heads / own, shape), shape);
    all = all ? term(terms::plus(), {all, sums}) : sums;
  }
  GridAxis head{Axis::SharedHead, tile::Axis::Head}, slots{Axis::Query, tile::Axis::QueryBlock, problem.queryTile()};
  GridAxis keys{Axis::Key, tile::Axis::KeyPiece, problem.keyTile()};
  KernelRegion region{problem.name, "compress_gradient", problem.schedule, {head, slots, keys}, extents, {}};
  Dimension tokens{Axis::Key, 1, 0, 1, problem.keyTile()};
  region.outputs = {{all, weight, {entryOf(Axis::SharedHead), rowsOf(Axis::Query), tokens}}};
  return region;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

CompressedInput kernel::allocateInput(BuildSite &site, Value x, Value weight) {
  int64_t columns = std::min(attn::inputColumns, sizeOf(x, 2)), heads = sizeOf(weight, 0), count = Weight(weight, heads).count();
  int64_t blocks = llvm::divideCeil(sizeOf(x, 2), columns);
  TileBuilder host(site.host, site.loc);
  return {site.workspace({ShapedType::kDynamic, heads, blocks, count, columns}, host.dim(x, 0)), Value()};
}

KernelRegion kernel::inputCompressionRegion(const Problem &problem, Value weight, const CompressedInput &result) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  int64_t blocks = sizeOf(result.slots, 2), columns = sizeOf(result.slots, 4), heads = sizeOf(result.slots, 1) * blocks;
  Weight e(weight, heads);
  e.head = {Axis::Head, blocks};
  setRows(plan, weight, e.rows(), heads);
  Dimension block{Axis::Head}, model{Axis::Head, 1, 0, columns, columns};
  block.modulo = model.modulo = blocks;
  Source x = fusion::memory(problem.key.memory, {entryOf(Axis::Batch), rowsOf(Axis::Key), model});
  Source sums = stream(piecesOf(plan), {terms::compress(columns, /*wide=*/false), {e.tile(problem.keyTile()), x}});
  KernelRegion region = regionOf(plan, "compress_input", e.count());
  region.outputs = {{sums, result.slots, {entryOf(Axis::Batch), e.head, block, rowsOf(Axis::Query), columnsOf(columns)}}};
  return region;
}

KernelRegion kernel::weightSumsRegion(const Problem &problem, Value weight, Value result) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Weight e(weight, sizeOf(weight, 0));
  e.head = entryOf(Axis::Head);
  setRows(plan, weight, e.rows(), sizeOf(weight, 0));
  Source sums = stream(existingKeys(plan), {terms::weightSums(), {e.tile(problem.keyTile())}});
  KernelRegion region = regionOf(plan, "slot_sums", e.count());
  region.outputs = {{sums, result, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)}}};
  return region;
}

KernelRegion kernel::slotProjectionRegion(const Problem &problem, const CompressedInput &input, const TokenProjection &projection,
                                          const Tokens &result) {
  Problem slots = problem;
  slots.query = Tokens{input.slots, 0, result.heads, result.width, {}};
  RegionPlanner plan(slots, RegionPlanner::OfQueries);
  setRows(plan, input.slots, 3, result.heads);
  int64_t own = sizeOf(input.slots, 1), columns = sizeOf(input.slots, 4), width = result.width;
  Dimension head = own > 1 ? Dimension{Axis::Head, result.heads / own} : Dimension{}, ofHead{Axis::Head, 1, 0, width, width};
  Dimension model{Axis::Model, 1, 0, columns, columns};
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Model].count = sizeOf(input.slots, 2);
  bool prepared = cast<MemRefType>(projection.weight.getType()).getRank() == 3;
  Source a = fusion::memory(input.slots, {entryOf(Axis::Batch), head, entryOf(Axis::Model), rowsOf(Axis::Query), columnsOf(columns)});
  Source w = prepared ? fusion::memory(projection.weight, {entryOf(Axis::Head), model, columnsOf(width)})
                      : fusion::memory(projection.weight, {model, ofHead});
  // On a CPU the sums keep what they have: the slots are keys, of which exponents are made.
  bool wide = problem.schedule.getTarget() == tile::TargetKind::CPU;
  Stage blocks{Axis::Model, 1, {{"all", Border::Begin, Border::End, false}}, extents};
  Source y = stream(blocks, {terms::contract(Axis::Query, width, wide), {a, w}});
  if (projection.bias) {
    Source s = fusion::memory(input.sums, {entryOf(Axis::Batch), head, rowsOf(Axis::Query)});
    y = term(terms::addScaledBias(), {y, s, fusion::memory(projection.bias, {ofHead})});
  }
  KernelRegion region = regionOf(plan, "project_slots", sizeOf(input.slots, 3));
  region.outputs = {{y, result.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), columnsOf(width)}}};
  return region;
}
