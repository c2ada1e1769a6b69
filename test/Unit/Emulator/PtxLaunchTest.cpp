//===- PtxLaunchTest.cpp - Parameters, variables and bounds of PTX entries ===//
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

TEST(PtxLaunch, ParametersHaveTheirWidths) {
  PtxProgram program(ptxText(R"(
.entry k(.param .u64 .ptr .global .align 1 out, .param .u32 wide, .param .u16 narrow, .param .f32 real, .param .u8 byte)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b16 %h<3>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [wide];
  ld.param.u16 %r2, [narrow];
  ld.param.f32 %r3, [real];
  ld.param.s8 %h1, [byte];
  cvt.s32.s16 %r4, %h1;
  ld.param.u16 %r5, [wide+2];
  st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
  st.global.u32 [%d1+16], %r5;
}
)"));
  std::vector<uint32_t> out(6);
  program.buffer(out).value(0xffffffff12345678).value(0x99998765).value(0x3f800000).value(0x180);
  ASSERT_EQ(program.run({1, 1, 1}), "");
  EXPECT_EQ(out, (std::vector<uint32_t>{0x12345678, 0x8765, 0x3f800000, 0xffffff80, 0x1234, 0}));
  program.parameters.pop_back();
  EXPECT_EQ(program.run({1, 1, 1}), "expected 5 parameters for kernel 'k', but got 4");
}

TEST(PtxLaunch, VariablesHaveTheirPlaces) {
  PtxProgram program(ptxText(".global .align 4 .b32 table[4] = {5, -6, 0x7, 0f3F800000};\n"
                             ".const .align 2 .b16 few[3] = {8, 9};\n"
                             ".shared .align 8 .b8 fixed[64];\n.extern .shared .align 16 .b8 rest[];\n" +
                             ptxKernel(1, R"(
  ld.param.u64 %d1, [p0];
  mov.u64 %d2, table;
  ld.global.u32 %r1, [%d2+4];
  ld.global.u32 %r2, [table+12];
  ld.const.u16 %r3, [few+2];
  mov.u32 %r4, fixed;
  st.shared.u32 [%r4+60], %r1;
  mov.u64 %d3, rest;
  st.shared.u32 [%d3], %r2;
  cvta.shared.u64 %d4, %d3;
  ld.u32 %r5, [%d4];
  cvta.to.shared.u64 %d5, %d4;
  ld.shared.u32 %r6, [%d5];
  ld.shared.u32 %r7, [fixed+60];
  st.global.v4.u32 [%d1], {%r3, %r5, %r6, %r7};)")));
  std::vector<uint32_t> out(4);
  ASSERT_EQ(program.buffer(out).run({1, 1, 1}, {}, 16), "");
  EXPECT_TRUE(program.emulator->report().clean()) << program.findings();
  EXPECT_EQ(out, (std::vector<uint32_t>{9, 0x3f800000, 0x3f800000, 0xfffffffa}));
  EXPECT_EQ(program.emulator->staticSharedBytes(), 64u);
}

TEST(PtxLaunch, InitialValuesFitTheirTypes) {
  auto refusal = [](const std::string &variable) { return PtxProgram(ptxText(".global " + variable + ";\n")).error; };
  for (std::string good : {".b8 v[3] = {255, -128, 0}", ".f32 v = 0f3F800000", ".b64 v = 0d3FF0000000000000", ".u16 v = 65535"})
    EXPECT_EQ(refusal(good), "") << good;
  for (std::string bad : {".b8 v = 256", ".b8 v = -129", ".u16 v[2] = {1, 65536}", ".u32 v = 0x100000000", ".f32 v = 1",
                          ".f32 v = 0d3FF0000000000000", ".b64 v = 0f3F800000", ".u32 v = 0f3F800000"})
    EXPECT_EQ(refusal(bad), "ptx:4: expected initial values of the type of 'v', but got another one") << bad;
}

// A generic address is none of the shared window, and the other way about.
TEST(PtxLaunch, AddressesMustBeConverted) {
  for (std::string body : {"mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; st.shared.u32 [%d2], %r0;",
                           "mov.u64 %d1, s; st.u32 [%d1], %r0;", "mov.u64 %d1, s; st.global.u32 [%d1], %r0;"}) {
    PtxProgram program(ptxText(".shared .b32 s[4];\n" + ptxKernel(0, body)));
    EXPECT_EQ(program.run({1, 1, 1}), "");
    EXPECT_EQ(program.total(FindingKind::OutOfBounds), 1u) << body;
  }
}

TEST(PtxLaunch, BlocksAreBounded) {
  PtxProgram most(ptxText(ptxKernel(0, "", ".maxntid 64, 2\n")));
  EXPECT_EQ(most.run({128, 1, 1}), "");
  EXPECT_EQ(most.run({129, 1, 1}), "expected at most 128 threads a block for kernel 'k', but got 129");
  PtxProgram required(ptxText(ptxKernel(0, "", ".reqntid 96, 1, 1\n")));
  EXPECT_EQ(required.run({96, 1, 1}), "");
  EXPECT_EQ(required.run({64, 1, 1}), "expected a block of 96, 1, 1 threads, which kernel 'k' requires, but got 64, 1, 1");
  EXPECT_EQ(required.run({48, 2, 1}), "expected a block of 96, 1, 1 threads, which kernel 'k' requires, but got 48, 2, 1");
  PtxProgram free(ptxText(ptxKernel(0, "")));
  EXPECT_EQ(free.run({1, 1, 64}), "");
  EXPECT_EQ(free.run({1, 1, 65}), "expected at most 64 threads a block in z, but got 65");
}

TEST(PtxLaunch, SharedMemoryIsThatOfTheChip) {
  std::string text = ".extern .shared .b8 s[];\n" + ptxKernel(0, "");
  PtxProgram sm80(ptxText(text, "sm_80")), sm90(ptxText(text));
  EXPECT_EQ(sm80.run({32, 1, 1}, {}, 163 * 1024), "");
  EXPECT_EQ(sm80.run({32, 1, 1}, {}, 163 * 1024 + 1),
            "expected at most 166912 bytes of shared memory, but got 0 static and 166913 dynamic");
  EXPECT_EQ(sm90.run({32, 1, 1}, {}, 227 * 1024), "");
  EXPECT_NE(sm90.run({32, 1, 1}, {}, 227 * 1024 + 1), "");
}

TEST(PtxLaunch, PromisedBlocksMustFit) {
  std::string two = ".extern .shared .b8 s[];\n" + ptxKernel(0, "", ".maxntid 1024\n.minnctapersm 2\n");
  PtxProgram sm80(ptxText(two, "sm_80")), sm89(ptxText(two, "sm_89"));
  EXPECT_EQ(sm80.run({1024, 1, 1}, {}, 81 * 1024), "");
  EXPECT_EQ(
      sm80.run({1024, 1, 1}, {}, 82 * 1024), // a KiB of each block is the system's
      "expected 2 blocks of kernel 'k' on a multiprocessor, as its .minnctapersm says, but threads and shared memory "
      "allow 1");
  EXPECT_NE(sm89.run({1024, 1, 1}, {}, 0), ""); // 1536 threads
}

TEST(PtxLaunch, FindingsNameTheLine) {
  PtxProgram program(ptxText(ptxKernel(1, "ld.param.u64 %d1, [p0];\n  st.global.u32 \t[%d1+8],\n %r0;")));
  std::vector<uint32_t> out(2);
  EXPECT_EQ(program.buffer(out).run({1, 1, 1}), "");
  ASSERT_EQ(program.emulator->report().findings.size(), 1u);
  EXPECT_EQ(program.emulator->report().findings[0].instruction, "st.global.u32 [%d1+8], %r0");
  EXPECT_EQ(program.emulator->report().findings[0].location, "ptx:13");
}
