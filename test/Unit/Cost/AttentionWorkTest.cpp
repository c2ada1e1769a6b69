//===- AttentionWorkTest.cpp - Counts of each form, worked by hand --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class AttentionWork : public ::testing::Test {
protected:
  AttentionWork() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  tile::ScheduleAttr tiles(int64_t queryTile, int64_t keyTile, int64_t piece = 2048) {
    return tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, queryTile, keyTile, piece,
                                   mlir::Float32Type::get(&context), 1, 1);
  }

  /// One head with d = m = 3 and dv = 5 in f32: softmax, or kernel attention with elu + 1.
  AttentionShape shape(Form form, int64_t queries, int64_t keys, bool causal = false) {
    AttentionShape shape;
    shape.family = form == Form::Online ? Family::Softmax : Family::Kernel;
    shape.form = form;
    if (shape.family == Family::Kernel)
      shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Elu1);
    shape.queries = queries, shape.keys = keys;
    shape.width = shape.features = 3, shape.valueWidth = 5;
    shape.causal = causal;
    return shape;
  }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(AttentionWork, SoftmaxOfOneTile) {
  auto kernels = attentionWork(shape(Form::Online, 4, 4), tiles(4, 4));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].kernel, "softmax");
  const WorkEstimate &work = kernels[0].work;
  EXPECT_EQ(work.products, 128); // 4·4 pairs · (3 + 5)
  EXPECT_EQ(work.usefulProducts, 128);
  EXPECT_EQ(work.exps, 20);         // 4·4 weights and 4 rescalings
  EXPECT_EQ(work.elementwise, 100); // 3·16 on scores, 4·5 rescaled, 4·3 scaled queries, 4·5 divided
  EXPECT_EQ(work.mainBytes, 256);   // 4 bytes · (4·3 q + 4·3 k + 4·5 v + 4·5 o)
  EXPECT_EQ(work.nearBytes, 256);   // every operand is read once
  EXPECT_EQ(work.liveBytes, 384);   // 4 bytes · (4·8 + 4·8 + 2·16)
  EXPECT_EQ(work.grain, 1);
  EXPECT_EQ(work.launches, 1);
}

TEST_F(AttentionWork, KeysInPieces) {
  // 4 queries and 40 keys in 5 pieces. A piece leaves 4 · (5 + 2) numbers, 112 bytes, which are stored and loaded once.
  AttentionShape split = shape(Form::Online, 4, 40);
  auto five = tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048, mlir::Float32Type::get(&context), 1, 1,
                                      /*warp_columns=*/1, /*parts=*/5);
  WorkEstimate order = attentionWork(split, five)[0].work;
  split.split = true;
  auto kernels = attentionWork(split, five);
  ASSERT_EQ(kernels.size(), 1u);
  const WorkEstimate &work = kernels[0].work;
  EXPECT_EQ(work.products, order.products);
  EXPECT_EQ(work.elementwise, order.elementwise + 348); // 5 · 4·5, each with two factors and a sum; 4·3 queries 4 times more
  EXPECT_EQ(work.mainBytes, order.mainBytes + 1120);
  EXPECT_EQ(work.nearBytes, order.nearBytes + 1312); // those queries again, 48 bytes each time
  EXPECT_EQ(work.workspaceBytes, 568); // and a counter of 8 bytes
  EXPECT_EQ(work.grain, 5);
  EXPECT_EQ(work.lastOps, 300);
  EXPECT_EQ(work.lastBytes, 560);
  EXPECT_EQ(work.lastGrain, 1);
  split.keys = 12; // three tiles: two pieces are empty
  EXPECT_EQ(attentionWork(split, five)[0].work.grain, 3);
}

TEST_F(AttentionWork, ScoresOfKeysThatAKernelHasMadeAreOfF32) {
  auto bf16 = tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048, mlir::BFloat16Type::get(&context), 1, 1);
  AttentionShape stored = shape(Form::Online, 4, 4);
  stored.elementBytes = stored.queryBytes = stored.keyBytes = 2;
  EXPECT_EQ(attentionWork(stored, bf16)[0].work.pairProducts, 128); // all of 4·4 pairs · (3 + 5)
  stored.keyBytes = 4;
  EXPECT_EQ(attentionWork(stored, bf16)[0].work.pairProducts, 80); // 4·4 pairs · 5, the weights by the values
}

TEST_F(AttentionWork, SoftmaxWithTails) {
  // n = 5 in 2 blocks, N = 7 in 2 tiles: 4 pairs of tiles.
  WorkEstimate work = attentionWork(shape(Form::Online, 5, 7), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 512);       // 4 · 16 · 8
  EXPECT_EQ(work.usefulProducts, 280); // 5·7 · 8
  EXPECT_EQ(work.nearBytes, 672); // 4 · (5·8 + 4 tiles · 4·8)
  EXPECT_EQ(work.grain, 2);
}

TEST_F(AttentionWork, SoftmaxCausal) {
  // Block 0 visits 1 tile, block 1 visits 2.
  WorkEstimate work = attentionWork(shape(Form::Online, 8, 8, /*causal=*/true), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 384);       // 3 · 16 · 8
  EXPECT_EQ(work.usefulProducts, 288); // (1 + … + 8) · 8
  EXPECT_EQ(work.exps, 60);            // 3 · 4 · (4 + 1)
}

TEST_F(AttentionWork, SoftmaxCausalWithEarlierKeys) {
  // 4 queries after 4 earlier keys: the queries see 5, 6, 7, 8 keys in 2 tiles.
  WorkEstimate work = attentionWork(shape(Form::Online, 4, 8, /*causal=*/true), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 256);       // 2 · 16 · 8
  EXPECT_EQ(work.usefulProducts, 208); // 26 · 8
}

TEST_F(AttentionWork, SoftmaxWithSharedHeads) {
  AttentionShape grouped = shape(Form::Online, 4, 4);
  grouped.batch = 2, grouped.heads = 4, grouped.sharedHeads = 2;
  WorkEstimate work = attentionWork(grouped, tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 1024);  // 2 · 4 heads · 128
  EXPECT_EQ(work.mainBytes, 1536); // 2 · 4 bytes · (4 heads · 4·8 + 2 heads · 4·8)
  EXPECT_EQ(work.nearBytes, 2048); // 2 · 4 heads · 256: each head reads its keys
  EXPECT_EQ(work.grain, 8);
}

TEST_F(AttentionWork, StorageOfTwoBytes) {
  AttentionShape half = shape(Form::Online, 4, 4);
  half.elementBytes = half.queryBytes = half.keyBytes = 2, half.lse = true;
  WorkEstimate work = attentionWork(half, tiles(4, 4))[0].work;
  EXPECT_EQ(work.mainBytes, 144); // 2 · 64 elements, and lse: 4 · 4 bytes
  EXPECT_EQ(work.liveBytes, 384); // tiles are f32 whatever the storage
}

TEST_F(AttentionWork, QuadraticMapsKeysInEveryBlock) {
  WorkEstimate work = attentionWork(shape(Form::Quadratic, 8, 8), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 512);    // 4 pairs of tiles · 16 · 8
  EXPECT_EQ(work.exps, 72);         // 3 · (8 query rows + 4 · 4 key rows)
  EXPECT_EQ(work.elementwise, 320); // 3·72 in maps, 4·16 in row sums, 8·5 divided
  EXPECT_EQ(work.liveBytes, 480);   // 4 · (4·11 + 4·11 + 2·16)
}

TEST_F(AttentionWork, QuadraticCausal) {
  WorkEstimate work = attentionWork(shape(Form::Quadratic, 8, 8, /*causal=*/true), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 384); // 3 pairs of tiles · 16 · 8
  EXPECT_EQ(work.exps, 60);      // 3 · (8 + 3 · 4)
}

TEST_F(AttentionWork, StateInPieces) {
  // N = 10 in 5 tiles of 2 and 3 pieces of 4; the state has 3·5 + 3 elements, 72 bytes.
  AttentionShape state = shape(Form::State, 6, 10);
  state.heads = 4, state.sharedHeads = state.featureHeads = 2;
  auto kernels = attentionWork(state, tiles(4, 2, /*piece=*/4));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].kernel, "state");
  EXPECT_EQ(kernels[0].work.products, 300);    // 2 heads · 10 · 3·5
  EXPECT_EQ(kernels[0].work.exps, 60);         // 2 · 10·3
  EXPECT_EQ(kernels[0].work.elementwise, 300); // 2 · 10·3 · (3 map + mask + sum)
  EXPECT_EQ(kernels[0].work.mainBytes, 1072);  // 2 · (4 · 10·8 + 3 · 72)
  EXPECT_EQ(kernels[0].work.grain, 6);

  EXPECT_EQ(kernels[1].kernel, "merge");
  EXPECT_EQ(kernels[1].work.elementwise, 108); // 2 · 3 pieces · 18
  EXPECT_EQ(kernels[1].work.mainBytes, 576);   // 2 · (3 + 1) · 72
  EXPECT_EQ(kernels[1].work.grain, 2);

  // n = 6 in 2 blocks of 4.
  EXPECT_EQ(kernels[2].kernel, "readout");
  EXPECT_EQ(kernels[2].work.products, 480);       // 4 heads · 8 · 3·5
  EXPECT_EQ(kernels[2].work.usefulProducts, 432); // 4 · 6 · 3·6: n m c of §4
  EXPECT_EQ(kernels[2].work.exps, 96);            // 4 · 8·3
  EXPECT_EQ(kernels[2].work.elementwise, 640);    // 4 · 8 · (3 · 5 + 5)
  EXPECT_EQ(kernels[2].work.nearBytes, 1344);     // 4 · (4 · 6·8 + 2 · 72)
  EXPECT_EQ(kernels[2].work.grain, 8);
}

TEST_F(AttentionWork, StateAndReadoutInOneKernel) {
  // The same, one after another at a program for each of the 2 heads with states: no state is written.
  AttentionShape fused = shape(Form::State, 6, 10);
  fused.heads = 4, fused.sharedHeads = fused.featureHeads = 2, fused.fused = true;
  auto kernels = attentionWork(fused, tiles(4, 2, /*piece=*/4));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].kernel, "fused_state");
  WorkEstimate work = kernels[0].work;
  EXPECT_EQ(work.products, 780);       // 300 + 480
  EXPECT_EQ(work.usefulProducts, 792); // 2 · 10 · 3·6 + 432
  EXPECT_EQ(work.exps, 156);           // 60 + 96
  EXPECT_EQ(work.elementwise, 940);    // 300 + 640
  EXPECT_EQ(work.mainBytes, 1408);     // 4 · (4 · 6·8 + 2 · 10·8)
  EXPECT_EQ(work.nearBytes, 1408);     // the keys once a group
  EXPECT_EQ(work.workspaceBytes, 0);
  EXPECT_EQ(work.launches, 1);
  EXPECT_EQ(work.grain, 2);
  fused.finalState = true;
  work = attentionWork(fused, tiles(4, 2, /*piece=*/4))[0].work;
  EXPECT_EQ(work.mainBytes, 1552); // and 2 · 72
}

TEST_F(AttentionWork, StateMergedByItsLastPiece) {
  // The state and the merge of StateInPieces in one kernel. 2 of its 6 programs wait for the others, and read 3 pieces.
  AttentionShape merged = shape(Form::State, 6, 10);
  merged.heads = 4, merged.sharedHeads = merged.featureHeads = 2, merged.merged = true;
  auto kernels = attentionWork(merged, tiles(4, 2, /*piece=*/4));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "merged_state");
  const WorkEstimate &work = kernels[0].work;
  EXPECT_EQ(work.products, 300);
  EXPECT_EQ(work.exps, 60);
  EXPECT_EQ(work.elementwise, 408);    // 300 + 108
  EXPECT_EQ(work.mainBytes, 1648);     // 1072 + 576
  EXPECT_EQ(work.workspaceBytes, 592); // 2 · (3 + 1) · 72, and counters of 8
  EXPECT_EQ(work.lastOps, 108);
  EXPECT_EQ(work.lastBytes, 576);
  EXPECT_EQ(work.lastGrain, 2);
  EXPECT_EQ(work.grain, 6);
  EXPECT_EQ(work.launches, 1);
  EXPECT_EQ(kernels[1].kernel, "readout");
}

TEST_F(AttentionWork, Chunked) {
  // n = 10 in 3 chunks of 4.
  auto kernels = attentionWork(shape(Form::Chunked, 10, 10, /*causal=*/true), tiles(4, 4));
  ASSERT_EQ(kernels.size(), 1u);
  const WorkEstimate &work = kernels[0].work;
  EXPECT_EQ(work.products, 744);       // 12 rows · (4 · 8 in the chunk + 2 · 15 with the state)
  EXPECT_EQ(work.usefulProducts, 585); // 10 · (2.5 · (3 + 6) + 2 · 3·6)
  EXPECT_EQ(work.exps, 72);            // 12 · 3 of queries and of keys
  EXPECT_EQ(work.elementwise, 576);    // 12 · (3 · (6 maps + 4) + 2·4 + 2·5)
  EXPECT_EQ(work.mainBytes, 640);      // 4 · 2 · 10·8
  EXPECT_EQ(work.liveBytes, 632);      // 4 · (4 · (2·3 + 2·3 + 3·5) + 2·16) and the state of 72
  EXPECT_EQ(work.grain, 1);
}

TEST_F(AttentionWork, ChunksBelowTheDiagonal) {
  // One chunk of 64. Weights: keys 0 … 31 of 64 queries, the others of 32: 32 · 96. With the values: 8 queries at a time
  // take 8, 16 … 64 keys: 8 · 288.
  AttentionShape one = shape(Form::Chunked, 64, 64, /*causal=*/true);
  EXPECT_EQ(attentionWork(one, tiles(64, 64))[0].work.products, 22656); // 3072 · 3 + 2304 · 5 + 64 · 2 · 15
}

TEST_F(AttentionWork, ChunkedWithFinalState) {
  AttentionShape final = shape(Form::Chunked, 10, 10, /*causal=*/true);
  final.finalState = final.initialState = true;
  auto kernels = attentionWork(final, tiles(4, 4, /*piece=*/4));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].work.mainBytes, 712); // 640 and the initial state of 72
  EXPECT_EQ(kernels[1].kernel, "state");
  EXPECT_EQ(kernels[2].kernel, "merge");
  EXPECT_EQ(kernels[2].work.mainBytes, 360); // 72 · (3 pieces + initial + final)
}

TEST_F(AttentionWork, PartsSideBySide) {
  // n = 10 in 2 parts of 8 tokens, each 2 pieces of 4: 2 pieces of 8 keys lie before the last part, which begins at their sum.
  AttentionShape split = shape(Form::Chunked, 10, 10, /*causal=*/true);
  split.split = true;
  auto kernels = attentionWork(split, tiles(4, 4));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "state");
  EXPECT_EQ(kernels[0].work.products, 120); // 8 · 3·5
  EXPECT_EQ(kernels[0].work.usefulProducts, 0);
  EXPECT_EQ(kernels[0].work.exps, 24);
  EXPECT_EQ(kernels[0].work.elementwise, 120); // 8 · (3 · 3 + 2 · 3)
  EXPECT_EQ(kernels[0].work.mainBytes, 400);   // 8 keys and values of 32 bytes, 2 states of 72
  EXPECT_EQ(kernels[0].work.workspaceBytes, 144);
  EXPECT_EQ(kernels[0].work.grain, 2);
  EXPECT_EQ(kernels[1].kernel, "chunked");
  EXPECT_EQ(kernels[1].work.products, 744); // as in Chunked
  EXPECT_EQ(kernels[1].work.usefulProducts, 585);
  EXPECT_EQ(kernels[1].work.elementwise, 612); // 576, and 2 states of 18 added
  EXPECT_EQ(kernels[1].work.nearBytes, 784);   // 640 + 2 · 72
  EXPECT_EQ(kernels[1].work.grain, 2);
}

TEST_F(AttentionWork, ManyPartsAreAPieceEach) {
  // n = 40 in 5 parts of 8: the last begins at 4 pieces, the one before at 3 …, 10 in all.
  AttentionShape split = shape(Form::Chunked, 40, 40, /*causal=*/true);
  split.split = true;
  auto five = tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048, mlir::Float32Type::get(&context), 1, 1,
                                      /*warp_columns=*/1, /*parts=*/5);
  auto kernels = attentionWork(split, five);
  EXPECT_EQ(kernels[0].work.grain, 4);
  EXPECT_EQ(kernels[0].work.products, 480);     // 32 · 3·5
  EXPECT_EQ(kernels[1].work.elementwise, 2100); // 40 · 48 + 10 · 18
  EXPECT_EQ(kernels[1].work.grain, 5);
}

TEST_F(AttentionWork, OneTokenIsOnePart) {
  AttentionShape split = shape(Form::Chunked, 1, 1, /*causal=*/true);
  split.split = true;
  auto kernels = attentionWork(split, tiles(4, 4));
  EXPECT_EQ(kernels[0].work.grain, 0);
  EXPECT_EQ(kernels[0].work.products, 0);
  EXPECT_EQ(kernels[1].work.grain, 1);
}

TEST_F(AttentionWork, LongSequencesDoNotOverflow) {
  // 2^20 tokens, 8 heads of 64, tiles of 64: 2^14 blocks, each with 2^14 tiles; 2^20 · 2^20 · 128 · 8 = 2^50.
  AttentionShape longest = shape(Form::Online, int64_t(1) << 20, int64_t(1) << 20);
  longest.heads = longest.sharedHeads = 8;
  longest.width = longest.valueWidth = 64;
  EXPECT_EQ(attentionWork(longest, tiles(64, 64))[0].work.products, std::exp2(50));
}

TEST_F(AttentionWork, NothingToDo) {
  WorkEstimate work = attentionWork(shape(Form::Online, 0, 4), tiles(4, 4))[0].work;
  EXPECT_EQ(work.products, 0);
  EXPECT_EQ(attentionWork(shape(Form::State, 4, 0), tiles(4, 4))[0].work.products, 0);
}
