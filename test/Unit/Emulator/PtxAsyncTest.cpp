//===- PtxAsyncTest.cpp - Barriers in shared memory and bulk stores of PTX, and their misuse ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include <numeric>

using namespace attune;
using namespace attune::test;

/// Thread 0 sets up the mbarrier at %r2 for `arrivals`; then all run the body. %d1 is p0, %r1 a tile of 512 bytes.
static PtxProgram run(unsigned arrivals, const std::string &body, std::vector<uint32_t> &out, unsigned threads = 64) {
  PtxProgram program(ptxText(".shared .align 128 .b8 s[512];\n.shared .align 8 .b64 bar;\n" + ptxKernel(1, R"(
  ld.param.u64 %d1, [p0];
  mov.u32 %r1, s;
  mov.u32 %r2, bar;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r2], )" + std::to_string(arrivals) + ";\nbar.sync 0;\n" + body)));
  EXPECT_EQ(program.error, "") << body;
  program.buffer(out).run({threads, 1, 1});
  return program;
}

/// Each thread stores its number, arrives, waits, and reads that of its partner in the other warp.
static uint64_t exchanged(const std::string &wait, FindingKind kind) {
  std::vector<uint32_t> out(64);
  PtxProgram program = run(64, R"(
  mad.lo.u32 %r3, %r0, 4, %r1;
  st.shared.u32 [%r3], %r0;
  mbarrier.arrive.shared.b64 %d5, [%r2];
WAIT:
  )" + wait + R"(
  xor.b32 %r4, %r0, 32;
  mad.lo.u32 %r3, %r4, 4, %r1;
  ld.shared.u32 %r5, [%r3];)", out);
  return program.total(kind);
}

// A wait orders if it says that the phase is over; who does not look, or does not ask again, may be too early.
TEST(PtxAsync, WaitsOrderWhenTheySaySo) {
  for (std::string name : {"test_wait", "try_wait"})
    for (std::string which : {".parity.shared.b64 %p2, [%r2], 0;\n", ".shared.b64 %p2, [%r2], %d5;\n"}) {
      std::string ask = "mbarrier." + name + which;
      EXPECT_EQ(exchanged(ask + "@!%p2 bra WAIT;", FindingKind::Race), 0u) << ask;
      EXPECT_NE(exchanged(ask, FindingKind::Race) + exchanged(ask, FindingKind::UninitialisedRead), 0u) << ask;
    }
}

TEST(PtxAsync, ParitiesAreBits) {
  const std::string ask = "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r6;\n@!%p2 bra WAIT;";
  EXPECT_EQ(exchanged("mov.u32 %r6, 0;\n" + ask, FindingKind::BarrierMisuse), 0u);
  EXPECT_NE(exchanged("mov.u32 %r6, 2;\n" + ask, FindingKind::BarrierMisuse), 0u);
}

TEST(PtxAsync, NoCompleteLeavesThePhaseIncomplete) {
  std::vector<uint32_t> out(1);
  auto misuse = [&](unsigned arrivals) {
    return run(arrivals, "@%p1 mbarrier.arrive.noComplete.shared.b64 %d5, [%r2], 2;", out).total(FindingKind::BarrierMisuse);
  };
  EXPECT_EQ(misuse(3), 0u);
  EXPECT_NE(misuse(2), 0u);
  EXPECT_EQ(run(2, "@%p1 mbarrier.arrive.shared.b64 %d5, [%r2], 2;", out).total(FindingKind::BarrierMisuse), 0u);
}

/// 128 numbers go out by a bulk store of thread 0, which reads the last of them back to word 0 of the tile's place.
static std::vector<uint32_t> readBack(const std::string &wait) {
  std::vector<uint32_t> out(256);
  PtxProgram program = run(1, R"(
  mad.lo.u32 %r3, %r0, 4, %r1;
  st.shared.u32 [%r3], %r0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%p1 bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 512;
  cp.async.bulk.commit_group;
  )" + wait + R"(
  st.shared.u32 [%r1], 99;
  ld.global.u32 %r4, [%d1+508];
  st.global.u32 [%d1+512], %r4;
END:)", out, 128);
  EXPECT_TRUE(program.emulator->report().clean()) << program.findings();
  return out;
}

// 9.7.9.25.3.4: behind .read the source may be written again, but what was stored need not be there.
TEST(PtxAsync, ReadWaitsAreForTheSource) {
  std::vector<uint32_t> want(128);
  std::iota(want.begin(), want.end(), 0);
  for (std::string wait : {"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;"})
    EXPECT_EQ(readBack(wait)[128], 127u) << wait;
  std::vector<uint32_t> early = readBack("cp.async.bulk.wait_group.read 0;");
  EXPECT_EQ(early[128], 0u);
  early.resize(128);
  EXPECT_EQ(early, want); // at the end it is
}
