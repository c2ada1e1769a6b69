//===- PtxSyncTest.cpp - Warp and block instructions of PTX, copies ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include "Numbers.h"

#include <numeric>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;

/// Word 0 of p0 for each thread is %r9 after the body.
static std::string perThread(const std::string &body, const std::string &variables = "") {
  return ptxText(variables + ptxKernel(1, "ld.param.u64 %d1, [p0];\nmad.wide.u32 %d2, %r0, 4, %d1;\n" + body +
                                              "\nst.global.u32 [%d2], %r9;"));
}

static std::vector<uint32_t> results(const std::string &text, unsigned threads = 32) {
  PtxProgram program(text);
  std::vector<uint32_t> out(threads);
  EXPECT_EQ(program.buffer(out).run({threads, 1, 1}), "");
  if (program.emulator) {
    EXPECT_TRUE(program.emulator->report().clean()) << program.findings();
  }
  return out;
}

static void expectEach(const std::string &body, uint32_t (*want)(uint32_t lane)) {
  std::vector<uint32_t> out = results(perThread(body));
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], want(lane)) << body << ", lane " << lane;
}

TEST(PtxSync, Shuffles) {
  expectEach("shfl.sync.bfly.b32 %r9, %r0, 5, 31, -1;", [](uint32_t lane) { return lane ^ 5; });
  expectEach("shfl.sync.idx.b32 %r9, %r0, 3, 0x1c1f, -1;", [](uint32_t lane) { return lane / 4 * 4 + 3; });
  expectEach("shfl.sync.up.b32 %r9, %r0, 2, 0, -1;", [](uint32_t lane) { return lane < 2 ? lane : lane - 2; });
  expectEach("shfl.sync.down.b32 %r9|%p1, %r0, 1, 31, -1; @!%p1 mov.b32 %r9, 99;",
             [](uint32_t lane) { return lane == 31 ? 99 : lane + 1; });
}

TEST(PtxSync, VotesAndReductions) {
  std::string less = "setp.lt.u32 %p1, %r0, 4; ";
  expectEach(less + "vote.sync.ballot.b32 %r9, %p1, -1;", [](uint32_t) { return 15u; });
  expectEach(less + "vote.sync.ballot.b32 %r9, !%p1, -1;", [](uint32_t) { return ~15u; });
  expectEach(less + "vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", [](uint32_t) { return 1u; });
  expectEach(less + "vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", [](uint32_t) { return 0u; });
  expectEach("redux.sync.add.u32 %r9, %r0, -1;", [](uint32_t) { return 496u; });
  expectEach("neg.s32 %r1, %r0; redux.sync.min.s32 %r9, %r1, -1;", [](uint32_t) { return uint32_t(-31); });
  expectEach("shr.u32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;",
             [](uint32_t lane) { return 0xffu << lane / 8 * 8; });
  expectEach("elect.sync %r1|%p1, -1; selp.u32 %r9, 7, %r1, %p1;", [](uint32_t lane) { return lane ? 0u : 7u; });
}

TEST(PtxSync, BarriersOfABlock) {
  const std::string exchange = "mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0;\n";
  const std::string read = "xor.b32 %r3, %r0, 32; mad.lo.u32 %r4, %r3, 4, %r1; ld.shared.u32 %r9, [%r4];";
  const std::string s = ".shared .b32 s[64];\n";
  for (std::string barrier : {"bar.sync 0;", "bar.sync 3, 64;", "barrier.sync.aligned 1;", "bar.cta.sync 0;"}) {
    std::vector<uint32_t> out = results(perThread(exchange + barrier + read, s), 64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], i ^ 32) << barrier;
  }
  PtxProgram without(perThread(exchange + read, s));
  std::vector<uint32_t> out(64);
  EXPECT_EQ(without.buffer(out).run({64, 1, 1}), "");
  EXPECT_FALSE(without.emulator->report().clean());
  std::string reduce = "setp.lt.u32 %p1, %r0, 5; bar.red.popc.u32 %r9, 0, %p1; bar.red.or.pred %p2, 0, %p1;\n"
                       "bar.red.and.pred %p3, 1, 64, !%p1; selp.u32 %r5, 100, 0, %p2; selp.u32 %r6, 1000, 0, %p3;\n"
                       "add.u32 %r9, %r9, %r5; add.u32 %r9, %r9, %r6;";
  EXPECT_EQ(results(perThread(reduce), 64)[40], 105u);
}

TEST(PtxSync, Atomics) {
  PtxProgram program(ptxText(ptxKernel(1, R"(
  ld.param.u64 %d1, [p0];
  atom.relaxed.gpu.global.add.u32 %r1, [%d1], 3;
  atom.global.max.s32 %r2, [%d1+4], %r0;
  red.global.or.b32 [%d1+8], 6;
  atom.global.cas.b32 %r3, [%d1+12], 7, 9;
  atom.global.exch.b64 %d3, [%d1+16], 5;
  atom.global.inc.u32 %r4, [%d1+24], 2;
  atom.global.add.f32 %r5, [%d1+28], 0f3F800000;
  fence.acq_rel.gpu;
  membar.gl;)")));
  std::vector<uint32_t> memory = {1, 0xffffffff, 1, 7, 1, 1, 1, floatToBits(2)};
  ASSERT_EQ(program.buffer(memory).run({4, 1, 1}), "");
  EXPECT_EQ(memory, (std::vector<uint32_t>{13, 3, 7, 9, 5, 0, 2, floatToBits(6)}));
}

// 8.7: atomic accesses of two blocks do not race only if both name a scope that has both.
TEST(PtxSync, AtomicsOfABlockRaceWithOthers) {
  auto races = [](const std::string &update, Dim3 grid, Dim3 block) {
    PtxProgram program(ptxText(ptxKernel(1, "ld.param.u64 %d1, [p0];\n" + update)));
    std::vector<float> sum(1);
    EXPECT_EQ(program.buffer(sum).run(block, grid), "");
    return program.total(FindingKind::Race) != 0;
  };
  for (std::string name : {"red%.global.add.f32 [%d1], 0f3F800000;", "atom%.global.add.u32 %r1, [%d1], 1;",
                           "atom.relaxed%.global.cas.b32 %r1, [%d1], 0, 1;"}) {
    auto scoped = [&](const std::string &scope) { return std::string(name).replace(name.find('%'), 1, scope); };
    EXPECT_TRUE(races(scoped(".cta"), {2, 1, 1}, {1, 1, 1})) << name;
    EXPECT_FALSE(races(scoped(".cta"), {1, 1, 1}, {64, 1, 1})) << name;
    EXPECT_FALSE(races(scoped(".gpu"), {2, 1, 1}, {64, 1, 1})) << name;
  }
  EXPECT_FALSE(races("red.global.add.f32 [%d1], 0f3F800000;", {2, 1, 1}, {64, 1, 1})); // .gpu if none is named
  const std::string both = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0;\n@%p1 red.gpu.global.add.u32 [%d1], 1;\n"
                           "@!%p1 red.cta.global.add.u32 [%d1], 1;";
  EXPECT_TRUE(races(both, {2, 1, 1}, {1, 1, 1}));
}

// What ld.global.nc reads is written by nobody in the launch, before or after, ordered or not.
TEST(PtxSync, ConstantLoadsAreOfWhatNobodyWrites) {
  auto races = [](const std::string &body) {
    PtxProgram program(ptxText(ptxKernel(1, "ld.param.u64 %d1, [p0];\n" + body)));
    std::vector<uint32_t> memory(2);
    EXPECT_EQ(program.buffer(memory).run({1, 1, 1}), "");
    return program.total(FindingKind::Race) != 0;
  };
  EXPECT_FALSE(races("ld.global.nc.u32 %r1, [%d1]; st.global.u32 [%d1+4], %r1;"));
  EXPECT_TRUE(races("ld.global.nc.u32 %r1, [%d1]; st.global.u32 [%d1], %r1;"));
  EXPECT_TRUE(races("st.global.u32 [%d1], %r0; membar.gl; ld.global.nc.u32 %r1, [%d1];"));
  EXPECT_TRUE(races("ld.global.nc.u32 %r1, [%d1]; red.global.add.u32 [%d1], 1;"));
  EXPECT_FALSE(races("st.global.u32 [%d1], %r0; ld.global.u32 %r1, [%d1];"));
}

// Constants have a state space of their own; a generic address may be one of them, to be read.
TEST(PtxSync, ConstantsAreNotGlobal) {
  auto strays = [](const std::string &body) {
    PtxProgram program(ptxText(".const .b32 few[2] = {8, 9};\n.global .b32 many[2];\n" +
                               ptxKernel(0, "mov.u64 %d1, few; mov.u64 %d2, many;\n" + body)));
    EXPECT_EQ(program.run({1, 1, 1}), "");
    return program.total(FindingKind::OutOfBounds) != 0;
  };
  EXPECT_FALSE(strays("ld.const.u32 %r1, [%d1+4]; ld.global.u32 %r1, [%d2]; st.global.u32 [%d2], %r1;"));
  EXPECT_FALSE(strays("cvta.const.u64 %d3, %d1; ld.u32 %r1, [%d3];"));
  EXPECT_TRUE(strays("ld.const.u32 %r1, [%d2];"));
  EXPECT_TRUE(strays("ld.global.u32 %r1, [%d1];"));
  EXPECT_TRUE(strays("st.global.u32 [%d2+8], %r0;"));
  EXPECT_TRUE(strays("cvta.const.u64 %d3, %d2; ld.const.u32 %r1, [%d3];"));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Each lane copies 16 bytes and reads the last word of its own.
static PtxProgram copying(const std::string &copy, const std::string &wait, std::vector<uint32_t> &memory) {
  memory.resize(128);
  std::iota(memory.begin(), memory.end(), 0);
  PtxProgram program(ptxText(".shared .align 16 .b8 s[512];\n" +
                             ptxKernel(1, "ld.param.u64 %d1, [p0];\nmad.wide.u32 %d2, %r0, 16, %d1;\nmov.u32 %r1, s;\n"
                                          "mad.lo.u32 %r2, %r0, 16, %r1;\n" +
                                              copy + "cp.async.commit_group;\n" + wait +
                                              "ld.shared.u32 %r3, [%r2+12];\nst.global.u32 [%d2], %r3;")));
  EXPECT_EQ(program.buffer(memory).run({32, 1, 1}), "");
  return program;
}

TEST(PtxSync, CopiesLandWhenWaitedFor) {
  std::vector<uint32_t> memory;
  const std::string whole = "cp.async.cg.shared.global [%r2], [%d2], 16;\n";
  PtxProgram good = copying(whole, "cp.async.wait_group 0;\n", memory);
  EXPECT_TRUE(good.emulator->report().clean()) << good.findings();
  EXPECT_EQ(memory[4 * 7], 4u * 7 + 3);
  PtxProgram cut = copying("mov.b32 %r5, 8;\ncp.async.cg.shared.global.L2::128B [%r2], [%d2], 16, %r5;\n",
                           "cp.async.wait_all;\n", memory);
  EXPECT_TRUE(cut.emulator->report().clean()) << cut.findings();
  EXPECT_EQ(memory[4 * 7], 0u);
  PtxProgram more = copying("mov.b32 %r5, 20;\ncp.async.cg.shared.global [%r2], [%d2], 16, %r5;\n",
                            "cp.async.wait_all;\n", memory);
  EXPECT_NE(more.total(FindingKind::OutOfBounds), 0u); // 9.7.9.25.3.1: undefined
  PtxProgram late = copying(whole, "cp.async.wait_group 1;\n", memory);
  EXPECT_NE(late.total(FindingKind::CopyInFlight), 0u);
  PtxProgram crossed = copying("cp.async.cg.shared.global [%d2], [%d1], 16;\n", "", memory);
  EXPECT_NE(crossed.total(FindingKind::OutOfBounds), 0u);
}

/// A bulk copy of 512 bytes by thread 0, which all wait for.
static std::string bulk(const std::string &expect, const std::string &wait) {
  return ptxText(".shared .align 16 .b8 s[512];\n.shared .align 8 .b64 bar;\n" + ptxKernel(2, R"(
  ld.param.u64 %d1, [p0];
  ld.param.u64 %d5, [p1];
  mad.wide.u32 %d2, %r0, 4, %d5;
  mov.u32 %r1, s;
  mov.u32 %r2, bar;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
  bar.sync 0;
  @!%p1 bra WAIT;
  )" + expect + R"(
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 512, [%r2];
WAIT:
  )" + wait + R"(
  mad.lo.u32 %r3, %r0, 4, %r1;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%d2], %r4;)"));
}

TEST(PtxSync, BulkCopiesTellTheirBarrier) {
  const std::string expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;";
  const std::string wait = "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;";
  std::vector<uint32_t> in(128), out(128);
  std::iota(in.begin(), in.end(), 5);
  PtxProgram good(bulk(expect, wait));
  ASSERT_EQ(good.buffer(in).buffer(out).run({128, 1, 1}), "");
  EXPECT_TRUE(good.emulator->report().clean()) << good.findings();
  EXPECT_EQ(in, out);
  PtxProgram few(bulk("mbarrier.arrive.shared.b64 %d9, [%r2];", wait)), none(bulk(expect, ""));
  EXPECT_EQ(few.buffer(in).buffer(out).run({128, 1, 1}), "");
  EXPECT_NE(few.total(FindingKind::CopyInFlight), 0u);
  EXPECT_EQ(none.buffer(in).buffer(out).run({128, 1, 1}), "");
  EXPECT_NE(none.total(FindingKind::CopyInFlight), 0u);
  PtxProgram wrong(bulk(expect, "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 1;")); // the phase before is over
  EXPECT_EQ(wrong.buffer(in).buffer(out).run({128, 1, 1}), "");
  EXPECT_NE(wrong.total(FindingKind::CopyInFlight), 0u);
}
