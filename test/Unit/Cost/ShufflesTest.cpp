//===- ShufflesTest.cpp - What tiles cost in shuffles, worked by hand ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With four warps in one column, for a tile of up to 64 rows, unless it is said otherwise: a sum along rows is
// 4 · 2 · 2 = 16; one along columns 4 · 3 · 2 = 24 for each block of 8 columns; a move of f32 8 for each such block,
// one of 16-bit elements 16 for every two of them.
//
//===----------------------------------------------------------------------===//
#include "IssuedShapes.h"

#include "Shuffles.h"
#include "attune/Tile/TileLayouts.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class Shuffles : public cost::test::IssuedShapes {
protected:
  /// Of each kernel.
  std::vector<double> of(const AttentionShape &shape, mlir::Type storage, int64_t tile = 64, int64_t piece = 2048,
                         int64_t warpColumns = 1) {
    auto schedule = tile::ScheduleAttr::get(&context, tile::TargetKind::GPU, tile, tile, piece, storage, /*warps=*/4,
                                            /*stages=*/2, warpColumns, /*parts=*/2);
    std::vector<double> shuffles;
    for (const KernelWork &kernel : attentionWork(shape, schedule))
      shuffles.push_back(kernel.work.shuffles);
    return shuffles;
  }
  static AttentionShape whole(AttentionShape shape) {
    shape.width = shape.features = 24, shape.valueWidth = 16;
    return shape;
  }
};

using Counts = std::vector<double>;
} // namespace

TEST_F(Shuffles, FollowTheLayout) {
  for (tile::WarpGrid warps : {tile::WarpGrid{4, 1}, tile::WarpGrid{2, 1}, tile::WarpGrid{4, 2}, tile::WarpGrid{1, 8}})
    for (int64_t rows : {1, 16, 49, 64, 128})
      for (int64_t columns : {1, 8, 12, 20, 64, 200}) {
        tile::FragmentLayout layout(tile::FragmentAttr::get(&context, tile::FragmentRole::C, 16, warps),
                                    {rows, columns});
        double count = static_cast<double>(warps.count());
        // Registers of a lane: two rows of a block, two columns of another.
        EXPECT_EQ(shufflesAlongRows(warps, rows), count * 2 * (layout.registers() / (2 * layout.columnBlocks())));
        EXPECT_EQ(shufflesAlongColumns(warps, columns), count * 3 * (layout.registers() / (2 * layout.rowBlocks())));
        // Every register goes through a shuffle of 4 bytes, and what a quad lacks of a whole unit as well.
        EXPECT_GE(shufflesOfMove(warps, rows, columns, 4), count * layout.registers() / 2);
        EXPECT_GE(shufflesOfMove(warps, rows, columns, 2), count * layout.registers() / 4);
      }
}

TEST_F(Shuffles, MovesInWholeUnits) {
  tile::WarpGrid one{1, 1};
  // Of f32 two units of two words: 8 columns are one for each half of the rows, together one exchange of 2.
  EXPECT_EQ(shufflesOfMove(one, 16, 8, 4), 2);
  EXPECT_EQ(shufflesOfMove(one, 16, 24, 4), 6);
  // Of 16 bits four units of a word: 2 blocks in both halves fill one, and so do 1; 5 blocks take 3.
  EXPECT_EQ(shufflesOfMove(one, 16, 8, 2), 4);
  EXPECT_EQ(shufflesOfMove(one, 16, 16, 2), 4);
  EXPECT_EQ(shufflesOfMove(one, 16, 40, 2), 12);
  EXPECT_EQ(shufflesOfMove(one, 40, 40, 2), 36);           // three blocks of rows
  EXPECT_EQ(shufflesOfMove({4, 2}, 64, 40, 2), 8 * 2 * 4); // 3 of 5 blocks each: two units
}

TEST_F(Shuffles, HalvesOfRows) {
  tile::WarpGrid one{1, 1};
  EXPECT_EQ(shufflesOfHalves(one, 16, 64), 0); // by whole blocks: other registers of the same lane
  // Column c is at c ± 4: one register of another lane for each of two elements in two rows.
  EXPECT_EQ(shufflesOfHalves(one, 16, 8), 2 * 2);
  // c ± 12: lanes 0 and 1 find theirs in another block than lanes 2 and 3. Six elements a row, two registers each.
  EXPECT_EQ(shufflesOfHalves(one, 16, 24), 2 * 6 * 2);
  EXPECT_EQ(shufflesOfHalves({4, 1}, 128, 24), 4 * 2 * 24);
}

TEST_F(Shuffles, Softmax) {
  // 70 queries and 90 keys are 2 · 2 pairs of tiles, with a maximum and a sum each.
  AttentionShape softmax = shape(Family::Softmax, Form::Online, 70, 90, 2);
  EXPECT_EQ(of(softmax, f16()), Counts{4 * 2 * 16});
  // Rows of 48 and 32 bytes: two tiles of o, 16 wide.
  EXPECT_EQ(of(whole(softmax), f16()), Counts{4 * 2 * 16 + 2 * 16});
  // In f32 queries are scaled in registers; keys and values go to the products by way of shared memory alone.
  softmax.elementBytes = softmax.queryBytes = softmax.keyBytes = 4;
  EXPECT_EQ(of(whole(softmax), f32()), Counts{4 * 2 * 16 + 2 * 3 * 8 + 2 * 2 * 8});
  // With f32 keys of a kernel before it and operands of 16 bits those are rounded on the way: four tiles of each.
  softmax.elementBytes = softmax.queryBytes = 2;
  EXPECT_EQ(of(whole(softmax), f16()), Counts{4 * 2 * 16 + 2 * 16 + 4 * (3 + 2) * 8});
}

TEST_F(Shuffles, WarpsInColumns) {
  // A grid of 1 × 4 warps: a tile of 16 rows is one block each, and of o's two blocks of columns a warp has one at
  // most.
  AttentionShape softmax = whole(shape(Family::Softmax, Form::Online, 16, 16, 2));
  EXPECT_EQ(of(softmax, f16(), 16, 2048, /*warpColumns=*/4), Counts{2 * 16 + 4 * 4});
}

TEST_F(Shuffles, StepsOfTheLoad) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online, 64, 64, 2);
  softmax.width = 24;
  double plain = of(softmax, f16())[0];
  softmax.queryRope = softmax.keyRope = softmax.queryNorm = softmax.keyNorm = true;
  EXPECT_EQ(of(softmax, f16())[0] - plain, 2 * 2 * 16); // pairs of neighbours lie in one lane
  softmax.keyHalves = true;
  EXPECT_EQ(of(softmax, f16())[0] - plain, 2 * 2 * 16 + 4 * 2 * 6 * 2);
}

TEST_F(Shuffles, States) {
  // 70 keys in two pieces of 64: a sum along 20 columns each, and a state [20, 12] of f32.
  AttentionShape state = shape(Family::Kernel, Form::State, 70, 70, 2);
  EXPECT_EQ(of(state, bf16(), 64, /*piece=*/64), (Counts{2 * 3 * 24 + 2 * 2 * 8, 3 * 2 * 8, 2 * 16}));
  // In one kernel with what merges them.
  state.merged = true;
  EXPECT_EQ(of(state, bf16(), 64, /*piece=*/64), (Counts{2 * 3 * 24 + 2 * 2 * 8 + 3 * 2 * 8, 2 * 16}));
  state.merged = false, state.fused = true;
  EXPECT_EQ(of(state, bf16(), 64, /*piece=*/64), Counts{2 * 3 * 24 + 2 * 16});
  // cosFormer has two states of half as many rows, two sums, and two parts of the denominator.
  state.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Cosformer, 0, 0, 0, 0, /*maxPosition=*/100);
  state.features = 40;
  EXPECT_EQ(of(state, bf16(), 64, /*piece=*/64), Counts{2 * 2 * 3 * 24 + 2 * 2 * 16});
}

TEST_F(Shuffles, Chunks) {
  // Of two chunks the sums that the state and the weights give to a row, and one along columns.
  AttentionShape chunked = shape(Family::Kernel, Form::Chunked, 70, 70, 2);
  chunked.causal = true;
  EXPECT_EQ(of(chunked, bf16()), Counts{2 * (2 * 16 + 3 * 24)});
  // Exponents: |k|² and the largest below the diagonal, two for the scale; maximum and sum of each feature.
  chunked.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Favor, /*features=*/20, /*epsilon=*/0, /*scale=*/.5);
  chunked.runningMaximum = true;
  EXPECT_EQ(of(chunked, bf16()), Counts{2 * (6 * 16 + 2 * 3 * 24)});
  // A state of f32 to begin with.
  chunked.initialState = true;
  EXPECT_EQ(of(chunked, bf16()), Counts{2 * (6 * 16 + 2 * 3 * 24) + 2 * 8});
}

TEST_F(Shuffles, ConstantStabilizer) {
  // 64 keys, 20 features: |k|², a sum along the 20 rows of omega and the largest of them for each key; along columns of
  // features their sum, and a state of f32. Queries take the maximum of their row, and the denominator.
  AttentionShape state = shape(Family::Kernel, Form::State, 64, 64, 2);
  state.map =
      attn::FeatureMapAttr::get(&context, attn::FeatureKind::Favor, /*features=*/20, /*epsilon=*/1e-4, /*scale=*/.5); // constant
  EXPECT_EQ(of(state, bf16()), (Counts{3 * 16 + 3 * 24 + 2 * 8, 2 * 2 * 8, 2 * 16}));
}

TEST_F(Shuffles, TapsAreSpread) {
  // Two windows of 49 tokens; the weights of a tap are a column of 12, summed along its rows to lie along columns.
  AttentionShape windowed = shape(Family::Softmax, Form::Online, 98, 98, 2);
  windowed.window = 49;
  EXPECT_EQ(of(windowed, f16()), Counts{2 * 2 * 16});
  windowed.taps = 3, windowed.tapBytes = 2;
  EXPECT_EQ(of(windowed, f16()), Counts{2 * 2 * 16 + 2 * 3 * 16});
  windowed.tapBytes = 4; // f32 values, 12 of them a row
  EXPECT_EQ(of(windowed, f16()), Counts{2 * 2 * 16 + 2 * 3 * (16 + 2 * 8)});
}

TEST_F(Shuffles, Polysketch) {
  // Degree 4, r = 8: a norm for each token and a sketch of f32; sketched queries come to registers.
  AttentionShape sketched = shape(Family::Polysketch, Form::Quadratic, 64, 64, 2);
  sketched.degree = 4, sketched.sketch = 8, sketched.features = 64;
  EXPECT_EQ(of(sketched, f16()), (Counts{16 + 8, 16 + 8, 8 + 2 * 16}));
}

TEST_F(Shuffles, Eva) {
  // Four chunks of 16: along 20 columns the sums of keys and of queries, and the mean as a row; of one row of logits
  // maximum and sum; mean and value stored in f32. Then four blocks, each with a tile of local keys and one of
  // summaries.
  AttentionShape eva = shape(Family::Eva, Form::Online, 64, 64, 2);
  eva.chunk = eva.local = 16;
  EXPECT_EQ(of(eva, f16()), (Counts{4 * (3 * 3 * 24 + 2 * 16 + (3 + 2) * 8), 4 * 2 * 2 * 16}));
}

TEST_F(Shuffles, Layers) {
  // 70 tokens of 100 channels in two tiles, to one head of 20.
  AttentionShape layer = shape(Family::Project, Form::Online, 70, 70, 2);
  layer.model = 100;
  EXPECT_EQ(of(layer, f16()), Counts{2 * 3 * 8});
  // In f32 a tile of tokens is split in registers, 64 channels at a time.
  layer.elementBytes = layer.queryBytes = layer.keyBytes = 4;
  EXPECT_EQ(of(layer, f32()), Counts{2 * 3 * 8 + 2 * 2 * 8 * 8});
  // Back: heads of f32, for two blocks of 64 columns; rows of 200 bytes are no whole pieces, those of 208 are.
  layer.family = Family::ProjectOutput, layer.elementBytes = layer.queryBytes = layer.keyBytes = 2;
  EXPECT_EQ(of(layer, f16()), Counts{2 * 2 * 3 * 8});
  layer.model = 104;
  EXPECT_EQ(of(layer, f16()), Counts{2 * 2 * 3 * 8 + 2 * 2 * 4 * 16});
}

TEST_F(Shuffles, ACpuHasNone) {
  auto schedule =
      tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 64, 64, 2048, f32(), /*warps=*/1, /*stages=*/1);
  EXPECT_EQ(attentionWork(shape(Family::Softmax, Form::Online, 70, 90, 4), schedule)[0].work.shuffles, 0);
}
