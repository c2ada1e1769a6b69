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
#include "attune/Tile/KernelSizes.h"

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
    more.usefulProducts -= base.usefulProducts, more.liveBytes -= base.liveBytes;
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

TEST_F(ProjectionInLoad, OfQueries) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  softmax.queryModel = 10;
  WorkEstimate more = added(softmax);
  EXPECT_EQ(more.usefulProducts, 240);                      // n D d
  EXPECT_EQ(more.liveBytes, 4 * (4 + 3) * tile::modelTile); // pieces of x and of W
}

TEST_F(ProjectionInLoad, OfKeysOnceForAllHeads) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  softmax.keyModel = softmax.valueModel = 10;
  EXPECT_EQ(added(softmax).usefulProducts, 240 + 400); // N D (d + dv), once
  EXPECT_EQ(added(softmax).liveBytes, 4 * (4 + 3 + 4 + 5) * tile::modelTile);
  softmax.heads = 2; // that share their keys
  EXPECT_EQ(added(softmax).usefulProducts, 240 + 400);
}

TEST_F(ProjectionInLoad, ByTheFirstKernelThatReads) {
  AttentionShape state = elu1(Form::State);
  state.heads = 2, state.queryModel = state.keyModel = state.valueModel = 10;
  EXPECT_EQ(added(state).usefulProducts, 240 + 400);   // one state for both heads
  EXPECT_EQ(added(state, 1).usefulProducts, 0);       // the merge
  EXPECT_EQ(added(state, 2).usefulProducts, 2 * 240); // the readout of two heads
}

TEST_F(ProjectionInLoad, OfCompressions) {
  AttentionShape compress = shape(Family::Compress, Form::Online);
  compress.rank = 6, compress.keyModel = 10;
  EXPECT_EQ(added(compress).usefulProducts, 240);
}
