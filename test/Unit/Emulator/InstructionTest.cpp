//===- InstructionTest.cpp - Special registers, approximations, copies, barriers --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "Numbers.h"

#include <cmath>
#include <numeric>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;

TEST(Instruction, SpecialRegisters) {
  std::string body;
  const char *names[] = {"tid.x",   "tid.y",   "tid.z",    "ntid.x",   "ntid.y",   "ntid.z", "ctaid.x",
                         "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid"};
  std::string linear = R"(  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %b0 = mul i32 %by, 2
  %b = add i32 %b0, %bx
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %y0 = mul i32 %ty, 24
  %l0 = add i32 %y0, %tid
  %b1 = mul i32 %b, 48
  %l = add i32 %b1, %l0
  %l64 = zext i32 %l to i64
)";
  for (unsigned i = 0; i < 13; ++i) {
    std::string n = std::to_string(i);
    body += "  %v" + n + " = call i32 @llvm.nvvm.read.ptx.sreg." + names[i] + "()\n  %p" + n +
            " = getelementptr [13 x i32], ptr %out, i64 %l64, i64 " + n + "\n  store i32 %v" + n + ", ptr %p" + n +
            "\n";
  }
  Program program(kernel("ptr %out", linear + body));
  std::vector<uint32_t> out(6 * 48 * 13);
  ASSERT_EQ(program.buffer(out).run({24, 2, 1}, {2, 3, 1}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  size_t at = 0;
  for (uint32_t by = 0; by < 3; ++by)
    for (uint32_t bx = 0; bx < 2; ++bx)
      for (uint32_t ty = 0; ty < 2; ++ty)
        for (uint32_t tx = 0; tx < 24; ++tx, at += 13) {
          uint32_t index = ty * 24 + tx;
          std::vector<uint32_t> want = {tx, ty, 0, 24, 2, 1, bx, by, 0, 2, 3, 1, index % 32};
          EXPECT_EQ(std::vector<uint32_t>(&out[at], &out[at] + 13), want);
        }
}

/// out[t] = function(in[t]) for up to 32 values.
static std::vector<float> evaluate(const std::string &call, std::vector<float> in) {
  Program program(kernel("ptr %in, ptr %out", R"(  %i = getelementptr float, ptr %in, i64 %t
  %x = load float, ptr %i
)" + call + R"(
  %o = getelementptr float, ptr %out, i64 %t
  store float %r, ptr %o)"));
  std::vector<float> out(in.size());
  EXPECT_EQ(program.buffer(in).buffer(out).run({uint32_t(in.size())}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  return out;
}

TEST(Instruction, Approximations) {
  std::vector<float> in = {0.25f, 1.0f, 2.5f, 7.0f};
  struct Case {
    const char *name;
    double (*function)(double);
  } cases[] = {{"ex2.approx.ftz.f32", [](double x) { return std::exp2(x); }},
               {"ex2.approx.f32", [](double x) { return std::exp2(x); }},
               {"lg2.approx.ftz.f", [](double x) { return std::log2(x); }},
               {"rcp.approx.ftz.f", [](double x) { return 1 / x; }},
               {"rsqrt.approx.ftz.f", [](double x) { return 1 / std::sqrt(x); }},
               {"sqrt.approx.f", [](double x) { return std::sqrt(x); }}};
  for (const Case &test : cases) {
    std::vector<float> out = evaluate("  %r = call float @llvm.nvvm." + std::string(test.name) + "(float %x)", in);
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_NEAR(out[i], test.function(in[i]), std::abs(test.function(in[i])) * 0x1p-22) << test.name;
  }
}

TEST(Instruction, FlushesSubnormalNumbers) {
  std::string call = "  %r = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x)";
  EXPECT_EQ(evaluate(call, {-130})[0], 0.0f);
  EXPECT_EQ(evaluate("  %r = call float @llvm.nvvm.ex2.approx.f32(float %x)", {-130})[0], 0x1p-130f);
  EXPECT_EQ(evaluate(call, {-INFINITY})[0], 0.0f);
  EXPECT_TRUE(std::isinf(evaluate("  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %x)", {0x1p-130f})[0]));
}

TEST(Instruction, InlineAssemblyOfTheTable) {
  EXPECT_EQ(evaluate(R"(  %r = call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float %x))", {3})[0], 8.0f);
  std::vector<float> packed =
      evaluate(R"(  %b = call i32 asm "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f"(float %x, float 1.0)
  %r = bitcast i32 %b to float)",
               {2});
  EXPECT_EQ(floatToBits(packed[0]), 0x40003c00u); // the first operand is in the upper half
}

TEST(Instruction, HostConversionsOfHalfAndBfloat) {
  EXPECT_EQ(evaluate("  %h = fptrunc float %x to half\n  %r = fpext half %h to float", {1.0f / 3})[0],
            halfToFloat(floatToHalf(1.0f / 3)));
  EXPECT_EQ(evaluate("  %h = fptrunc float %x to bfloat\n  %r = fpext bfloat %h to float", {1.0f / 3})[0],
            bfloatToFloat(floatToBfloat(1.0f / 3)));
  EXPECT_EQ(evaluate(R"(  %p = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %x, float 1.0)
  %h = extractelement <2 x bfloat> %p, i32 1
  %r = fpext bfloat %h to float)",
                     {5})[0],
            5.0f);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

namespace {

struct CopyCase {
  const char *intrinsic;
  unsigned bytes, sourceBytes;
  bool sized;
};

class Copy : public testing::TestWithParam<CopyCase> {};

} // namespace

TEST_P(Copy, LandsAndFillsWithZeros) {
  const CopyCase &test = GetParam();
  std::string n = std::to_string(test.bytes);
  std::string size = test.sized ? ", i32 " + std::to_string(test.sourceBytes) : "";
  Program program(
      kernel("ptr addrspace(1) %in, ptr %out",
             "  %d = getelementptr [" + n + " x i8], ptr addrspace(3) @tile, i64 %t\n  %s = getelementptr [" + n +
                 " x i8], ptr addrspace(1) %in, i64 %t\n  call void @llvm.nvvm.cp.async." + test.intrinsic +
                 "(ptr addrspace(3) %d, ptr addrspace(1) %s" + size + R"()
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  %o = getelementptr [)" +
                 n + " x i8], ptr %out, i64 %t\n  %v = load i" + std::to_string(8 * test.bytes) +
                 ", ptr addrspace(3) %d\n  store i" + std::to_string(8 * test.bytes) + " %v, ptr %o, align 4",
             "@tile = internal addrspace(3) global [1024 x i8] undef, align 16"));
  std::vector<uint8_t> in(64 * test.bytes), out(64 * test.bytes, 255);
  std::iota(in.begin(), in.end(), uint8_t(1));
  ASSERT_EQ(program.buffer(in).buffer(out).run({64}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], i % test.bytes < test.sourceBytes ? in[i] : 0) << i;
  EXPECT_EQ(program.report().counters.asyncCopyBytes, uint64_t(64 * test.sourceBytes));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Copy,
    testing::Values(CopyCase{"ca.shared.global.4", 4, 4, false}, CopyCase{"ca.shared.global.8", 8, 8, false},
                    CopyCase{"ca.shared.global.16", 16, 16, false}, CopyCase{"cg.shared.global.16", 16, 16, false},
                    CopyCase{"cg.shared.global.16.s", 16, 6, true}, CopyCase{"cg.shared.global.16.s", 16, 0, true},
                    CopyCase{"ca.shared.global.8.s", 8, 4, true}, CopyCase{"ca.shared.global.4.s", 4, 2, true}));

TEST(CopyZeroBytes, DoesNotTouchItsSource) {
  Program program(kernel("ptr addrspace(1) %in", R"(
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) @tile, ptr addrspace(1) %in, i32 0)
  call void @llvm.nvvm.cp.async.wait.all())",
                         "@tile = internal addrspace(3) global [16 x i8] undef, align 16"));
  ASSERT_EQ(program.value(0).run({1}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
}

//===----------------------------------------------------------------------===//
// Barriers, atomics, dynamic shared memory
//===----------------------------------------------------------------------===//

TEST(Instruction, ReducingBarriers) {
  Program program(kernel("ptr %out", R"(  %p = icmp ult i32 %tid, 10
  %n = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %p)
  %o = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %p)
  %a = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %p)
  %o1 = zext i1 %o to i32
  %a1 = zext i1 %a to i32
  %o2 = mul i32 %o1, 100
  %a2 = mul i32 %a1, 1000
  %s0 = add i32 %n, %o2
  %s1 = add i32 %s0, %a2
  %q = getelementptr i32, ptr %out, i64 %t
  store i32 %s1, ptr %q)"));
  std::vector<uint32_t> out(64), want(64, 110);
  ASSERT_EQ(program.buffer(out).run({64}), "");
  EXPECT_EQ(out, want);
}

TEST(Instruction, AtomicsOfManyThreadsAndBlocks) {
  Program program(kernel("ptr %i, ptr %f", R"(  %a = atomicrmw add ptr %i, i32 1 monotonic
  %b = atomicrmw fadd ptr %f, float 0.5 monotonic)"));
  std::vector<uint32_t> integer(1);
  std::vector<float> number(1);
  ASSERT_EQ(program.buffer(integer).buffer(number).run({64}, {3}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  EXPECT_EQ(integer[0], 192u);
  EXPECT_EQ(number[0], 96.0f);
}

TEST(Instruction, DynamicSharedMemory) {
  std::string text = kernel("ptr %out", R"(  %p = getelementptr i32, ptr addrspace(3) @dynamic, i64 %t
  store i32 %tid, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i64 63, %t
  %s = getelementptr i32, ptr addrspace(3) @dynamic, i64 %r
  %v = load i32, ptr addrspace(3) %s
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %v, ptr %o)",
                            "@dynamic = external addrspace(3) global [0 x i8], align 16");
  std::vector<uint32_t> out(64);
  Program enough(text);
  ASSERT_EQ(enough.buffer(out).run({64}, {2}, 256), "");
  EXPECT_EQ(enough.total(FindingKind::OutOfBounds), 0u) << enough.findings();
  EXPECT_EQ(out[0], 63u);
  EXPECT_EQ(out[63], 0u);
  Program small(text);
  ASSERT_EQ(small.buffer(out).run({64}, {1}, 252), "");
  EXPECT_EQ(small.total(FindingKind::OutOfBounds), 2u) << small.findings();
}

TEST(Instruction, FunctionsAndLocalMemory) {
  Program program(kernel("ptr %out", R"(  %local = alloca [4 x i32]
  %p = getelementptr i32, ptr %local, i64 2
  store i32 %tid, ptr %p
  %v = call ptx_device i32 @twice(ptr %p)
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %v, ptr %o)",
                         R"(
define ptx_device i32 @twice(ptr %p) {
  %v = load i32, ptr %p
  %r = mul i32 %v, 2
  ret i32 %r
})"));
  std::vector<uint32_t> out(32);
  ASSERT_EQ(program.buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  EXPECT_EQ(out[31], 62u);
}

TEST(Instruction, ParametersByTheirWidth) {
  Program program(kernel("ptr %out, i32 %a, float %b, i64 %c, half %d", R"(  %x = sitofp i32 %a to float
  %y = sitofp i64 %c to float
  %z = fpext half %d to float
  %s0 = fadd float %x, %b
  %s1 = fadd float %s0, %y
  %s2 = fadd float %s1, %z
  store float %s2, ptr %out)"));
  std::vector<float> out(1);
  program.buffer(out).value(uint64_t(int64_t(-3))).value(floatToBits(0.5f)).value(1000).value(floatToHalf(0.25f));
  ASSERT_EQ(program.run({1}), "");
  EXPECT_EQ(out[0], 997.75f);
}

TEST(Instruction, DrawnScheduleGivesTheSameValues) {
  std::string text = kernel("ptr %out", R"(  %p = getelementptr i32, ptr addrspace(3) @tile, i64 %t
  store i32 %tid, ptr addrspace(3) %p
  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 3, i32 31)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i64 127, %t
  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %r
  %v = load i32, ptr addrspace(3) %s
  %w = add i32 %v, %x
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %w, ptr %o)",
                            "@tile = internal addrspace(3) global [128 x i32] undef, align 16");
  std::vector<uint32_t> first;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EmulatorOptions options;
    options.shuffleSchedule = seed != 0;
    options.seed = seed;
    Program program(text, options);
    std::vector<uint32_t> out(128);
    ASSERT_EQ(program.buffer(out).run({128}), "");
    EXPECT_TRUE(program.report().clean()) << program.findings();
    if (seed == 0)
      first = out;
    EXPECT_EQ(out, first);
  }
}
