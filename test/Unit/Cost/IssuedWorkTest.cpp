//===- IssuedWorkTest.cpp - What a GPU's instructions do, worked by hand --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a GPU's schedule products and near bytes are counts of instructions: rows of products are padded to 16 for each
// row of the grid of warps, columns to 8 for each column of it, depths to 16 (8 on tf32); memory is read as far as it
// exists.
//
//===----------------------------------------------------------------------===//
#include "IssuedShapes.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class IssuedWork : public cost::test::IssuedShapes {
protected:
  /// Four warps in one column.
  llvm::SmallVector<KernelWork, 3> work(const AttentionShape &shape, mlir::Type storage, int64_t queryTile = 64,
                                        int64_t keyTile = 64, int64_t piece = 2048, int64_t warpColumns = 1,
                                        int64_t stages = 2) {
    return attentionWork(shape, tile::ScheduleAttr::get(&context, tile::TargetKind::GPU, queryTile, keyTile, piece,
                                                        storage, /*warps=*/4, stages, warpColumns, /*parts=*/2));
  }
};
} // namespace

TEST_F(IssuedWork, ProductsArePadded) {
  // 70 queries and 90 keys: 2 · 2 tiles. Scores 64 × 64 of depth 20, padded to 32; output 64 × 12, padded to 16, of 64.
  auto kernels = work(shape(Family::Softmax, Form::Online, 70, 90, 2), f16());
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].work.products, 4 * (64 * 64 * 32 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.tf32Products, 0);
  // Loads end with the sequence: q and o once, k and v once for each of the two tiles of queries.
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * (70 * (20 + 12) + 2 * 90 * (20 + 12)));
}

TEST_F(IssuedWork, RowsOfWholePiecesAreWide) {
  // In f32 rows of 20 and 12 are 80 and 48 bytes, whole pieces of 16; in f16 they are 40 and 24.
  WorkEstimate wide = work(shape(Family::Softmax, Form::Online, 70, 90, 4), f32())[0].work;
  EXPECT_EQ(wide.wideBytes, wide.nearBytes);
  AttentionShape narrow = shape(Family::Softmax, Form::Online, 70, 90, 2);
  EXPECT_EQ(work(narrow, f16())[0].work.wideBytes, 0);
  // Queries of 24 are 48 bytes, and so are keys; the rest is values.
  narrow.width = 24;
  EXPECT_EQ(work(narrow, f16())[0].work.wideBytes, 2 * 24 * (70 + 2 * 90));
  // Of two states of 20 rows 12 numbers of f32 are wide, and the sum beside each is not.
  auto kernels = work(shape(Family::Kernel, Form::State, 70, 70, 2), bf16(), 64, 64, /*piece=*/64);
  EXPECT_EQ(kernels[0].work.wideBytes, 2 * 4 * 20 * 12);
  EXPECT_EQ(kernels[1].work.wideBytes, 3 * 4 * 20 * 12);
}

TEST_F(IssuedWork, HeadsBeginWhereTheyBegin) {
  // Weights [64, 2 · 20] of f16: 80 bytes a row, of which the second head has those from 40 on. Read for two tiles of
  // tokens.
  AttentionShape project = shape(Family::Project, Form::Online, 70, 70, 2);
  project.model = 64, project.heads = 2;
  WorkEstimate each = work(project, f16())[0].work;
  EXPECT_EQ(each.nearBytes - each.wideBytes, 2 * 2 * 64 * 20);
  // As every second one does, of however many.
  project.heads = project.sharedHeads = 2147483646;
  each = work(project, f16())[0].work;
  EXPECT_EQ(each.nearBytes - each.wideBytes, 2 * 2 * 64 * 20 * 1073741823.0);
  project.heads = project.sharedHeads = 2;
  // In f32 it begins at 80 of 160 bytes, five pieces of 16.
  project.elementBytes = project.queryBytes = project.keyBytes = 4;
  each = work(project, f32())[0].work;
  EXPECT_EQ(each.nearBytes, each.wideBytes);
}

TEST_F(IssuedWork, F32TakesThreeProductsOfTf32) {
  // Depth 20 is padded to 24.
  auto kernels = work(shape(Family::Softmax, Form::Online, 70, 90, 4), f32());
  EXPECT_EQ(kernels[0].work.products, 3 * 4 * (64 * 64 * 24 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.tf32Products, kernels[0].work.products);
}

TEST_F(IssuedWork, WarpsInColumnsSharePadding) {
  // A grid of 1 × 4 warps: rows are padded to 16 only, columns to 32.
  auto kernels = work(shape(Family::Softmax, Form::Online, 16, 16, 2), f16(), 16, 16, 2048, /*warpColumns=*/4);
  EXPECT_EQ(kernels[0].work.products, 16 * 32 * 32 + 16 * 32 * 16);
  kernels = work(shape(Family::Softmax, Form::Online, 16, 16, 2), f16(), 16, 16);
  EXPECT_EQ(kernels[0].work.products, 64 * 16 * 32 + 64 * 16 * 16);
}

TEST_F(IssuedWork, CausalTilesAreSkipped) {
  // 150 tokens in 3 tiles: 1 + 2 + 3 pairs, of which the last one alone ends with the sequence: 384 − 42 keys.
  AttentionShape causal = shape(Family::Softmax, Form::Online, 150, 150, 2);
  causal.causal = true;
  auto kernels = work(causal, f16());
  EXPECT_EQ(kernels[0].work.products, 6 * (64 * 64 * 32 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 32 * (150 + 342));
  // 100 queries see the last 100 of 150 keys: up to 114 and 150 of them, in 2 and 3 tiles. The first ends at 128.
  causal.queries = 100;
  kernels = work(causal, f16());
  EXPECT_EQ(kernels[0].work.products, 5 * (64 * 64 * 32 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 32 * (100 + 128 + 150));
}

TEST_F(IssuedWork, FeaturesOfF16AreTf32) {
  // Weights of kernel attention pass the range of f16, so its products are of tf32, one each; those of bf16 are of bf16.
  AttentionShape features = shape(Family::Kernel, Form::Quadratic, 64, 64, 2);
  auto half = work(features, f16())[0].work, brain = work(features, bf16())[0].work;
  EXPECT_EQ(half.products, 64 * 64 * 24 + 64 * 16 * 64);
  EXPECT_EQ(half.tf32Products, half.products);
  EXPECT_EQ(brain.products, 64 * 64 * 32 + 64 * 16 * 64);
  EXPECT_EQ(brain.tf32Products, 0);
}

TEST_F(IssuedWork, StatesThatAreNotStored) {
  // 70 keys in two tiles: 20 × 12 padded to 64 × 16. Two tiles of queries on the state, in tf32: depth 20 padded to 24.
  AttentionShape fused = shape(Family::Kernel, Form::State, 70, 70, 2);
  fused.fused = true;
  auto kernels = work(fused, bf16(), 64, 64, /*piece=*/64);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].work.products, 2 * 64 * 16 * 64 + 2 * 64 * 16 * 24);
  EXPECT_EQ(kernels[0].work.tf32Products, 2 * 64 * 16 * 24);
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 70 * (20 + 20 + 12 + 12));
}

TEST_F(IssuedWork, StatesMergedByTheirLastPiece) {
  // As below, in one kernel: two states written and read, one written; each of two pieces exchanges a counter twice.
  AttentionShape merged = shape(Family::Kernel, Form::State, 70, 70, 2);
  merged.merged = true;
  auto kernels = work(merged, bf16(), 64, 64, /*piece=*/64);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].work.products, 2 * 64 * 16 * 64);
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 70 * 32 + 5 * 4 * 20 * 13 + 2 * 2 * 8);
}

TEST_F(IssuedWork, States) {
  // 70 keys in two pieces of 64: states of 20 × 12, from products padded to 64 × 16, with a sum each.
  AttentionShape state = shape(Family::Kernel, Form::State, 70, 70, 2);
  auto kernels = work(state, bf16(), 64, 64, /*piece=*/64);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.products, 2 * 64 * 16 * 64);
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 70 * 32 + 2 * 4 * 20 * 13);
  // Two states read, one written.
  EXPECT_EQ(kernels[1].work.products, 0);
  EXPECT_EQ(kernels[1].work.nearBytes, 3 * 4 * 20 * 13);
  // Two tiles of queries. The features are f32 there, and so is the state; each of the four warps reads all sums.
  EXPECT_EQ(kernels[2].work.products, 2 * 64 * 16 * 24);
  EXPECT_EQ(kernels[2].work.tf32Products, kernels[2].work.products);
  EXPECT_EQ(kernels[2].work.nearBytes, 2 * 70 * 32 + 2 * 4 * (20 * 12 + 4 * 20));
}

TEST_F(IssuedWork, Chunked) {
  // 70 tokens in two chunks of 64. Of tf32: features by the state. Of bf16: pairs, weights by values, keys by values.
  AttentionShape chunked = shape(Family::Kernel, Form::Chunked, 70, 70, 2);
  chunked.causal = true;
  auto kernels = work(chunked, bf16());
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].work.tf32Products, 2 * 64 * 16 * 24);
  EXPECT_EQ(kernels[0].work.products, 2 * (64 * 16 * 24 + 64 * 64 * 32 + 64 * 16 * 64 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 70 * (20 + 20 + 12 + 12));
}

TEST_F(IssuedWork, GroupsOfChunksShareTheirKeys) {
  // Four query heads of two key-value heads. Of each of the other two: keys and values of 70 tokens, and their product.
  AttentionShape chunked = shape(Family::Kernel, Form::Chunked, 70, 70, 2);
  chunked.causal = true, chunked.heads = 4, chunked.sharedHeads = chunked.featureHeads = 2;
  WorkEstimate apart = work(chunked, bf16())[0].work;
  chunked.grouped = true;
  WorkEstimate grouped = work(chunked, bf16())[0].work;
  EXPECT_EQ(apart.nearBytes - grouped.nearBytes, 2 * 2 * 70 * (20 + 12));
  EXPECT_EQ(apart.products - grouped.products, 2 * 2 * 64 * 16 * 64);
}

TEST_F(IssuedWork, FoldedProjectionsKeepTheBitsOfTheirWeights) {
  // 70 tokens of a model of 64, to one head of 20: in two tiles, W is read twice. Folded it is f32, and three products of tf32.
  AttentionShape project = shape(Family::Project, Form::Online, 70, 70, 2);
  project.model = 64;
  WorkEstimate apart = work(project, f16())[0].work;
  EXPECT_EQ(apart.nearBytes, 2 * 64 * (70 + 2 * 20) + 4 * 70 * 20);
  EXPECT_EQ(apart.products, 2 * 64 * 24 * 64);
  project.queryFolded = true;
  WorkEstimate folded = work(project, f16())[0].work;
  EXPECT_EQ(folded.nearBytes - apart.nearBytes, 2 * 64 * 2 * 20);
  EXPECT_EQ(folded.products, 3 * apart.products);
}

TEST_F(IssuedWork, RandomFeaturesKeepAllBits) {
  // 8 features of favor_relu. ω is stored in 16 bits, which are tf32 numbers, so that two products do.
  AttentionShape features = shape(Family::Kernel, Form::Quadratic, 64, 64, 2);
  features.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::FavorRelu, /*features=*/8);
  features.features = 8;
  auto kernels = work(features, bf16());
  double map = 64 * 8 * 24; // of the queries, and of the keys
  EXPECT_EQ(kernels[0].work.tf32Products, 2 * 2 * map);
  EXPECT_EQ(kernels[0].work.products, 2 * 2 * map + 64 * 64 * 16 + 64 * 16 * 64);
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * (64 * 64 + 8 * 20));
  // In f32 there are three.
  features.elementBytes = features.queryBytes = features.keyBytes = 4;
  EXPECT_EQ(work(features, f32())[0].work.products, 3 * (2 * map + 64 * 64 * 8 + 64 * 16 * 64));
}

TEST_F(IssuedWork, WithoutStagesOmegaIsLoadedForEachProduct) {
  // 150 queries and 200 keys, tiles of 64: ω of 8 · 20 for three tiles of queries, and for four of keys of each of them.
  AttentionShape features = shape(Family::Kernel, Form::Quadratic, 150, 200, 4);
  features.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::FavorRelu, /*features=*/8);
  features.features = 8;
  auto bytes = [&](int64_t stages) { return work(features, f32(), 64, 64, 2048, 1, stages)[0].work.nearBytes; };
  EXPECT_EQ(bytes(1), bytes(2));
  EXPECT_EQ(bytes(0) - bytes(1), 4 * 8 * 20 * 3 * 4);
  // A state in two pieces of two tiles; the readout reads ω once a tile in any case.
  features.form = Form::State;
  auto kernels = work(features, f32(), 64, 64, 128, 1, 0), kept = work(features, f32(), 64, 64, 128);
  EXPECT_EQ(kernels[0].work.nearBytes - kept[0].work.nearBytes, 4 * 8 * 20 * (4 - 2));
  EXPECT_EQ(kernels[2].work.nearBytes, kept[2].work.nearBytes);
}

TEST_F(IssuedWork, Windows) {
  // 98 tokens in two windows of 49, a tile each: rows padded to 64, columns to 56, depth 49 to 64.
  AttentionShape windowed = shape(Family::Softmax, Form::Online, 98, 98, 2);
  windowed.window = 49;
  auto kernels = work(windowed, f16());
  EXPECT_EQ(kernels[0].work.products, 2 * (64 * 56 * 32 + 64 * 16 * 64));
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 98 * (20 + 20 + 12 + 12));
  // Three taps of v on either side of each token, inside the window: 49 + 2 · 48 rows each, and the weights of 12 channels.
  windowed.taps = 3, windowed.tapBytes = 2, windowed.tapsInWindow = true;
  EXPECT_EQ(work(windowed, f16())[0].work.nearBytes - kernels[0].work.nearBytes, 2 * 2 * 12 * (49 + 2 * 48 + 3));
}

TEST_F(IssuedWork, GroupsReadTheirKeysOnceAHead) {
  AttentionShape grouped = shape(Family::Softmax, Form::Online, 64, 64, 2);
  grouped.heads = 4, grouped.sharedHeads = 2;
  EXPECT_EQ(work(grouped, f16())[0].work.nearBytes, 4 * 2 * 64 * 64);
}

TEST_F(IssuedWork, RopeReadsItsTablesOnceABlock) {
  // High and low parts of 20 frequencies and as many signs, by each of the four warps.
  AttentionShape turned = shape(Family::Softmax, Form::Online, 64, 64, 2);
  double plain = work(turned, f16())[0].work.nearBytes;
  turned.queryRope = turned.keyRope = true;
  EXPECT_EQ(work(turned, f16())[0].work.nearBytes - plain, 4 * 4 * 3 * 20);
}

TEST_F(IssuedWork, Polysketch) {
  // Degree 4, r = 8: two leaves of 20 · 8 and a node of two 8 · 8. Products of f32 are of tf32 in 16-bit storage.
  AttentionShape sketched = shape(Family::Polysketch, Form::Quadratic, 64, 64, 2);
  sketched.degree = 4, sketched.sketch = 8, sketched.features = 64;
  auto kernels = work(sketched, f16());
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.products, 2 * 64 * 8 * 24 + 2 * 64 * 8 * 8);
  // Queries, matrices, sketches and the scale of each row; keys have no scale of their own.
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 64 * 20 + 4 * (2 * 20 * 8 + 2 * 8 * 8) + 4 * 64 * (8 + 1));
  EXPECT_EQ(kernels[1].work.nearBytes, kernels[0].work.nearBytes - 4 * 64);
  EXPECT_EQ(kernels[2].work.products, 64 * 64 * 8 + 64 * 16 * 64);
  EXPECT_EQ(kernels[2].work.nearBytes, 4 * (64 + 64) * 8 + 2 * 64 * (12 + 12));
}

TEST_F(IssuedWork, Eva) {
  // 64 tokens in chunks and local blocks of 16. A summary reads its keys twice; its products have one row, padded to 64.
  AttentionShape eva = shape(Family::Eva, Form::Online, 64, 64, 2);
  eva.chunk = eva.local = 16;
  auto kernels = work(eva, f16());
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].work.products, 4 * (64 * 16 * 24 + 64 * 16 * 16));
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * 64 * (20 + 2 * 20 + 12) + 4 * 4 * (20 + 12 + 1));
  // Each of 4 blocks: a tile of 16 local keys, one of 64 summaries of which 4 exist; their weights by each of four warps.
  EXPECT_EQ(kernels[1].work.products, 4 * (64 * 16 * 24 + 64 * 16 * 16 + 64 * 64 * 24 + 64 * 16 * 64));
  EXPECT_EQ(kernels[1].work.nearBytes, 2 * 64 * (20 + 20 + 12 + 12) + 4 * 4 * 4 * (20 + 12 + 4));
}

TEST_F(IssuedWork, EvaOfLessThanAChunk) {
  // Plans are priced at other lengths as well, to find where they change places.
  AttentionShape eva = shape(Family::Eva, Form::Online, 8, 8, 2);
  eva.chunk = eva.local = 16, eva.excludeLocal = true;
  for (bool causal : {false, true}) {
    eva.causal = causal;
    auto kernels = work(eva, f16());
    ASSERT_EQ(kernels.size(), causal ? 2u : 3u);
    EXPECT_EQ(kernels[0].work.products, 0); // no whole chunk
    EXPECT_GT(kernels.back().work.products, 0);
  }
}

TEST_F(IssuedWork, Layers) {
  // 70 tokens of 100 channels, two tiles in depth, to one head of 20 with a bias; 16-bit tokens and weights.
  AttentionShape layer = shape(Family::Project, Form::Online, 70, 70, 2);
  layer.model = 100, layer.bias = true;
  auto project = work(layer, f16())[0].work;
  EXPECT_EQ(project.products, 2 * 2 * 64 * 24 * 64);
  EXPECT_EQ(project.nearBytes, 2 * (70 * 100 + 2 * 100 * 20 + 2 * 4 * 20) + 4 * 70 * 20);
  // Two blocks of 64 columns, for each of which the heads are read again.
  layer.family = Family::ProjectOutput;
  auto output = work(layer, f16())[0].work;
  EXPECT_EQ(output.products, 2 * 2 * 64 * 64 * 32);
  EXPECT_EQ(output.nearBytes, 2 * 4 * 70 * 20 + 2 * (2 * 20 * 100 + 2 * 4 * 100 + 70 * 100));
}

TEST_F(IssuedWork, SlotsOfTheInput) {
  // E x [24, 100] of 16-bit tokens, in two blocks of 64 columns of which 36 are left for the second; 70 tokens, two tiles.
  AttentionShape input = shape(Family::Compress, Form::Online, 70, 70, 2);
  input.rank = 24, input.model = 100, input.width = 64, input.heads = input.sharedHeads = 2;
  auto kernels = work(input, f16());
  EXPECT_EQ(kernels[0].work.products, 2 * 2 * 64 * 64 * 64);
  EXPECT_EQ(kernels[0].work.nearBytes, 2 * (2 * 24 * 70 + 70 * 100) + 4 * 2 * 24 * 64);
  // Times W [100, 20], with a bias: of the slots both blocks are read whole.
  AttentionShape slots = shape(Family::ProjectSlots, Form::Online, 24, 24, 2);
  slots.rank = 24, slots.model = 100, slots.bias = true;
  auto project = work(slots, f16())[0].work;
  EXPECT_EQ(project.products, 2 * 64 * 24 * 64);
  EXPECT_EQ(project.nearBytes, 4 * 24 * 128 + 2 * (100 * 20 + 4 * 20) + 4 * (24 + 24 * 20));
  // The sums of E.
  AttentionShape sums = shape(Family::SlotSums, Form::Online, 70, 70, 2);
  sums.rank = 24;
  EXPECT_EQ(work(sums, f16())[0].work.nearBytes, 2 * 24 * 70 + 4 * 24);
}
