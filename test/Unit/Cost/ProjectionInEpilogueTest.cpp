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
    more.products -= base.products, more.usefulProducts -= base.usefulProducts, more.liveBytes -= base.liveBytes;
    more.nearBytes -= base.nearBytes, more.mainBytes -= base.mainBytes;
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

TEST_F(ProjectionInEpilogue, OfEveryBlockOfEveryHead) {
  WorkEstimate more = added(shape(Family::Softmax, Form::Online));
  EXPECT_EQ(more.products, 2 * 2 * 4 * 60);                              // two blocks of two heads
  EXPECT_EQ(more.usefulProducts, 7 * 2 * 60);                            // n H dv D
  EXPECT_EQ(more.nearBytes, 4 * (2 * 2 * 60 + 7 * 12) - 4 * 7 * 2 * 5);  // weights, and y in the place of o
  EXPECT_EQ(more.mainBytes, 4 * (2 * 60 + 7 * 12) - 4 * 7 * 2 * 5);
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

TEST_F(ProjectionInEpilogue, SumsAreReadAndWrittenOnceAHead) {
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  EXPECT_EQ(last(softmax).carriedBytes, 2 * 2 * 2 * 4 * 4 * 12); // read and written; two heads of two blocks of 4 x 12
  softmax.outputModel = 0;
  EXPECT_EQ(last(softmax).carriedBytes, 0);
}

// Beside the sums and the weights of a head: its keys and values, or its state, or the agents, and what is projected.
TEST_F(ProjectionInEpilogue, AHeadTouchesWhatItReads) {
  double sums = 4 * 4 * 12, weights = 4 * 60;
  AttentionShape softmax = shape(Family::Softmax, Form::Online);
  EXPECT_EQ(last(softmax).stepBytes, sums + weights + 4 * 8 * (3 + 5));
  softmax.queryModel = 10;
  EXPECT_EQ(last(softmax).stepBytes, sums + weights + 4 * 8 * (3 + 5) + 4 * 10 * 3);
  softmax.queryModel = 0, softmax.keyModel = softmax.valueModel = 10; // x in the place of both
  EXPECT_EQ(last(softmax).stepBytes, sums + weights + 4 * 8 * 10 + 4 * 10 * (3 + 5));
  AttentionShape state = shape(Family::Kernel, Form::State);
  EXPECT_EQ(last(state).stepBytes, sums + weights + 4 * 3 * (5 + 1));
  AttentionShape agent = shape(Family::Agent, Form::Online);
  agent.agents = 6;
  EXPECT_EQ(last(agent).stepBytes, sums + weights + 4 * 6 * (3 + 5));
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
