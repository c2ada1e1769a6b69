//===- PtxBarrierTest.cpp - Barriers of a block, 9.7.13.1, and their misuse ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

using namespace attune;
using namespace attune::test;

/// A body without parameters, run by so many threads of one block.
static PtxProgram run(const std::string &body, unsigned threads = 64) {
  PtxProgram program(ptxText(ptxKernel(0, body)));
  EXPECT_EQ(program.error, "") << body;
  program.run({threads, 1, 1}); // some cannot go on
  return program;
}

static void expectClean(const std::string &body, unsigned threads = 64) {
  PtxProgram program = run(body, threads);
  EXPECT_TRUE(program.emulator->report().clean()) << body << program.findings();
}

static void expectFinding(FindingKind kind, const std::string &body, unsigned threads = 64) {
  PtxProgram program = run(body, threads);
  EXPECT_NE(program.total(kind), 0u) << body << program.findings();
}

static std::string lessThan(unsigned threads) { return "setp.lt.u32 %p1, %r0, " + std::to_string(threads) + ";\n"; }

// bar.sync is barrier.sync.aligned: the lanes of a warp reach one instruction.
TEST(PtxBarrier, LanesOfAWarpMeetAtOne) {
  const std::string either = "@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nB:";
  expectFinding(FindingKind::Divergence, lessThan(16) + either);
  expectFinding(FindingKind::Divergence, lessThan(16) + "@%p1 bra A;\nbar.arrive 1, 64;\nbra B;\nA: bar.arrive 1, 64;\nB:");
  expectClean(lessThan(32) + either);
  expectClean(lessThan(16) + "@%p1 bra A;\nbarrier.sync 0;\nbra B;\nA: barrier.sync 0;\nB:"); // not .aligned
}

// 16 lanes of each of two warps are no 32 threads: a device counts two warps.
TEST(PtxBarrier, WholeWarpsAreCounted) {
  const std::string half = "and.b32 %r1, %r0, 16;\nsetp.eq.u32 %p1, %r1, 0;\n";
  expectFinding(FindingKind::Divergence, half + "@%p1 bar.sync 0, 32;");
  expectFinding(FindingKind::Divergence, half + "@%p1 barrier.sync 0, 32;");
  expectClean(lessThan(32) + "@%p1 bar.sync 0, 32;");
  expectClean("bar.sync 0;", 40); // the last warp is partial, and counts
  expectClean("bar.sync 1, 64;", 40);
}

TEST(PtxBarrier, CountsAreOfWarpsAndAgree) {
  expectFinding(FindingKind::BarrierMisuse, "mov.u32 %r1, 0;\nbar.sync 0, %r1;");
  expectFinding(FindingKind::BarrierMisuse, "mov.u32 %r1, 48;\nbar.sync 0, %r1;");
  expectClean("mov.u32 %r1, 64;\nbar.sync 0, %r1;");
  const std::string others = lessThan(32) + "@%p1 bra A;\nbar.sync 1, 64;\nbra B;\nA: bar.sync 1, ";
  expectFinding(FindingKind::BarrierMisuse, others + "96;\nB:");
  expectClean(others + "64;\nB:");
  expectFinding(FindingKind::Divergence, "and.b32 %r1, %r0, 1;\nbar.sync %r1, 64;"); // two barriers in a warp
}

TEST(PtxBarrier, ReductionsStandAlone) {
  const std::string others = lessThan(32) + "@%p1 bra A;\n";
  const std::string reduce = "A: bar.red.popc.u32 %r2, 0, 64, %p1;\nB:";
  expectFinding(FindingKind::BarrierMisuse, others + "bar.sync 0, 64;\nbra B;\n" + reduce);
  expectFinding(FindingKind::BarrierMisuse, others + "bar.arrive 0, 64;\nbra B;\n" + reduce);
  expectClean(others + "bar.red.popc.u32 %r2, 0, 64, %p1;\nbra B;\n" + reduce);
}

// Of threads, not of lanes that do not exist.
TEST(PtxBarrier, ReductionsCountThreads) {
  PtxProgram program(ptxText(ptxKernel(1, "ld.param.u64 %d1, [p0];\nmul.wide.u32 %d2, %r0, 4;\nadd.s64 %d1, %d1, %d2;\n"
                                          "setp.lt.u32 %p1, %r0, 99;\nbar.red.and.pred %p2, 0, %p1;\n"
                                          "bar.red.popc.u32 %r1, 1, %p1;\nselp.u32 %r2, 100, 0, %p2;\n"
                                          "add.u32 %r1, %r1, %r2;\nst.global.u32 [%d1], %r1;")));
  std::vector<uint32_t> out(40);
  EXPECT_EQ(program.buffer(out).run({40, 1, 1}), "");
  EXPECT_EQ(out, std::vector<uint32_t>(40, 140));
}
