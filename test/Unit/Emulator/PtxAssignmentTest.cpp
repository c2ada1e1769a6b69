//===- PtxAssignmentTest.cpp - Registers that nothing has written --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

using namespace attune;
using namespace attune::test;

static std::string refusal(const std::string &body) { return PtxProgram(ptxText(ptxKernel(1, body))).error; }

static void expectRefused(const std::string &body, const std::string &name, unsigned line = 12) {
  std::string start = "ptx:" + std::to_string(line) + ": expected a register that is written on each way here, but got '";
  EXPECT_EQ(refusal(body).substr(0, start.size() + name.size() + 1), start + name + "'") << body;
}

TEST(PtxAssignment, ReadBeforeItIsWritten) {
  expectRefused("add.u32 %r2, %r0, %r1;", "%r1");
  expectRefused("@%p1 bra A; A:", "%p1"); // it would be false
  expectRefused("max.f32 %r2, %r0, %r1;", "%r1"); // NaN would be gone
  expectRefused("ld.global.u32 %r1, [%d1];", "%d1");
  expectRefused("st.global.v2.u32 [%d0], {%r0, %r7};", "%r7");
  expectRefused("mov.u32 %r1, %r2; mov.u32 %r2, 0;", "%r2");
  EXPECT_EQ(refusal("mov.u32 %r1, 0; add.u32 %r2, %r0, %r1;"), "");
}

TEST(PtxAssignment, OnOneWayOnly) {
  const std::string test = "setp.eq.u32 %p1, %r0, 0;\n";
  expectRefused(test + "@%p1 bra A;\nmov.u32 %r1, 5;\nA: add.u32 %r2, %r1, 1;", "%r1", 15);
  EXPECT_EQ(refusal(test + "@%p1 bra A;\nmov.u32 %r1, 5;\nbra B;\nA: mov.u32 %r1, 6;\nB: add.u32 %r2, %r1, 1;"), "");
  expectRefused(test + "@%p1 mov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;", "%r1", 14);
  EXPECT_EQ(refusal(test + "mov.u32 %r1, 4;\n@%p1 mov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;"), "");
}

TEST(PtxAssignment, AroundALoop) {
  const std::string again = "setp.lt.u32 %p1, %r0, 9;\n@%p1 bra A;\n";
  expectRefused("A: add.u32 %r1, %r1, 1;\n" + again, "%r1");
  expectRefused("bra B;\nA: mov.u32 %r1, 1;\nB: add.u32 %r2, %r1, 1;\n" + again, "%r1", 14);
  EXPECT_EQ(refusal("mov.u32 %r1, 0;\nA: add.u32 %r1, %r1, 1;\n" + again), "");
  // What nobody can reach is not asked.
  EXPECT_EQ(refusal("ret;\nadd.u32 %r1, %r1, 1;"), "");
}
