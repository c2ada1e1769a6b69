//===- ChooseScheduleTest.cpp - Tiles that fit ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/ChooseSchedule.h"
#include "Devices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using namespace attune::test;
using attn::Form;

namespace {
class ChooseSchedule : public ::testing::Test {
protected:
  ChooseSchedule() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  /// Softmax, or kernel attention with elu + 1.
  AttentionShape wide(Form form, int64_t width) {
    AttentionShape shape;
    shape.family = form == Form::Online ? Family::Softmax : Family::Kernel;
    shape.form = form;
    shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Elu1);
    shape.queries = shape.keys = mlir::ShapedType::kDynamic;
    shape.width = shape.features = shape.valueWidth = width;
    return shape;
  }
  /// Of tiles that hold 1,024 bytes a row, of which no more are said than are enough.
  llvm::Expected<tile::ScheduleAttr> onCpu(double fastBytes) {
    DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
    device.fastBytes.value = fastBytes;
    TriedKernels kernels;
    kernels.liveBytes = [](tile::ScheduleAttr schedule, double enough) {
      return std::min(1024.0 * static_cast<double>(schedule.getKeyTile()), enough + 1);
    };
    return chooseSchedule(wide(Form::Online, 64), mlir::Float32Type::get(&context), device, kernels);
  }
  int64_t rowsOnCpu(double fastBytes) { return llvm::cantFail(onCpu(fastBytes)).getKeyTile(); }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(ChooseSchedule, CpuTilesShrinkForWideHeads) {
  // Half of the fast memory is for tiles.
  EXPECT_EQ(rowsOnCpu(2 * 65536), 64);
  EXPECT_EQ(rowsOnCpu(2 * 65536 - 1), 32);
  EXPECT_EQ(rowsOnCpu(2 * 32768 - 1), 16);
  EXPECT_EQ(rowsOnCpu(1), 16); // slower, but it runs
}

TEST_F(ChooseSchedule, CpuTilesOfLongWideBf16HaveMoreRows) {
  auto rows = [&](int64_t width, int64_t keys, mlir::Type storage) {
    AttentionShape shape = wide(Form::Online, width);
    shape.queries = 4096, shape.keys = keys;
    tile::ScheduleAttr schedule = llvm::cantFail(chooseSchedule(shape, storage, madeUpDevice(tile::TargetKind::CPU)));
    EXPECT_EQ(schedule.getQueryTile(), schedule.getKeyTile());
    return schedule.getQueryTile();
  };
  mlir::Type bf16 = mlir::BFloat16Type::get(&context);
  EXPECT_EQ(rows(128, 4096, bf16), 128);
  EXPECT_EQ(rows(128, 4096, mlir::Float32Type::get(&context)), 64);
  EXPECT_EQ(rows(127, 4096, bf16), 64);
  EXPECT_EQ(rows(128, 2047, bf16), 64);
  EXPECT_EQ(rows(128, mlir::ShapedType::kDynamic, bf16), 64);
}

TEST_F(ChooseSchedule, CpuOperandsAreThoseThatMultiply) {
  auto operand = [&](mlir::Type storage) {
    auto schedule = chooseSchedule(wide(Form::State, 64), storage, madeUpDevice(tile::TargetKind::CPU));
    return llvm::cantFail(std::move(schedule)).getOperand();
  };
  EXPECT_TRUE(operand(mlir::BFloat16Type::get(&context)).isBF16());
  EXPECT_TRUE(operand(mlir::Float16Type::get(&context)).isF32());
  EXPECT_TRUE(operand(mlir::Float32Type::get(&context)).isF32());
  auto schedule = llvm::cantFail(
      chooseSchedule(wide(Form::State, 64), mlir::BFloat16Type::get(&context), madeUpDevice(tile::TargetKind::CPU)));
  EXPECT_EQ(schedule.getTarget(), tile::TargetKind::CPU);
  EXPECT_EQ(schedule.getPiece(), 2048);
  EXPECT_EQ(schedule.getWarps(), 1);
}

TEST_F(ChooseSchedule, EachCoreHasAPart) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  device.cores.value = 8;
  auto partsOf = [&](int64_t batch, int64_t heads, bool split) {
    AttentionShape shape = wide(Form::Chunked, 64);
    shape.batch = batch, shape.heads = shape.sharedHeads = heads, shape.split = split;
    return llvm::cantFail(chooseSchedule(shape, mlir::Float32Type::get(&context), device)).getParts();
  };
  EXPECT_EQ(partsOf(1, 1, true), 8);
  EXPECT_EQ(partsOf(1, 3, true), 2);                           // 6 points on 8 cores
  EXPECT_EQ(partsOf(2, 1, true), 4);
  EXPECT_EQ(partsOf(mlir::ShapedType::kDynamic, 2, true), 4);  // an unknown batch counts as 1
  EXPECT_EQ(partsOf(1, 16, true), 2);
  EXPECT_EQ(partsOf(1, 1, false), 2);
}

TEST_F(ChooseSchedule, EachCoreHasPiecesOfTheKeys) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  device.cores.value = 24;
  auto partsOf = [&](int64_t heads, int64_t queries) {
    AttentionShape shape = wide(Form::Online, 64);
    shape.family = Family::Softmax, shape.split = true;
    shape.heads = shape.sharedHeads = heads, shape.queries = queries, shape.keys = 4096;
    return llvm::cantFail(chooseSchedule(shape, mlir::Float32Type::get(&context), device)).getParts();
  };
  EXPECT_EQ(partsOf(1, 1), 128);  // not 8 for each of 24 cores
  EXPECT_EQ(partsOf(2, 64), 96);
  EXPECT_EQ(partsOf(2, 130), 32); // 6 points, for each of which there are 4 cores
  EXPECT_EQ(partsOf(32, 1), 2);
  device.cores.value = 200;
  EXPECT_EQ(partsOf(1, 1), 200);
  device = madeUpDevice(tile::TargetKind::GPU);
  EXPECT_EQ(partsOf(1, 1), 4);
}

TEST_F(ChooseSchedule, FewQueriesHaveTilesOfAsManyRows) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  auto tileOf = [&](int64_t queries, Family family = Family::Softmax, int64_t window = 0) {
    AttentionShape shape = wide(Form::Online, 64);
    shape.family = family, shape.queries = queries, shape.keys = 4096, shape.window = window;
    tile::ScheduleAttr schedule = llvm::cantFail(chooseSchedule(shape, mlir::Float32Type::get(&context), device));
    EXPECT_EQ(schedule.getKeyTile(), schedule.getQueryTile() <= 32 ? 32 : 64);
    return schedule.getQueryTile();
  };
  EXPECT_EQ(tileOf(1), 1);
  EXPECT_EQ(tileOf(2), 2);
  EXPECT_EQ(tileOf(5), 8);
  EXPECT_EQ(tileOf(16), 16);
  EXPECT_EQ(tileOf(17), 32);
  EXPECT_EQ(tileOf(33), 64);
  EXPECT_EQ(tileOf(mlir::ShapedType::kDynamic), 64);
  EXPECT_EQ(tileOf(4, Family::Softmax, /*window=*/4), 64);
  EXPECT_EQ(tileOf(1, Family::Polynomial), 64);
}

TEST_F(ChooseSchedule, GpuDropsAStageBeforeItRefuses) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  auto bf16 = mlir::BFloat16Type::get(&context);
  // Queries 64·64·2 bytes, and 64·128·2 a stage: 8,192 + 2 · 16,384 = 40,960.
  device.fastBytes.value = 40960;
  auto schedule = llvm::cantFail(chooseSchedule(wide(Form::Online, 64), bf16, device));
  EXPECT_EQ(schedule.getStages(), 2);
  EXPECT_EQ(schedule.getWarps(), 4);
  EXPECT_EQ(schedule.getOperand(), bf16);
  EXPECT_EQ(sharedBytes(wide(Form::Online, 64), schedule), 40960);
  device.fastBytes.value = 40959;
  EXPECT_EQ(llvm::cantFail(chooseSchedule(wide(Form::Online, 64), bf16, device)).getStages(), 1);
  // Then keys are taken 16 at a time: 8,192 and 16·128·2 a stage.
  device.fastBytes.value = 12288;
  schedule = llvm::cantFail(chooseSchedule(wide(Form::Online, 64), bf16, device));
  EXPECT_EQ(schedule.getKeyTile(), 16);
  EXPECT_EQ(schedule.getStages(), 1);
  EXPECT_EQ(schedule.getQueryTile(), 64);
  // Queries too, by eight warps side by side in one stage: 16·64·2, 16·128·2, and weights of 16·16·2 that become operands.
  device.fastBytes.value = 12287;
  schedule = llvm::cantFail(chooseSchedule(wide(Form::Online, 64), bf16, device));
  EXPECT_EQ(schedule.getQueryTile(), 16);
  EXPECT_EQ(schedule.getWarpGrid(), (tile::WarpGrid{1, 8}));
  EXPECT_EQ(schedule.getStages(), 1);
  device.fastBytes.value = 6655;
  llvm::Expected<tile::ScheduleAttr> refused = chooseSchedule(wide(Form::Online, 64), bf16, device);
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_EQ(llvm::toString(refused.takeError()), "no schedule fits: expected tiles of at most 6655 bytes of shared "
                                                 "memory on made up, but got 6656");
}

TEST_F(ChooseSchedule, GpuStatesMustFitInRegisters) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  auto bf16 = mlir::BFloat16Type::get(&context);
  // Over 128 threads: scores 64·64 and outputs 64·128, 96 registers, and 32 for queries of 64·128 in pairs.
  EXPECT_TRUE(static_cast<bool>(chooseSchedule(wide(Form::Online, 128), bf16, device)));
  // A chunk of 16 takes one warp row: over 8 warps in a row scores of 16·64 (8 columns each at least), outputs of 16·128
  // and the carried state of 128·128 are 4 + 8 + 64.
  device.accumulatorsPerThread.value = 75;
  llvm::Expected<tile::ScheduleAttr> refused = chooseSchedule(wide(Form::Chunked, 128), bf16, device);
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_THAT(llvm::toString(refused.takeError()),
              ::testing::HasSubstr("expected at most 75 accumulators a thread on made up, but got 76"));
}

// Slices are as wide as registers of the largest tiles allow, and asked of whoever can make kernels.
TEST_F(ChooseSchedule, GpuSlicesAreAsWideAsFits) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.fastBytes.value = 100000;
  device.accumulatorsPerThread.value = 144;
  auto bf16 = mlir::BFloat16Type::get(&context);
  auto sliced = [&](int64_t width, std::function<bool(tile::ScheduleAttr)> areMade) {
    return llvm::cantFail(chooseSchedule(wide(Form::Online, width), bf16, device, {.areMade = std::move(areMade)}, Slices::Taken));
  };
  // Over 128 threads: outputs of 64·128 and scores, 96 registers, and 32 for queries of 64·128 in pairs; of 64·256 they are 192.
  tile::ScheduleAttr schedule = sliced(4096, [](tile::ScheduleAttr) { return true; });
  EXPECT_EQ(schedule.getQueryTile(), 64);
  EXPECT_EQ(schedule.getFeatureTile(), 128);
  EXPECT_EQ(schedule.getValueTile(), 128);
  // Kernels that cannot be made have narrower ones.
  schedule = sliced(4096, [](tile::ScheduleAttr asked) { return asked.getFeatureTile() <= 64; });
  EXPECT_EQ(schedule.getFeatureTile(), 64);
  // Rotated rows are rotated by a kernel of their own, which stores f32: keys of 64·64 are 32 registers beside the scores.
  AttentionShape rotated = wide(Form::Online, 128);
  rotated.queryRope = rotated.keyRope = true;
  device.accumulatorsPerThread.value = 128;
  EXPECT_FALSE(bool(llvm::expectedToOptional(chooseSchedule(rotated, bf16, device))));
  schedule = llvm::cantFail(chooseSchedule(rotated, bf16, device, {.areMade = [](tile::ScheduleAttr) { return true; }}, Slices::Taken));
  EXPECT_EQ(schedule.getFeatureTile(), 64);
  // Past the widest there are none.
  llvm::Expected<tile::ScheduleAttr> refused = chooseSchedule(wide(Form::Online, 4097), bf16, device, {}, Slices::Taken);
  EXPECT_THAT(llvm::toString(refused.takeError()), ::testing::HasSubstr("no schedule fits: "));
}

// Sizes do not say what chunks hold whose tokens decay or erase: of the tiles that are live at once 160 registers of a thread fit.
TEST_F(ChooseSchedule, GpuChunksAreAsLongAsTheirLiveTilesFit) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.fastBytes.value = 100000;
  device.accumulatorsPerThread.value = 144;
  AttentionShape shape = wide(Form::Chunked, 32);
  shape.gated = true;
  auto bf16 = mlir::BFloat16Type::get(&context);
  auto chosen = [&](std::function<double(tile::ScheduleAttr, double)> liveBytes) {
    TriedKernels kernels{.areMade = [](tile::ScheduleAttr) { return true; }, .liveBytes = std::move(liveBytes)};
    return llvm::cantFail(chooseSchedule(shape, bf16, device, kernels));
  };
  // Tiles of f32 [T, T] over 4 or 8 warps: five of 64 rows are 160 registers of 128 threads, ten as many of 256.
  auto square = [](int64_t tiles) {
    return [tiles](tile::ScheduleAttr s, double) { return 4.0 * static_cast<double>(tiles * s.getQueryTile() * s.getQueryTile()); };
  };
  tile::ScheduleAttr schedule = chosen(square(5));
  EXPECT_EQ(schedule.getQueryTile(), 64);
  EXPECT_EQ(schedule.getWarps(), 4);
  schedule = chosen(square(10));
  EXPECT_EQ(schedule.getQueryTile(), 64);
  EXPECT_EQ(schedule.getWarps(), 8);
  // Forty of 32 rows are, too, and of 16 more than a hundred.
  schedule = chosen(square(40));
  EXPECT_EQ(schedule.getQueryTile(), 32);
  EXPECT_EQ(schedule.getWarps(), 8);
  schedule = chosen(square(41));
  EXPECT_EQ(schedule.getQueryTile(), 16);
  // Where none fits the fewest are taken: kernels that spill are better than none.
  EXPECT_EQ(chosen(square(1000)), schedule);
  // Sizes say what other attention needs.
  shape.gated = false;
  EXPECT_EQ(chosen(square(1000)).getQueryTile(), 64);
}

// One of 64 slices of a sketch's state has 64 rows: of 512 values 128 registers of a thread at most, and as many again for what is added to it.
TEST_F(ChooseSchedule, GpuSketchesAreSlicedTheirSizeIsNot) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.fastBytes.value = 100000;
  device.accumulatorsPerThread.value = 144;
  AttentionShape shape = wide(Form::Chunked, 512);
  shape.family = Family::Polysketch;
  shape.sketch = 64, shape.degree = 4;
  auto bf16 = mlir::BFloat16Type::get(&context);
  TriedKernels kernels{.areMade = [](tile::ScheduleAttr) { return true; }};
  EXPECT_FALSE(bool(llvm::expectedToOptional(chooseSchedule(shape, bf16, device, kernels))));
  // Products are of f32, which bf16 operands hide: a state of 64·64 and one that is added, over eight warps, and tokens of 64 columns.
  tile::ScheduleAttr schedule = llvm::cantFail(chooseSchedule(shape, bf16, device, kernels, Slices::Taken));
  EXPECT_EQ(schedule.getValueTile(), 64);
  EXPECT_EQ(schedule.getFeatureTile(), 64);
  EXPECT_EQ(schedule.getOperand(), bf16);
}

// A state of 128·128 over 4 warps is 128 accumulators of a thread; over 8, with columns over two or four, 64.
TEST_F(ChooseSchedule, GpuWarpsSplitTheColumnsOfWideTiles) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  auto bf16 = mlir::BFloat16Type::get(&context);
  auto gridOf = [&](Form form, int64_t width, double accumulators) {
    device.accumulatorsPerThread.value = accumulators;
    return llvm::cantFail(chooseSchedule(wide(form, width), bf16, device)).getWarpGrid();
  };
  EXPECT_EQ(gridOf(Form::Online, 64, 80), (tile::WarpGrid{4, 1}));   // scores 32, outputs 32, queries 16
  EXPECT_EQ(gridOf(Form::Online, 64, 79), (tile::WarpGrid{4, 2}));   // 16, 16, and queries in shared memory
  EXPECT_EQ(gridOf(Form::Online, 256, 108), (tile::WarpGrid{4, 2})); // 16 and 64
  // Chunks of 64: scores 16, outputs 32, state 64.
  EXPECT_EQ(gridOf(Form::Chunked, 128, 112), (tile::WarpGrid{4, 2}));
}

TEST_F(ChooseSchedule, StatesAreOperandsToo) {
  // State, merge and readout are different kernels. The second has two states of 128·128, 256 registers of each of 128
  // threads, so there are 256 of them.
  auto schedule = llvm::cantFail(
      chooseSchedule(wide(Form::State, 128), mlir::BFloat16Type::get(&context), madeUpDevice(tile::TargetKind::GPU)));
  EXPECT_EQ(schedule.getWarpGrid(), (tile::WarpGrid{4, 2}));
  EXPECT_EQ(accumulatorsPerThread(wide(Form::State, 128), schedule), 128);
  // The readout: 4 · 128·128 of the state, 64·128·2 of the queries, 64·128·4 of their features. (The pieces: 64·128·2 of
  // features and 2 · 64·256·2 of keys and values.)
  EXPECT_EQ(sharedBytes(wide(Form::State, 128), schedule), 114688);
}

TEST_F(ChooseSchedule, RandomFeaturesAreHeldAndOmegaIsRead) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.accumulatorsPerThread.value = 144;
  AttentionShape shape = wide(Form::Quadratic, 64);
  shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::FavorRelu, /*features=*/128);
  shape.features = 128;
  TriedKernels made;
  made.areMade = [](tile::ScheduleAttr) { return true; };
  auto choose = [&] { return llvm::cantFail(chooseSchedule(shape, mlir::Float16Type::get(&context), device, made)); };
  // Over 128 threads outputs of 64·64 are 32, f32 features of the queries 64·128, 64 more, and those of the keys 64 beside
  // the parts of what they are products of. Over 256 the queries' are in shared memory: 16 + 2 · 32 + 8.
  EXPECT_EQ(choose().getWarpGrid(), (tile::WarpGrid{4, 2}));
  EXPECT_EQ(accumulatorsPerThread(shape, choose()), 88);
  // Features of both, 2 · 64·128·4, omega 128·64·2, keys and values 2 · 64·128·2, weights 64·64·4.
  EXPECT_EQ(sharedBytes(shape, choose()), 131072);
  // A stage of tokens less is 16,384 less.
  device.fastBytes.value = 131071;
  EXPECT_EQ(choose().getStages(), 1);
  EXPECT_EQ(sharedBytes(shape, choose()), 114688);
  // With none omega needs no place beside the features: 2 · 32,768 + 16,384 of weights, 16,384 of tokens.
  device.fastBytes.value = 114687;
  EXPECT_EQ(choose().getStages(), 0);
  EXPECT_EQ(sharedBytes(shape, choose()), 98304);
}

TEST_F(ChooseSchedule, KernelsThatMayNotFitAreAskedFor) {
  // f32 features of FAVOR's logarithms, read out of a state: the bound of what the kernel takes with no stage is above what a
  // schedule keeps tiles for, so that the answer decides.
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  AttentionShape shape = wide(Form::State, 64);
  shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Favor, /*features=*/128, /*epsilon=*/0, /*scale=*/.125);
  shape.features = 128, shape.runningMaximum = true;
  auto f32 = mlir::Float32Type::get(&context);
  tile::ScheduleAttr roomy = gpuSchedules(shape, f32)[2]; // the largest tiles, without stages
  ASSERT_EQ(roomy.getStages(), 0);
  device.accumulatorsPerThread.value = 1e6;
  device.fastBytes.value = sharedBytes(shape, roomy);
  ASSERT_GT(neededBytes(shape, roomy), sharedBytes(shape, roomy));
  int asked = 0;
  auto answer = [&](bool made) {
    TriedKernels kernels;
    kernels.areMade = [&asked, made](tile::ScheduleAttr) { return ++asked, made; };
    return kernels;
  };
  EXPECT_EQ(llvm::cantFail(chooseSchedule(shape, f32, device, answer(true))), roomy);
  EXPECT_EQ(asked, 1);
  for (const TriedKernels &kernels : {answer(false), TriedKernels()}) {
    llvm::Expected<tile::ScheduleAttr> other = chooseSchedule(shape, f32, device, kernels);
    EXPECT_NE(other ? *other : tile::ScheduleAttr(), roomy);
    llvm::consumeError(other.takeError());
  }
  EXPECT_GT(asked, 2);
}

TEST_F(ChooseSchedule, AttentionsOfOneFunctionShareWhatFitsAll) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.accumulatorsPerThread.value = 108;
  AttentionShape narrow = wide(Form::Online, 64), both[] = {narrow, wide(Form::Online, 256)};
  auto f16 = mlir::Float16Type::get(&context);
  EXPECT_EQ(llvm::cantFail(chooseSchedule(narrow, f16, device)).getWarpGrid(), (tile::WarpGrid{4, 1}));
  EXPECT_EQ(llvm::cantFail(chooseSchedule(both, f16, device)).getWarpGrid(), (tile::WarpGrid{4, 2}));
}

TEST_F(ChooseSchedule, RowsArePaddedOnAGpu) {
  // d = dv = 40 takes the place of 48: 64·48·2 + 2 · 64·96·2.
  auto schedule = llvm::cantFail(
      chooseSchedule(wide(Form::Online, 40), mlir::Float16Type::get(&context), madeUpDevice(tile::TargetKind::GPU)));
  EXPECT_EQ(sharedBytes(wide(Form::Online, 40), schedule), 30720);
}

TEST_F(ChooseSchedule, RotatedTokensStayWithinAWarp) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.accumulatorsPerThread.value = 144;
  AttentionShape shape = wide(Form::Online, 64);
  shape.queryRope = shape.keyRope = true;
  auto f32 = mlir::Float32Type::get(&context);
  // Outputs, queries, keys, and sums of weights with values are 32 each over 128 threads; scores of 64·32 are 16.
  auto schedule = llvm::cantFail(chooseSchedule(shape, f32, device));
  EXPECT_EQ(schedule.getWarpGrid(), (tile::WarpGrid{4, 1}));
  EXPECT_EQ(schedule.getKeyTile(), 32);
  EXPECT_EQ(accumulatorsPerThread(shape, schedule), 144);
  // Twice as wide they fit no grid of one column: they have slices.
  shape.width = shape.valueWidth = 128;
  EXPECT_FALSE(bool(llvm::expectedToOptional(chooseSchedule(shape, f32, device))));
  EXPECT_TRUE(bool(llvm::expectedToOptional(chooseSchedule(shape, f32, device, {}, Slices::Taken))));
}
