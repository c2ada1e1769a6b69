//===- ProjectionInLoadTest.cpp - Projections in loads, counted by hand ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of 4 tokens; d = m = 3, dv = 5. D = 10 is read in tiles of 64 columns, so that a tile of 4 tokens costs 4 · 64 · 3 =
// 768 multiply-adds, of values 4 · 64 · 5 = 1280.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class ProjectionInLoad : public ::testing::Test {
protected:
  ProjectionInLoad() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  llvm::SmallVector<KernelWork, 3> work(const AttentionShape &shape) {
    return attentionWork(shape, tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048,
                                                        mlir::Float32Type::get(&context), 1, 1));
  }
  /// What a projection adds to kernel `index`.
  WorkEstimate added(const AttentionShape &with, unsigned index = 0) {
    AttentionShape without = with;
    without.queryModel = without.keyModel = without.valueModel = 0;
    WorkEstimate more = work(with)[index].work, base = work(without)[index].work;
    more.products -= base.products, more.usefulProducts -= base.usefulProducts;
    more.nearBytes -= base.nearBytes, more.mainBytes -= base.mainBytes;
    return more;
  }
  /// 8 queries, 8 keys.
  static AttentionShape shape(Family family, Form form) {
    AttentionShape shape;
    shape.family = family, shape.form = form;
    shape.queries = shape.keys = 8;
    shape.width = shape.features = 3, shape.valueWidth = 5;
    return shape;
  }
  AttentionShape elu1(Form form) {
    AttentionShape result = shape(Family::Kernel, form);
    result.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Elu1);
    result.causal = form == Form::Chunked;
    return result;
  }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(ProjectionInLoad, OfQueriesOnce) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  softmax.queryModel = 10;
  WorkEstimate more = added(softmax);
  EXPECT_EQ(more.products, 2 * 768);                               // two tiles
  EXPECT_EQ(more.usefulProducts, 240);                             // n D d
  EXPECT_EQ(more.nearBytes, 4 * (8 * 10 + 2 * 10 * 3) - 4 * 8 * 3); // x, and W of each tile, in the place of q
  EXPECT_EQ(more.mainBytes, 4 * (8 * 10 + 10 * 3) - 4 * 8 * 3);
}

TEST_F(ProjectionInLoad, OfKeysForEveryBlockOfQueries) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  softmax.keyModel = softmax.valueModel = 10;
  WorkEstimate more = added(softmax);
  EXPECT_EQ(more.products, 4 * 768 + 4 * 1280); // two blocks of queries read two tiles each
  EXPECT_EQ(more.usefulProducts, 240 + 400);    // N D (d + dv), once
  EXPECT_EQ(more.nearBytes, 4 * (2 * 16 * 10 + 4 * 10 * 8) - 4 * 16 * 8);
  softmax.causal = true; // three of the four pairs
  EXPECT_EQ(added(softmax).products, 3 * 768 + 3 * 1280);
  // Two heads that share their keys read them twice; the weight has one head.
  softmax.causal = false, softmax.heads = 2;
  EXPECT_EQ(added(softmax).products, 2 * (4 * 768 + 4 * 1280));
  EXPECT_EQ(added(softmax).usefulProducts, 240 + 400);
}

TEST_F(ProjectionInLoad, OfStatesOnce) {
  AttentionShape state = elu1(Form::State);
  state.heads = 2, state.queryModel = state.keyModel = state.valueModel = 10;
  EXPECT_EQ(added(state).products, 2 * 768 + 2 * 1280); // one state for both heads
  EXPECT_EQ(added(state, 1).products, 0);               // the merge
  EXPECT_EQ(added(state, 2).products, 2 * 2 * 768);     // the readout of two heads
}

TEST_F(ProjectionInLoad, OfChunksOnceAHeadOrOnceAGroup) {
  AttentionShape chunked = elu1(Form::Chunked);
  chunked.heads = 2, chunked.keyModel = 10;
  EXPECT_EQ(added(chunked).products, 2 * 2 * 768);
  chunked.grouped = true;
  EXPECT_EQ(added(chunked).products, 2 * 768);
}

TEST_F(ProjectionInLoad, OfCompressionsForEveryBlockOfSlots) {
  AttentionShape compress = shape(Family::Compress, Form::Online);
  compress.rank = 6, compress.keyModel = 10;
  EXPECT_EQ(added(compress).products, 2 * 2 * 768); // slots in blocks of 4 and 2
  EXPECT_EQ(added(compress).usefulProducts, 240);
}
