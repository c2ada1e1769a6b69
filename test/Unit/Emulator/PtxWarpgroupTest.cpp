//===- PtxWarpgroupTest.cpp - Products of warpgroups in PTX, and their misuse ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include <cmath>

using namespace attune;
using namespace attune::test;

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

TEST(PtxWarpgroup, OrderAndOperands) {
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

static uint64_t found(FindingKind kind, const std::string &text) {
  PtxProgram program(text);
  std::vector<float> out(512);
  EXPECT_EQ(program.error, "");
  program.buffer(out).run({128, 1, 1});
  return program.total(kind);
}

static const std::string proxy = "fence.proxy.async.shared::cta;", fenced = "wgmma.fence.sync.aligned;";
static const std::string waited = "wgmma.wait_group.sync.aligned 0;";
static const std::string committed = "wgmma.commit_group.sync.aligned;\n";
static const std::string sums = "{%r40, %r41, %r42, %r43}", a = "{%r50, %r51, %r52, %r53}";
static const std::string setA = "mov.b32 %r50, 0; mov.b32 %r51, 0; mov.b32 %r52, 0; mov.b32 %r53, 0;\n";

static std::string multiplied(const std::string &to, const std::string &operands, const std::string &shape = "m64n8k16") {
  return "wgmma.mma_async.sync.aligned." + shape + ".f32.bf16.bf16 " + to + ", " + operands + ";\n";
}

/// A product of registers behind `before`; the first of product() follows.
static std::string ofRegisters(const std::string &before) {
  return product(proxy, before + multiplied(sums, a + ", %d6, %p1, 1, 1, 0") + committed + waited + fenced, waited);
}

// 9.7.15.7.1: the fence stands behind the last other instruction on a register.
TEST(PtxWarpgroup, FencesAreOfRegisters) {
  FindingKind kind = FindingKind::RegisterInFlight;
  EXPECT_EQ(found(kind, product(proxy, "mov.b32 %r41, 0; " + fenced, waited)), 0u);
  EXPECT_NE(found(kind, product(proxy, fenced + "mov.b32 %r41, 0;", waited)), 0u);
  EXPECT_NE(found(kind, product(proxy, fenced + "add.f32 %r60, %r43, %r43;", waited)), 0u);
  EXPECT_EQ(found(kind, product(proxy, fenced + "mov.b32 %r60, 0;", waited)), 0u); // another register
  EXPECT_EQ(found(kind, ofRegisters(setA + fenced)), 0u);
  EXPECT_NE(found(kind, ofRegisters(fenced + setA)), 0u);
}

// Products add to each other's sums where shape and place are the same, and to nothing else of each other's.
TEST(PtxWarpgroup, ProductsInFlight) {
  FindingKind kind = FindingKind::RegisterInFlight;
  const std::string same = "%d5, %d6, %p1, 1, 1, 0, 0", first = multiplied(sums, same) + committed;
  EXPECT_EQ(found(kind, product(proxy, fenced + first, waited)), 0u);
  const std::string more = "mov.b32 %r44, 0; mov.b32 %r45, 0; mov.b32 %r46, 0; mov.b32 %r47, 0;\n" + fenced;
  const std::string wide = multiplied("{%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47}", same, "m64n16k16") + committed;
  EXPECT_NE(found(kind, product(proxy, more + wide, waited)), 0u);
  EXPECT_EQ(found(kind, product(proxy, more + wide + waited + fenced, waited)), 0u);
  EXPECT_NE(found(kind, product(proxy, fenced + multiplied("{%r41, %r40, %r42, %r43}", same) + committed, waited)), 0u);
  // A of the second is what the first fills, or the first reads what the second fills.
  const std::string chained = multiplied(a, same) + committed;
  const std::string use = multiplied(sums, a + ", %d6, %p1, 1, 1, 0") + committed;
  EXPECT_NE(found(kind, product(proxy, setA + fenced + chained + use, waited)), 0u);
  EXPECT_EQ(found(kind, product(proxy, setA + fenced + chained + waited + fenced + use, waited)), 0u);
  EXPECT_NE(found(kind, product(proxy, setA + fenced + use + chained, waited)), 0u);
  EXPECT_EQ(found(kind, product(proxy, setA + fenced + use + use, waited)), 0u); // both read A
}

TEST(PtxWarpgroup, OperandsAreTheGroups) {
  FindingKind kind = FindingKind::Divergence;
  auto given = [](const std::string &change) { return product(proxy, change + fenced, waited); };
  EXPECT_EQ(found(kind, given("")), 0u);
  EXPECT_NE(found(kind, given("and.b32 %r60, %r0, 1; cvt.u64.u32 %d20, %r60; add.u64 %d6, %d6, %d20;")), 0u);
  EXPECT_NE(found(kind, given("shr.u32 %r60, %r0, 6; cvt.u64.u32 %d20, %r60; add.u64 %d6, %d6, %d20;")), 0u);
  EXPECT_NE(found(kind, given("shr.u32 %r60, %r0, 6; cvt.u64.u32 %d20, %r60; add.u64 %d5, %d5, %d20;")), 0u);
  EXPECT_NE(found(kind, given("setp.lt.u32 %p1, %r0, 7;")), 0u);
  EXPECT_NE(found(kind, given("setp.lt.u32 %p1, %r0, 64;")), 0u);
  const std::string two = multiplied(sums, "%d5, %d6, %p1, 1, 1, 0, 0");
  EXPECT_NE(found(kind, given(fenced + "setp.lt.u32 %p5, %r0, 64;\n@%p5 bra L;\n" + two + "bra M;\nL: " + two + "M:")), 0u);
}

// Bits 14, 15, 30, 31, 46 to 48 and 52 to 61 belong to no field.
TEST(PtxWarpgroup, DescriptorsHaveOnlyTheirFields) {
  for (std::string bits : {"0x4000", "0x80000000", "0x400000000000", "0x1000000000000", "0x10000000000000",
                           "0x2000000000000000"})
    EXPECT_NE(found(FindingKind::Misaligned, product(proxy, "or.b64 %d6, %d6, " + bits + ";" + fenced, waited)), 0u)
        << bits;
}

// Sums that nothing has written go into no product that adds to them.
TEST(PtxWarpgroup, UnwrittenSums) {
  std::string text = product(proxy, fenced, waited);
  const std::string set = "mov.b32 %r40, 0f42C80000; mov.b32 %r41, %r40; mov.b32 %r42, %r40; mov.b32 %r43, %r40;";
  text.replace(text.find(set), set.size(), "");
  PtxProgram fromZero(text);
  std::vector<float> out(512);
  ASSERT_EQ(fromZero.buffer(out).run({128, 1, 1}), "");
  EXPECT_EQ(out[16 * 4], 4.0f);
  text.replace(text.find("mov.pred %p1, 0"), 15, "mov.pred %p1, 1");
  PtxProgram added(text);
  ASSERT_EQ(added.buffer(out).run({128, 1, 1}), "");
  EXPECT_TRUE(std::isnan(out[16 * 4]));
}
