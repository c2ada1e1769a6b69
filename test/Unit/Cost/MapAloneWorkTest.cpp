//===- MapAloneWorkTest.cpp - Features written for their readers, counted by hand ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of 4 tokens; d = 3, dv = 5, 8 queries and keys. FAVOR with m = 7 takes 3 · 7 = 21 multiply-adds a row, 3 · 3 + 4 · 7 =
// 37 other operations and 7 exponentials.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class MapAloneWork : public ::testing::Test {
protected:
  MapAloneWork() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  llvm::SmallVector<KernelWork, 3> work(const AttentionShape &shape) {
    return attentionWork(shape, tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048,
                                                        mlir::Float32Type::get(&context), 1, 1));
  }
  AttentionShape favor(Form form) {
    AttentionShape shape;
    shape.family = Family::Kernel, shape.form = form;
    shape.queries = shape.keys = 8;
    shape.width = 3, shape.features = 7, shape.valueWidth = 5;
    shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Favor, /*features=*/7, /*epsilon=*/0, /*scale=*/.5);
    shape.causal = form == Form::Chunked;
    return shape;
  }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(MapAloneWork, OncePerKeyInPlaceOfOncePerBlockOfQueries) {
  AttentionShape shape = favor(Form::Quadratic);
  WorkEstimate inReader = work(shape).front().work;
  EXPECT_EQ(inReader.products, 1272); // 4 pairs of tiles · (16 (7 + 5) + 4 · 21), 8 queries · 21
  EXPECT_EQ(inReader.exps, 168);      // (16 + 8) · 7
  shape.keysMapped = true;
  auto kernels = work(shape);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "features");
  EXPECT_EQ(kernels[0].work.products, 168);       // 8 · 21
  EXPECT_EQ(kernels[0].work.elementwise, 296);    // 8 · 37
  EXPECT_EQ(kernels[0].work.exps, 56);            // 8 · 7
  EXPECT_EQ(kernels[0].work.workspaceBytes, 224); // 4 · 8 · 7
  EXPECT_EQ(kernels[0].work.mainBytes, 404);      // 4 · 8 · 3 of keys, the features, 4 · 21 of omega
  EXPECT_EQ(kernels[0].work.nearBytes, 320);      // keys and features
  EXPECT_EQ(kernels[0].work.grain, 2);            // two blocks of keys
  EXPECT_EQ(kernels[1].work.products, 936);       // 4 · 16 (7 + 5), 8 · 21
  EXPECT_EQ(kernels[1].work.exps, 56);            // of the queries
  EXPECT_EQ(inReader.elementwise - kernels[1].work.elementwise, 592); // 16 · 37
  EXPECT_EQ(kernels[1].work.mainBytes, 724);      // 4 · 8 (3 + 5) of q and o, 4 · 8 (7 + 5) of features and v, omega
  EXPECT_EQ(kernels[1].work.nearBytes, 1024);     // 256 of q and o, 4 · 16 (7 + 5)
  // The formula maps a key once, whoever does it.
  EXPECT_EQ(kernels[0].work.usefulProducts + kernels[1].work.usefulProducts, inReader.usefulProducts);
}

TEST_F(MapAloneWork, OncePerKeyValueHead) {
  AttentionShape shape = favor(Form::Chunked);
  shape.heads = 4, shape.keysMapped = true;
  auto kernels = work(shape);
  EXPECT_EQ(kernels[0].work.products, 168);
  EXPECT_EQ(kernels[1].work.products, 4 * 8 * (4 * 12 + 2 * 35 + 21)); // of four heads only the queries are mapped
  EXPECT_EQ(kernels[1].work.exps, 4 * 56);
  shape.keysMapped = false, shape.grouped = true; // which maps a key as often
  EXPECT_EQ(work(shape)[0].work.exps, 4 * 56 + 56);
  // Heads with an omega of their own have features of their own.
  shape.grouped = false, shape.keysMapped = true, shape.featureHeads = 4;
  EXPECT_EQ(work(shape)[0].work.products, 4 * 168);
  EXPECT_EQ(work(shape)[0].work.mainBytes, 96 + 4 * 224 + 4 * 84);       // keys once
  EXPECT_EQ(work(shape)[1].work.mainBytes, 4 * 256 + 4 * 224 + 160 + 4 * 84); // q and o, features, values, omega
}

TEST_F(MapAloneWork, ExponentsBecomeFeaturesWhereTheyAreRead) {
  AttentionShape shape = favor(Form::State);
  shape.runningMaximum = true;
  WorkEstimate inReader = work(shape).front().work;
  shape.keysMapped = true;
  auto kernels = work(shape);
  ASSERT_EQ(kernels.size(), 4u); // then the state, its merge and the readout
  EXPECT_EQ(kernels[0].work.exps, 0);
  EXPECT_EQ(kernels[0].work.elementwise, 8 * (37 - 21)); // 3 operations a feature are left to the reader
  EXPECT_EQ(kernels[1].work.exps, inReader.exps);
  EXPECT_EQ(inReader.elementwise - kernels[1].work.elementwise, 8 * (37 - 21));
  EXPECT_EQ(inReader.products - kernels[1].work.products, 168);
}

TEST_F(MapAloneWork, AWindowIsAViewOfAllFeatures) {
  AttentionShape shape = favor(Form::Quadratic);
  shape.queries = shape.keys = 24, shape.window = 12, shape.keysMapped = true;
  auto kernels = work(shape);
  EXPECT_EQ(kernels[0].work.grain, 6);           // blocks of 4 of 24 keys
  EXPECT_EQ(kernels[0].work.products, 24 * 21);
  EXPECT_EQ(kernels[1].work.products, 2 * (9 * 16 * 12 + 12 * 21));
}

TEST_F(MapAloneWork, ProjectsKeysInItsOwnLoad) {
  AttentionShape shape = favor(Form::Quadratic);
  shape.keysMapped = true;
  auto without = work(shape);
  shape.keyModel = shape.valueModel = 10; // pieces of 64 columns of x, and of W: 4 keys of width 3, 4 values of width 5
  auto with = work(shape);
  EXPECT_EQ(with[0].work.liveBytes - without[0].work.liveBytes, 4 * (4 + 3) * 64);
  EXPECT_EQ(with[1].work.liveBytes - without[1].work.liveBytes, 4 * (4 + 5) * 64);
}
