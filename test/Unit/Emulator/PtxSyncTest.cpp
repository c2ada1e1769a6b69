//===- PtxSyncTest.cpp - Warp and block instructions of PTX, copies, products of warpgroups ===//
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

//===----------------------------------------------------------------------===//
// Products of warpgroups
//===----------------------------------------------------------------------===//

// A [64, 16] and the transpose of B [16, 8], bf16, lie in 8 x 16-byte pieces without swizzle: the next piece along k is
// 128 bytes on, the next 8 rows 256. Element (i, k) of A is i, that of B is 1 where k = n, so D (i, n) is i.
static std::string product(const std::string &fence, const std::string &order, const std::string &wait,
                           const std::string &operands = "%d5, %d6, %p1, 1, 1, 0, 0") {
  return ptxText(".shared .align 128 .b8 s[2304];\n" +
                 ptxKernel(1, R"(
  ld.param.u64 %d1, [p0];
  mov.u32 %r1, s;
  setp.ge.u32 %p2, %r0, 64;
  shr.u32 %r2, %r0, 3;
  and.b32 %r3, %r0, 7;
  mad.lo.u32 %r4, %r2, 256, %r1;
  mad.lo.u32 %r4, %r3, 16, %r4;
  cvt.rn.f32.u32 %r5, %r0;
  cvt.rn.bf16x2.f32 %r6, %r5, %r5;
  @%p2 bra B;
  st.shared.v4.b32 [%r4], {%r6, %r6, %r6, %r6};
  st.shared.v4.b32 [%r4+128], {%r6, %r6, %r6, %r6};
  bra READY;
B:
  setp.ge.u32 %p3, %r0, 80;
  @%p3 bra READY;
  sub.u32 %r7, %r0, 64;
  mad.lo.u32 %r8, %r7, 16, %r1;
  mov.b32 %r9, 0;
  st.shared.v4.b32 [%r8+2048], {%r9, %r9, %r9, %r9};
  setp.ge.u32 %p4, %r0, 72;
  @%p4 bra READY;
  mad.lo.u32 %r8, %r7, 2, %r8;
  mov.b16 %h1, 0x3f80;
  st.shared.b16 [%r8+2048], %h1;
READY:
  )" + fence + R"(
  bar.sync 0;
  cvt.u64.u32 %d3, %r1;
  shr.u64 %d3, %d3, 4;
  or.b64 %d5, %d3, 0x1000080000;
  add.s64 %d6, %d5, 128;
  mov.b32 %r40, 0f42C80000; mov.b32 %r41, %r40; mov.b32 %r42, %r40; mov.b32 %r43, %r40;
  mov.pred %p1, 0;
  )" + order + "\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r40, %r41, %r42, %r43}, " +
                                  operands + ";\nwgmma.commit_group.sync.aligned;\n" + wait + R"(
  mad.wide.u32 %d2, %r0, 16, %d1;
  st.global.v4.b32 [%d2], {%r40, %r41, %r42, %r43};)"));
}

TEST(PtxSync, ProductsOfWarpgroups) {
  const std::string fence = "fence.proxy.async.shared::cta;", order = "wgmma.fence.sync.aligned;";
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  std::vector<float> out(512);
  auto run = [&](const std::string &text) {
    PtxProgram program(text);
    EXPECT_EQ(program.buffer(out).run({128, 1, 1}), "");
    return program;
  };
  PtxProgram good = run(product(fence, order, wait));
  EXPECT_TRUE(good.emulator->report().clean()) << good.findings();
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 4; ++i) // 9.7.15.5.1.1: row of the warp's 16, column 2 (lane % 4) and the next
      EXPECT_EQ(out[thread * 4 + i], float(thread / 32 * 16 + thread % 32 / 4 + (i < 2 ? 0 : 8))) << thread << " " << i;
  run(product(fence, order, wait, "%d5, %d6, %p1, -1, 1, 0, 0"));
  EXPECT_EQ(out[4], -0.0f - 0); // row 0 of warp 0
  EXPECT_EQ(out[16 * 4], -4.0f);
  run(product(fence, order + "mov.pred %p1, 1;", wait));
  EXPECT_EQ(out[16 * 4], 104.0f); // added to what was there
  EXPECT_NE(run(product("", order, wait)).total(FindingKind::ProxyOrder), 0u);
  EXPECT_NE(run(product(fence, "", wait)).total(FindingKind::RegisterInFlight), 0u);
  EXPECT_NE(run(product(fence, order, "")).total(FindingKind::RegisterInFlight), 0u);
  EXPECT_NE(run(product(fence, order, "wgmma.wait_group.sync.aligned 1;")).total(FindingKind::RegisterInFlight), 0u);
  PtxProgram overwritten = run(product(fence, order, "mov.b32 %r41, 0; " + wait));
  EXPECT_NE(overwritten.total(FindingKind::RegisterInFlight), 0u);
  run(product(fence, order, wait, "%d6, %d5, %p1, 1, 1, 0, 0")); // operands exchanged
  EXPECT_NE(out[16 * 4], 4.0f);
}
