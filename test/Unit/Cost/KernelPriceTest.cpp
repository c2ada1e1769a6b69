//===- KernelPriceTest.cpp - Seconds worked by hand -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelPrice.h"
#include "Devices.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using namespace attune::test;

/// 1,000 products (10 s on one core at 100 a second), 20 others (2 s), 40 exponentials (8 s), in 4 programs.
static WorkEstimate sample() {
  WorkEstimate work;
  work.products = 1000, work.elementwise = 20, work.exps = 40, work.grain = 4;
  return work;
}

TEST(KernelPrice, PhasesFollowEachOtherOnACpu) {
  KernelPrice price = priceOf(sample(), madeUpDevice(tile::TargetKind::CPU));
  EXPECT_DOUBLE_EQ(price.compute, 5); // (10 + 2 + 8) over 4 cores
  EXPECT_DOUBLE_EQ(price.seconds(), 5.25);
  EXPECT_STREQ(price.limit(), "compute");
}

TEST(KernelPrice, PhasesOverlapOnAGpu) {
  // max(10, 2 + 8) over 4.
  EXPECT_DOUBLE_EQ(priceOf(sample(), madeUpDevice(tile::TargetKind::GPU)).compute, 2.5);
}

// Of 1,000 products 300 are of tf32, which take twice as long: three for one of f32, that takes six times as long. 1,300 at
// 100 a second over 4 cores.
TEST(KernelPrice, ProductsOfF32TakeSeveralPassesOnAGpu) {
  WorkEstimate work = sample();
  work.tf32Products = 300;
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::GPU)).compute, 3.25);
}

// 160 at 20 a second are 8 s of one core and pass beside the products; 240 are 12 s, over 4 cores, and what the rest
// waits for.
TEST(KernelPrice, ShufflesAreALimitOfTheirOwn) {
  WorkEstimate work = sample();
  work.shuffles = 160;
  KernelPrice price = priceOf(work, madeUpDevice(tile::TargetKind::GPU));
  EXPECT_DOUBLE_EQ(price.compute, 2.5);
  EXPECT_DOUBLE_EQ(price.shuffles, 2);
  EXPECT_STREQ(price.limit(), "compute");
  work.shuffles = 240;
  price = priceOf(work, madeUpDevice(tile::TargetKind::GPU));
  EXPECT_DOUBLE_EQ(price.compute, 3);
  EXPECT_STREQ(price.limit(), "shuffles");
  EXPECT_DOUBLE_EQ(price.seconds(), 3.25);
  work.grain = 1; // one core does everything
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::GPU)).compute, 12);
  EXPECT_DOUBLE_EQ(priceTogether({work, work}, madeUpDevice(tile::TargetKind::GPU)).compute, 12); // a core each
}

TEST(KernelPrice, IdleCoresCost) {
  WorkEstimate work = sample();
  work.grain = 1; // one core does everything
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).compute, 20);
  work.grain = 5; // two waves of a fifth each
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).compute, 8);
}

TEST(KernelPrice, TheLongestOfThreeCounts) {
  WorkEstimate work = sample();
  work.nearBytes = 2400; // 6 s at 4 cores of 100
  KernelPrice near = priceOf(work, madeUpDevice(tile::TargetKind::CPU));
  EXPECT_DOUBLE_EQ(near.seconds(), 6.25);
  EXPECT_STREQ(near.limit(), "near memory");
  work.mainBytes = 350; // 7 s at 50
  KernelPrice main = priceOf(work, madeUpDevice(tile::TargetKind::CPU));
  EXPECT_DOUBLE_EQ(main.seconds(), 7.25);
  EXPECT_STREQ(main.limit(), "main memory");
}

// 100 bytes at 50 a second, of which one core of four reaches a quarter. Of a GPU near memory says what a core reaches.
TEST(KernelPrice, OneCoreHasItsPartOfMainMemory) {
  WorkEstimate work;
  work.mainBytes = 100, work.grain = 1;
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).mainMemory, 8);
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::GPU)).mainMemory, 2);
  work.grain = 4;
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).mainMemory, 2);
}

// Of 20 others 10, and 600 of 2,400 bytes, are left to 2 of the 4 points: they wait for the others and for a part of a launch.
TEST(KernelPrice, PointsThatWaitForOthers) {
  WorkEstimate work = sample();
  work.nearBytes = 2400, work.mainBytes = 700, work.lastOps = 10, work.lastBytes = 600, work.lastGrain = 2;
  KernelPrice cpu = priceOf(work, madeUpDevice(tile::TargetKind::CPU));
  EXPECT_DOUBLE_EQ(cpu.compute, 4.75);   // (10 + 1 + 8) over 4 cores
  EXPECT_DOUBLE_EQ(cpu.nearMemory, 4.5); // 1,800 bytes at 4 cores of 100
  EXPECT_DOUBLE_EQ(cpu.mainMemory, 2);   // 100 bytes at 50
  EXPECT_DOUBLE_EQ(cpu.last, 12.025);    // 600 bytes at 50, .25 / 10
  EXPECT_DOUBLE_EQ(cpu.seconds(), .25 + 4.75 + 12.025);
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::GPU)).last, 12 + .25 / 3);
  work.elementwise = 1010, work.lastOps = 1000; // 100 s of one core, over 2
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).last, 50.025);
}

TEST(KernelPrice, TilesThatOverflowStreamTwice) {
  WorkEstimate work = sample();
  work.nearBytes = 2400, work.liveBytes = 1e6 + 1;
  EXPECT_DOUBLE_EQ(priceOf(work, madeUpDevice(tile::TargetKind::CPU)).nearMemory, 12);
}

TEST(KernelPrice, LaunchesCountWhereThereIsNothingToDo) {
  WorkEstimate work;
  work.grain = 0, work.launches = 3;
  KernelPrice price = priceOf(work, madeUpDevice(tile::TargetKind::CPU));
  EXPECT_DOUBLE_EQ(price.seconds(), 0.75);
  EXPECT_STREQ(price.limit(), "launch");
}

TEST(KernelPrice, TogetherCoresTakeWhatIsNext) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  WorkEstimate small; // 3 s in 6 points
  small.products = 300, small.grain = 6;
  // Four points of 5 s, then six of .5 s: four cores at 5, at 5.5, two of them at 6.
  EXPECT_DOUBLE_EQ(priceTogether({sample(), small}, device).seconds(), 6.25); // in turn 5.25 and 1.25
  // First the six: two cores at 1, two at .5.
  EXPECT_DOUBLE_EQ(priceTogether({small, sample()}, device).seconds(), 6.25);
  WorkEstimate one; // a point of 8 s
  one.products = 800, one.grain = 1;
  // The other three cores take four of 5 s: one of them a second one.
  EXPECT_DOUBLE_EQ(priceTogether({one, sample()}, device).seconds(), 10.25); // in turn 8.25 and 5.25
  EXPECT_DOUBLE_EQ(priceTogether({sample(), one}, device).seconds(), 13.25); // a long point at the end
  EXPECT_DOUBLE_EQ(priceTogether({one, one}, device).seconds(), 8.25);
  EXPECT_DOUBLE_EQ(priceTogether({sample()}, device).seconds(), priceOf(sample(), device).seconds());
}

TEST(KernelPrice, TogetherBytesAddUp) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  WorkEstimate one, other;
  one.nearBytes = 400, one.mainBytes = 50, other.nearBytes = 200, other.mainBytes = 100;
  // 600 bytes through two cores of 100: they have one point each.
  EXPECT_DOUBLE_EQ(priceTogether({one, other}, device).nearMemory, 3);
  EXPECT_DOUBLE_EQ(priceTogether({one, other}, device).mainMemory, 6); // 150 bytes at half of 50
  other.liveBytes = 1e6 + 1; // its tiles stream twice
  EXPECT_DOUBLE_EQ(priceTogether({one, other}, device).nearMemory, 4);
  WorkEstimate sum = workTogether({one, other});
  EXPECT_EQ(sum.launches, 1);
  EXPECT_EQ(sum.grain, 2);
  EXPECT_EQ(sum.mainBytes, 150);
}

TEST(KernelPrice, TogetherManyPointsGoRound) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  WorkEstimate one, many; // 20 s, then 100,000 points of .001 s: 120 s over four cores
  one.products = 2000, one.grain = 1, many.products = 10000, many.grain = 100000;
  EXPECT_NEAR(priceTogether({one, many}, device).compute, 30, 1e-3);
}
