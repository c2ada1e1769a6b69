//===- MechanismWorkTest.cpp - Counts of every mechanism, worked by hand --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Useful multiply-adds are the closed forms of the mathematics; executed ones have the tails of tiles.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class MechanismWork : public ::testing::Test {
protected:
  MechanismWork() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  llvm::SmallVector<KernelWork, 3> work(const AttentionShape &shape, int64_t queryTile = 4, int64_t keyTile = 4,
                                        int64_t piece = 2048) {
    return attentionWork(shape, tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, queryTile, keyTile, piece,
                                                        mlir::Float32Type::get(&context), 1, 1));
  }
  WorkEstimate total(const AttentionShape &shape, int64_t queryTile = 4, int64_t keyTile = 4) {
    auto kernels = work(shape, queryTile, keyTile);
    WorkEstimate sum = kernels.front().work;
    for (const KernelWork &kernel : llvm::drop_begin(kernels))
      sum += kernel.work;
    return sum;
  }

  /// One head with d = m = 3 and dv = 5 in f32.
  static AttentionShape shape(Family family, Form form, int64_t queries, int64_t keys, bool causal = false) {
    AttentionShape shape;
    shape.family = family, shape.form = form;
    shape.queries = queries, shape.keys = keys;
    shape.width = shape.features = 3, shape.valueWidth = 5;
    shape.causal = causal;
    return shape;
  }
  /// FAVOR with m = 7 features.
  AttentionShape favor(Form form, int64_t queries, int64_t keys) {
    AttentionShape result = shape(Family::Kernel, form, queries, keys, form == Form::Chunked);
    result.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Favor, /*features=*/7, /*epsilon=*/0, /*scale=*/.5);
    result.features = 7;
    return result;
  }
  /// Degree 4 with r = 4: two leaves of 3·4 and one node of 2 · 4·4, 56 multiply-adds a row, made twice since the sketch
  /// is narrow; r² = 16 features.
  static AttentionShape sketched(Form form, int64_t queries, int64_t keys) {
    AttentionShape result = shape(Family::Polysketch, form, queries, keys, form == Form::Chunked);
    result.degree = 4, result.sketch = 4, result.features = 16;
    return result;
  }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(MechanismWork, WindowsAreSmallSequences) {
  // 8 tokens in 2 blocks of 4.
  AttentionShape windowed = shape(Family::Softmax, Form::Online, 8, 8);
  windowed.window = 4;
  WorkEstimate sum = total(windowed);
  EXPECT_EQ(sum.products, 256);       // 2 · 4·4 · 8
  EXPECT_EQ(sum.usefulProducts, 256); // §9: (n²/b)(d + dv) with 2 blocks
  EXPECT_EQ(sum.mainBytes, 512);      // 4 · 8 · (3 + 3 + 5 + 5)
  EXPECT_EQ(sum.grain, 2);
  // A block of 49 tokens is one tile: no ragged end, whatever the schedule.
  windowed.queries = windowed.keys = 98, windowed.window = 49;
  EXPECT_EQ(total(windowed, 64, 64).products, 2 * 49 * 49 * 8);
}

TEST_F(MechanismWork, StepsInLoadsAndStores) {
  AttentionShape plain = shape(Family::Softmax, Form::Online, 4, 4);
  double before = total(plain).elementwise;
  plain.queryRope = plain.queryNorm = plain.keyRope = true, plain.taps = 3;
  // 4·3 of q (27 + 5 each), 4·3 of k (27), a multiplication and an addition for each of 3 taps of 4·5 outputs.
  EXPECT_EQ(total(plain).elementwise - before, 384 + 324 + 120);
}

TEST_F(MechanismWork, Polynomial) {
  AttentionShape quartic = shape(Family::Polynomial, Form::Quadratic, 8, 8, /*causal=*/true);
  quartic.degree = 4;
  WorkEstimate sum = total(quartic);
  EXPECT_EQ(sum.products, 384);       // 3 pairs of tiles · 16 · 8
  EXPECT_EQ(sum.usefulProducts, 288); // §2: (1 + … + 8)(d + dv)
  EXPECT_EQ(sum.exps, 0);
  EXPECT_EQ(sum.elementwise, 412); // 3·4 · ((4 + 2 squares) · 4 + 5) and 8 · (3 + 5)
}

TEST_F(MechanismWork, FavorInPairs) {
  WorkEstimate sum = total(favor(Form::Quadratic, 4, 4));
  EXPECT_EQ(sum.products, 360);       // 4·4 · (7 + 5) and 8 rows · 3·7
  EXPECT_EQ(sum.usefulProducts, 376); // §4: nN(m + c) = 16 · 13; §5: 8 rows · d m
  EXPECT_EQ(sum.exps, 56);            // 8 rows · 7
}

TEST_F(MechanismWork, FavorThroughAStateOfEachQueryHead) {
  // N = 10 in 5 tiles of 2; each of 4 query heads maps the keys of its group with its own ω.
  AttentionShape perHead = favor(Form::State, 6, 10);
  perHead.heads = perHead.featureHeads = 4, perHead.sharedHeads = 2;
  auto kernels = work(perHead, 4, 2, /*piece=*/4);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.products, 2240);       // 4 · 10 · (7·5 + 3·7)
  EXPECT_EQ(kernels[0].work.usefulProducts, 2520); // 4 · 10 · (m c + d m) = 7·6 + 21
  EXPECT_EQ(kernels[0].work.workspaceBytes, 2016); // 4 heads · 3 pieces · 4 · 7·6
  EXPECT_EQ(kernels[0].work.grain, 12);
  EXPECT_EQ(kernels[2].work.usefulProducts, 1512); // 4 · 6 · (7·6 + 21)
}

TEST_F(MechanismWork, FavorInChunks) {
  WorkEstimate sum = total(favor(Form::Chunked, 10, 10));
  EXPECT_EQ(sum.products, 1920);       // 12 rows · (4 · (7 + 5) + 2 · 35 + 2 · 21)
  EXPECT_EQ(sum.usefulProducts, 1585); // §4: 10 · (2.5 · 13 + 2 · 42), and 20 rows · 21
}

TEST_F(MechanismWork, FoldedSidesHaveNoProductsWithOmega) {
  AttentionShape folded = favor(Form::State, 6, 10);
  folded.queryFolded = true;
  EXPECT_EQ(work(folded).back().work.products, 280);       // 8 rows · 7·5
  EXPECT_EQ(work(folded).back().work.usefulProducts, 252); // 6 · 7·6
  EXPECT_EQ(work(folded).front().work.usefulProducts, 630); // 10 · (7·6 + 21)
  EXPECT_EQ(work(folded).back().work.mainBytes, 456);      // 4 · 6 · (7 + 5) and 4 · 7·6
  folded.form = Form::Chunked, folded.causal = true, folded.queries = 10, folded.keyFolded = true;
  EXPECT_EQ(total(folded).products, 1416); // 12 rows · (4 · (7 + 5) + 2 · 35)
}

TEST_F(MechanismWork, AMaximumOverTheKeysIsOneMorePass) {
  AttentionShape published = favor(Form::State, 6, 10);
  published.keyMaximum = true;
  auto kernels = work(published, 4, 2);
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[0].kernel, "key_maximum");
  EXPECT_EQ(kernels[0].work.usefulProducts, 210); // 10 · 21
}

TEST_F(MechanismWork, CosformerHasTwiceTheFeatures) {
  AttentionShape cos = shape(Family::Kernel, Form::State, 6, 10);
  cos.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Cosformer, 0, 0, 0, 0, /*maxPosition=*/16);
  cos.features = 6;
  EXPECT_EQ(total(cos).usefulProducts, 576); // (6 + 10) · 6·6
  EXPECT_EQ(total(cos).exps, 0);
}

TEST_F(MechanismWork, SketchedPairs) {
  WorkEstimate sum = total(sketched(Form::Quadratic, 4, 4));
  EXPECT_EQ(sum.products, 1040);      // 4·4 · (4 + 5) and 8 rows · 2 · 56
  EXPECT_EQ(sum.usefulProducts, 608); // §8: nN(r + c) = 16 · 10, and 8 · 56
}

TEST_F(MechanismWork, SketchedState) {
  auto kernels = work(sketched(Form::State, 6, 10), 4, 4, /*piece=*/4);
  ASSERT_EQ(kernels.size(), 5u);
  EXPECT_EQ(kernels[0].work.products, 1024);      // queries, 8 rows · (2 · 56 and 4 · 4 to transpose)
  EXPECT_EQ(kernels[0].work.usefulProducts, 336); // 6 · 56
  EXPECT_EQ(kernels[1].work.usefulProducts, 560); // keys, 10 · 56
  EXPECT_EQ(kernels[1].work.workspaceBytes, 440); // 10 · 4 · (2.5 r + 1)
  EXPECT_EQ(kernels[2].kernel, "pieces");
  EXPECT_EQ(kernels[2].work.products, 792);       // 12 rows · (10·5 + 16): r (r + 1) / 2 features, r² for the sum
  EXPECT_EQ(kernels[2].work.usefulProducts, 600); // §4: 10 · 10 c
  EXPECT_EQ(kernels[2].work.workspaceBytes, 792); // 3 pieces · 4 · (10·5 + 16)
  EXPECT_EQ(kernels[2].work.nearBytes, 2864);     // 4 slices · 10 · (4·(2 + 1) + 5·4), 3 tiles · 2 · 264 for the state
  EXPECT_EQ(kernels[2].work.grain, 3);
  EXPECT_EQ(kernels[3].kernel, "merge");
  EXPECT_EQ(kernels[3].work.mainBytes, 1056);     // 3 pieces and their sum, 264 each
  EXPECT_EQ(kernels[3].work.elementwise, 792);    // 3 · 66 · 4
  EXPECT_EQ(kernels[3].work.grain, 4);            // a slice each
  EXPECT_EQ(kernels[4].work.usefulProducts, 360); // 6 · 60
}

TEST_F(MechanismWork, SketchedChunks) {
  WorkEstimate sum = total(sketched(Form::Chunked, 10, 10));
  EXPECT_EQ(sum.products, 5088);       // 12 · (4 · (4 + 5) + 2 · 66 + 4 · 56 + 2 · 16)
  EXPECT_EQ(sum.usefulProducts, 2570); // §8: 10 · (2.5 · 10 + 2 · 60 + 112)
}

TEST_F(MechanismWork, DeepTreesHavePairs) {
  for (auto [degree, size, passes] : {std::tuple(16, 8, 1), std::tuple(32, 8, 2), std::tuple(4, 2, 2)}) {
    AttentionShape shape = sketched(Form::Quadratic, 4, 4);
    shape.degree = degree, shape.sketch = size, shape.features = size * size;
    WorkEstimate sketch = work(shape).front().work;
    EXPECT_EQ(sketch.products, passes * sketch.usefulProducts) << degree;
  }
}

TEST_F(MechanismWork, ExactBlocks) {
  // 8 tokens in blocks of 4, which are tiles: one exact pair of tiles a block, one sketched pair before the second.
  AttentionShape local = sketched(Form::Quadratic, 8, 8);
  local.causal = true, local.localExact = 4;
  WorkEstimate pairs = work(local).back().work;
  EXPECT_EQ(pairs.products, 400);       // 2 · 16 · (3 + 5) and 16 · (4 + 5)
  EXPECT_EQ(pairs.usefulProducts, 340); // 20 pairs inside · (3 + 6) and 16 before · (4 + 6)
  local.form = Form::Chunked;
  WorkEstimate chunked = work(local).back().work;
  EXPECT_EQ(chunked.products, 1312);       // 2 · 16 · 8, and 8 rows · 2 · 66 with the state
  EXPECT_EQ(chunked.usefulProducts, 1140); // §8: 8 · (2.5 · (3 + 6) + 2 · 60)
}

TEST_F(MechanismWork, Effatt) {
  AttentionShape effatt = shape(Family::Effatt, Form::State, 6, 10);
  effatt.heads = 4, effatt.sharedHeads = 2;
  auto kernels = work(effatt, 4, 2);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.usefulProducts, 300); // §5: N d dv of 2 heads
  EXPECT_EQ(kernels[0].work.exps, 90);            // 2 · (10·3 weights and 5 tiles · 3 rescalings)
  EXPECT_EQ(kernels[2].work.products, 480);       // 4 · 8 · 15
  EXPECT_EQ(kernels[2].work.usefulProducts, 360); // §5: n d dv of 4 heads
  EXPECT_EQ(kernels[2].work.exps, 96);
}

TEST_F(MechanismWork, Agent) {
  AttentionShape agent = shape(Family::Agent, Form::Online, 6, 10);
  agent.agents = 2;
  auto kernels = work(agent);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.products, 0);
  EXPECT_EQ(kernels[1].work.usefulProducts, 160); // 2 agents · 10 keys · 8
  EXPECT_EQ(kernels[2].work.usefulProducts, 96);  // 6 queries · 2 agents · 8: (n + N) a (d + dv) in all, §5
}

TEST_F(MechanismWork, Eva) {
  // 8 tokens, 4 chunks of 2, blocks of 4.
  AttentionShape eva = shape(Family::Eva, Form::Online, 8, 8);
  eva.chunk = 2, eva.local = 4;
  auto kernels = work(eva);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].work.usefulProducts, 64); // §6: N(d + dv)
  EXPECT_EQ(kernels[0].work.exps, 8);
  EXPECT_EQ(kernels[1].work.usefulProducts, 512); // §6: n(w + C)(d + dv) = 8 · (4 + 4) · 8
  EXPECT_EQ(kernels[1].work.products, 512);
  eva.causal = true;
  // Up to the query, 2 · (1 + 2 + 3 + 4); chunks before its own, 2 · (0 + 1 + 2 + 3).
  EXPECT_EQ(work(eva)[1].work.usefulProducts, 256);
  eva.causal = false, eva.excludeLocal = true;
  EXPECT_EQ(work(eva).size(), 3u);
}

TEST_F(MechanismWork, Compression) {
  AttentionShape slots = shape(Family::Compress, Form::Online, 10, 10);
  slots.heads = slots.sharedHeads = 2, slots.rank = 3;
  auto kernels = work(slots, 4, 2, /*piece=*/4);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].work.products, 180);       // 2 heads · 10 · 3 slots · 3
  EXPECT_EQ(kernels[0].work.usefulProducts, 180); // §3: N k · H d
  EXPECT_EQ(kernels[0].work.workspaceBytes, 216); // 2 · 3 pieces · 4 · 3·3
  EXPECT_EQ(kernels[1].work.elementwise, 54);     // 2 · 3 pieces · 9
}

TEST_F(MechanismWork, Projections) {
  AttentionShape layer = shape(Family::Project, Form::Online, 6, 6);
  layer.batch = 2, layer.heads = 4, layer.model = 10;
  EXPECT_EQ(total(layer).products, 12288);      // 2 · 4 · 8 rows · 64 · 3
  EXPECT_EQ(total(layer).usefulProducts, 1440); // §3: n D · H d
  layer.family = Family::ProjectOutput;
  EXPECT_EQ(total(layer).products, 12288); // 2 · 8 rows · 64 · 12
  EXPECT_EQ(total(layer).usefulProducts, 1440);
}

TEST_F(MechanismWork, NaiveLowRank) {
  // E φ(K) and F V to 3 slots, then the state of the slots: N k (m + dv) + k m c + n m c.
  AttentionShape naive = shape(Family::Kernel, Form::State, 6, 10);
  naive.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Elu1), naive.rank = 3;
  EXPECT_EQ(total(naive).usefulProducts, 402); // 10·3·8 + 3·3·6 + 6·3·6
}

TEST_F(MechanismWork, SlotsOfTheInput) {
  // E x [3, 130] in blocks of 64 columns, for 2 batch entries and 4 heads of width 3; tiles of 4 rows.
  AttentionShape slots = shape(Family::ProjectSlots, Form::Online, 3, 3);
  slots.batch = 2, slots.heads = 4, slots.rank = 3, slots.model = 130;
  EXPECT_EQ(total(slots).usefulProducts, 9360); // §3: k D · H d = 2 · 3 · 130 · 4 · 3
  EXPECT_EQ(total(slots).products, 13824);      // 2 · 4 · 3 rows · 192 · 3
  EXPECT_EQ(total(slots).workspaceBytes, 288);  // 2 · 4 · 3 · 3 · 4
  slots.rank = 5;                               // two tiles of 4 rows
  EXPECT_EQ(total(slots).products, 36864);
  AttentionShape sums = shape(Family::SlotSums, Form::Online, 10, 10);
  sums.batch = 2, sums.rank = 3, sums.sharedWeights = 2;
  EXPECT_EQ(total(sums).elementwise, 144); // 2 · 2 · 3 rows · 12 of 10 keys
  EXPECT_EQ(total(sums).mainBytes, 288);   // E once, 2 · 3 · 10 · 4, and 2 · 2 · 3 · 4 sums
  EXPECT_EQ(total(sums).products, 0);
}

TEST_F(MechanismWork, GroupsShareTheirState) {
  // 4 query heads on 2 key-value heads, 8 tokens in chunks of 4, m = 3 and dv = 5: 4 · 8 (4 · 8 + 2 · 15) for every head its
  // own state; 2 heads less add 8 keys to one, 15 each.
  AttentionShape chunked = shape(Family::Kernel, Form::Chunked, 8, 8, true);
  chunked.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Elu1);
  chunked.heads = 4, chunked.sharedHeads = chunked.featureHeads = 2;
  EXPECT_EQ(total(chunked).products, 1984);
  EXPECT_EQ(total(chunked).exps, 192); // 2 maps · 4 · 8 · 3
  EXPECT_EQ(total(chunked).grain, 4);
  chunked.grouped = true;
  EXPECT_EQ(total(chunked).products, 1744);
  EXPECT_EQ(total(chunked).exps, 144); // 2 · 8 · 3 less
  EXPECT_EQ(total(chunked).grain, 2);
}
