//===- ProjectionInEpilogueTest.cpp - Output projections in epilogues, counted by hand ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 7 queries and 8 keys in tiles of 4, two heads; d = m = 3, dv = 5, D = 12. A head's weights are dv D = 60 numbers, its block
// of queries costs 4 · 60 multiply-adds, the sums of a block are 4 · 12 numbers.
//
//===----------------------------------------------------------------------===//
#include "Devices.h"
#include "attune/Cost/AttentionWork.h"
#include "attune/Cost/KernelPrice.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using attn::Form;

namespace {
class ProjectionInEpilogue : public ::testing::Test {
protected:
  ProjectionInEpilogue() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  WorkEstimate last(const AttentionShape &shape) {
    auto schedule = tile::ScheduleAttr::get(&context, tile::TargetKind::CPU, 4, 4, 2048,
                                            mlir::Float32Type::get(&context), 1, 1);
    return attentionWork(shape, schedule).back().work;
  }
  /// What the projection adds to the last kernel.
  WorkEstimate added(const AttentionShape &with) {
    AttentionShape without = with;
    without.outputModel = 0;
    WorkEstimate more = last(with), base = last(without);
    more.usefulProducts -= base.usefulProducts, more.liveBytes -= base.liveBytes;
    return more;
  }
  static AttentionShape shape(Family family, Form form) {
    AttentionShape shape;
    shape.family = family, shape.form = form;
    shape.heads = shape.sharedHeads = shape.featureHeads = 2;
    shape.queries = 7, shape.keys = 8;
    shape.width = shape.features = 3, shape.valueWidth = 5;
    shape.outputModel = 12;
    return shape;
  }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(ProjectionInEpilogue, OfEveryHead) {
  WorkEstimate more = added(shape(Family::Softmax, Form::Online));
  EXPECT_EQ(more.usefulProducts, 7 * 2 * 60); // n H dv D
  EXPECT_EQ(more.liveBytes, 4 * (4 * 12 + 60));
  EXPECT_EQ(more.launches, 1);
}

TEST_F(ProjectionInEpilogue, HeadsAreNotInParallel) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  EXPECT_EQ(last(softmax).grain, 2); // blocks of queries; 4 with the heads
  softmax.batch = 3;
  EXPECT_EQ(last(softmax).grain, 6);
  softmax.queries = 8, softmax.window = 4; // two windows of a block
  EXPECT_EQ(last(softmax).grain, 6);
}

// 50 bytes a second of main memory, 4 cores.
TEST_F(ProjectionInEpilogue, SumsThatLeaveTheCoreAreWaitedFor) {
  DeviceDescription device = test::madeUpDevice(tile::TargetKind::CPU);
  WorkEstimate work;
  work.grain = 4, work.carriedBytes = 200, work.stepBytes = device.fastBytes;
  EXPECT_DOUBLE_EQ(priceOf(work, device).compute, 0);
  work.stepBytes += 1;
  EXPECT_DOUBLE_EQ(priceOf(work, device).compute, 4);
  work.grain = 1; // the other cores are idle, and the memory is one's own
  EXPECT_DOUBLE_EQ(priceOf(work, device).compute, 4);
}
