//===- PtxArithmeticTest.cpp - PTX arithmetic against values found by hand ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expectations are from the pseudocode and tables of the PTX ISA, sections 9.7.1, 9.7.3, 9.7.6, 9.7.8 and 9.7.9.
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

using namespace attune;
using namespace attune::test;

namespace {
/// Operands a, b, c come in %d1, %d2, %d3, and their low bits in %r1 …, %h1 …; %p1 and %p2 are false and true. The
/// result is %d9, %r9, %h9 or %p9, whichever the text names; before, all of its bits are 0, and then once more 1.
struct Case {
  const char *text;
  uint64_t a, b, c, expected;
};
} // namespace

static std::string entryOf(const Case &one, size_t number) {
  std::string text =
      ".visible .entry k" + std::to_string(number) +
      "(.param .u64 p0)\n{\n.reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<10>;\n.reg .b64 %d<10>;\n"
      "mov.pred %p1, 0;\nmov.pred %p2, 1;\nld.param.u64 %d0, [p0];\nld.global.u64 %d9, [%d0+24];\n"
      "cvt.u32.u64 %r9, %d9;\ncvt.u16.u64 %h9, %d9;\nsetp.ne.u64 %p9, %d9, 0;\n";
  for (unsigned i = 0; i < 3; ++i) {
    std::string n = std::to_string(i + 1);
    text += "ld.global.u64 %d" + n + ", [%d0+" + std::to_string(8 * i) + "];\ncvt.u32.u64 %r" + n + ", %d" + n +
            ";\ncvt.u16.u64 %h" + n + ", %d" + n + ";\n";
  }
  auto names = [&](const char *result) { return std::string(one.text).find(result) != std::string::npos; };
  std::string widened = names("%p9")   ? "selp.b64 %d4, 1, 0, %p9;"
                        : names("%h9") ? "cvt.u64.u16 %d4, %h9;"
                        : names("%r9") ? "cvt.u64.u32 %d4, %r9;"
                                       : "mov.b64 %d4, %d9;";
  return text + one.text + "\n" + widened + "\nst.global.u64 [%d0+24], %d4;\nret;\n}\n";
}

static void check(llvm::ArrayRef<Case> cases) {
  std::string entries;
  for (auto [number, one] : llvm::enumerate(cases))
    entries += entryOf(one, number);
  PtxProgram program(ptxText(entries));
  ASSERT_TRUE(program.emulator) << program.error;
  std::vector<uint64_t> memory(4);
  program.buffer(memory);
  for (auto [number, one] : llvm::enumerate(cases))
    for (uint64_t before : {uint64_t(0), ~uint64_t(0)}) {
      memory = {one.a, one.b, one.c, before};
      ASSERT_EQ(program.run({1, 1, 1}, {}, 0, "k" + std::to_string(number)), "") << one.text;
      EXPECT_EQ(memory[3], one.expected) << one.text << " from " << before;
    }
}

static constexpr uint64_t f(float value) { return std::bit_cast<uint32_t>(value); }
static constexpr uint64_t nan32 = 0x7fffffff, tiny = 1; // 2^-149

TEST(PtxArithmetic, Integers) {
  check({
      {"add.s32 %r9, %r1, %r2;", 0xffffffff, 2, 0, 1},
      {"add.sat.s32 %r9, %r1, %r2;", 0x7fffffff, 1, 0, 0x7fffffff},
      {"sub.s32 %r9, %r1, %r2;", 3, 5, 0, 0xfffffffe},
      {"sub.sat.s32 %r9, %r1, %r2;", 0x80000000, 1, 0, 0x80000000},
      {"sub.s64 %d9, %d1, %d2;", 3, 5, 0, ~uint64_t(1)},
      {"mul.lo.s32 %r9, %r1, %r2;", 0x10001, 0x10001, 0, 0x20001},
      {"mul.hi.u32 %r9, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"mul.hi.s32 %r9, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0},
      {"mul.hi.u64 %d9, %d1, %d2;", ~uint64_t(0), 2, 0, 1},
      {"mul.wide.s32 %d9, %r1, %r2;", 0xffffffff, 3, 0, uint64_t(-3)},
      {"mul.wide.u32 %d9, %r1, %r2;", 0xffffffff, 3, 0, 0x2fffffffd},
      {"mul.wide.u16 %r9, %h1, %h2;", 0xffff, 0xffff, 0, 0xfffe0001},
      {"mad.lo.s32 %r9, %r1, %r2, %r3;", 7, 6, 5, 47},
      {"mad.wide.s32 %d9, %r1, %r2, %d3;", 0xffffffff, 1, 3, 2},
      {"mad.hi.u32 %r9, %r1, %r2, %r3;", 0x80000000, 6, 1, 4},
      {"div.u32 %r9, %r1, %r2;", 0xfffffffe, 2, 0, 0x7fffffff},
      {"div.s32 %r9, %r1, %r2;", 0xfffffff9, 2, 0, 0xfffffffd}, // -7 / 2, towards zero
      {"div.s32 %r9, %r1, %r2;", 0x80000000, 0xffffffff, 0, 0x80000000},
      {"rem.s32 %r9, %r1, %r2;", 0xfffffff9, 2, 0, 0xffffffff},
      {"rem.s32 %r9, %r1, %r2;", 0x80000000, 0xffffffff, 0, 0},
      {"rem.u32 %r9, %r1, %r2;", 0xfffffff9, 2, 0, 1},
      {"abs.s32 %r9, %r1;", 0xfffffff9, 0, 0, 7},
      {"neg.s64 %d9, %d1;", 7, 0, 0, uint64_t(-7)},
      {"min.s32 %r9, %r1, %r2;", 0xffffffff, 1, 0, 0xffffffff},
      {"min.u32 %r9, %r1, %r2;", 0xffffffff, 1, 0, 1},
      {"max.s64 %d9, %d1, %d2;", ~uint64_t(0), 1, 0, 1},
      {"max.u16 %h9, %h1, %h2;", 0xffff, 1, 0, 0xffff},
      {"popc.b64 %r9, %d1;", 0xf00000000000000f, 0, 0, 8},
      {"clz.b32 %r9, %r1;", 0x00800000, 0, 0, 8},
      {"clz.b64 %r9, %d1;", 0, 0, 0, 64},
      {"brev.b32 %r9, %r1;", 0x80000001, 0, 0, 0x80000001},
      {"brev.b32 %r9, %r1;", 0x00000005, 0, 0, 0xa0000000},
  });
}

TEST(PtxArithmetic, BitFields) {
  check({
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0xabcd1234, 8, 12, 0xd12},
      {"bfe.s32 %r9, %r1, %r2, %r3;", 0x00000f00, 8, 4, 0xffffffff}, // the field's last bit is its sign
      {"bfe.s32 %r9, %r1, %r2, %r3;", 0x00000f00, 8, 5, 0xf},
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0xffffffff, 28, 8, 0xf}, // beyond the end: zeros
      {"bfe.s32 %r9, %r1, %r2, %r3;", 0x80000000, 28, 8, 0xfffffff8},
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0xffffffff, 40, 4, 0},
      {"bfe.s32 %r9, %r1, %r2, %r3;", 0x80000000, 40, 4, 0xffffffff},
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0xffffffff, 3, 0, 0},
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0x12345678, 0, 32, 0x12345678},
      {"bfe.u32 %r9, %r1, %r2, %r3;", 0x12345678, 0x100, 0x104, 8}, // 8 bits of each count
      {"bfe.s64 %d9, %d1, %r2, %r3;", 4, 2, 1, ~uint64_t(0)},
      {"bfi.b32 %r9, %r1, %r2, 8, 4;", 0xfa, 0x12345678, 0, 0x12345a78},
      {"bfi.b32 %r9, %r1, %r2, 28, 8;", 0xfa, 0x12345678, 0, 0xa2345678},
      {"bfi.b32 %r9, %r1, %r2, 40, 4;", 0xfa, 0x12345678, 0, 0x12345678},
      {"bfi.b64 %d9, %d1, %d2, 0, 64;", 5, 7, 0, 5},
  });
}

TEST(PtxArithmetic, LogicAndShifts) {
  check({
      {"and.b32 %r9, %r1, 15;", 0x1234, 0, 0, 4},
      {"or.b64 %d9, %d1, %d2;", 0xf000000000000000, 1, 0, 0xf000000000000001},
      {"xor.b16 %h9, %h1, %h2;", 0xff, 0xf0f, 0, 0xff0},
      {"not.b16 %h9, %h1;", 0xff, 0, 0, 0xff00},
      {"and.pred %p9, %p1, %p2;", 0, 0, 0, 0},
      {"or.pred %p9, %p1, %p2;", 0, 0, 0, 1},
      {"not.pred %p9, %p1;", 0, 0, 0, 1},
      {"lop3.b32 %r9, %r1, %r2, %r3, 0x80;", 0xf0, 0xcc, 0xaa, 0x80}, // a & b & c
      {"lop3.b32 %r9, %r1, %r2, %r3, 0x1a;", 0xf0, 0xcc, 0xaa, 0x1a}, // these operands spell the table
      {"lop3.b32 %r9, %r1, %r2, %r3, 0xe2;", 0xf0, 0xcc, 0xaa, 0xe2},
      {"shl.b32 %r9, %r1, %r2;", 3, 31, 0, 0x80000000},
      {"shl.b32 %r9, %r1, %r2;", 3, 32, 0, 0},
      {"shl.b64 %d9, %d1, %r2;", 3, 33, 0, 0x600000000},
      {"shl.b16 %h9, %h1, %r2;", 3, 16, 0, 0},
      {"shr.u32 %r9, %r1, %r2;", 0x80000000, 31, 0, 1},
      {"shr.u32 %r9, %r1, %r2;", 0x80000000, 32, 0, 0},
      {"shr.s32 %r9, %r1, %r2;", 0x80000000, 99, 0, 0xffffffff},
      {"shr.s64 %d9, %d1, %r2;", 0x8000000000000000, 60, 0, uint64_t(-8)},
      {"shf.l.wrap.b32 %r9, %r1, %r2, %r3;", 0x80000000, 1, 33, 3},
      {"shf.l.clamp.b32 %r9, %r1, %r2, %r3;", 0x80000000, 1, 33, 0x80000000},
      {"shf.r.wrap.b32 %r9, %r1, %r2, %r3;", 4, 1, 34, 0x40000001},
      {"shf.r.clamp.b32 %r9, %r1, %r2, %r3;", 4, 1, 34, 1},
      {"prmt.b32 %r9, %r1, %r2, 0x7160;", 0x44332211, 0x88776655, 0, 0x88227711},
      {"prmt.b32 %r9, %r1, %r2, 0x00c8;", 0x44332291, 0x88776685, 0, 0x9191ffff},
  });
}

TEST(PtxArithmetic, ComparisonAndSelection) {
  check({
      {"setp.lt.s32 %p9, %r1, %r2;", 0xffffffff, 1, 0, 1},
      {"setp.lt.u32 %p9, %r1, %r2;", 0xffffffff, 1, 0, 0},
      {"setp.hs.s32 %p9, %r1, %r2;", 0xffffffff, 1, 0, 1},
      {"setp.ge.s64 %p9, %d1, %d2;", 5, 5, 0, 1},
      {"setp.ne.b32 %p9, %r1, 0;", 5, 0, 0, 1},
      {"setp.eq.and.s32 %p9, %r1, %r2, %p1;", 5, 5, 0, 0},
      {"setp.eq.xor.s32 %p9|%p3, %r1, %r2, !%p2;", 5, 5, 0, 1},
      {"setp.eq.s32 %p3|%p9, %r1, %r2;", 5, 6, 0, 1},
      {"setp.lt.f32 %p9, %r1, %r2;", f(-1), f(2), 0, 1},
      {"setp.lt.f32 %p9, %r1, %r2;", nan32, f(2), 0, 0},
      {"setp.ltu.f32 %p9, %r1, %r2;", nan32, f(2), 0, 1},
      {"setp.ne.f32 %p9, %r1, %r2;", nan32, f(2), 0, 0},
      {"setp.neu.f32 %p9, %r1, %r1;", nan32, 0, 0, 1},
      {"setp.nan.f32 %p9, %r1, %r2;", f(1), nan32, 0, 1},
      {"setp.eq.f32 %p9, %r1, 0fFF800000;", 0xff800000, 0, 0, 1},
      {"selp.b32 %r9, %r1, %r2, %p2;", 5, 6, 0, 5},
      {"selp.f32 %r9, 0f3F800000, %r2, %p1;", 5, 6, 0, 6},
      {"mov.b32 %r9, 80; @%p1 mov.b32 %r9, 1;", 0, 0, 0, 80},
      {"@!%p1 mov.b32 %r9, 1;", 0, 0, 0, 1},
      {"mov.b32 %r9, 80; @%p2 bra A; mov.b32 %r9, 1; A: add.s32 %r9, %r9, 2;", 0, 0, 0, 82},
      {"{ .reg .b32 %r<3>; mov.b32 %r1, 7; A: mov.b32 %r9, %r1; }", 1, 0, 0, 7}, // the inner %r1, the outer %r9
      {"mov.b32 %r9, 80; { .reg .pred p; setp.ne.b32 p, 1, 0; @p bra B; mov.b32 %r9, 1; B: } { B: add.s32 %r9, %r9, 4; }",
       0, 0, 0, 84},
  });
}

TEST(PtxArithmetic, FloatingPoint) {
  check({
      {"add.rn.f32 %r9, %r1, %r2;", f(1), f(0x1p-24f), 0, f(1)}, // ties to even
      {"add.rn.f32 %r9, %r1, %r2;", tiny, tiny, 0, 2},
      {"add.rn.ftz.f32 %r9, %r1, %r2;", tiny, 0x80000001, 0, 0},
      {"sub.rn.f32 %r9, %r1, %r2;", f(3), f(5), 0, f(-2)},
      {"mul.rn.ftz.f32 %r9, %r1, %r2;", f(-0x1p-100f), f(0x1p-100f), 0, 0x80000000},
      {"add.sat.f32 %r9, %r1, %r2;", f(3), f(5), 0, f(1)},
      {"add.sat.f32 %r9, %r1, %r2;", nan32, f(5), 0, 0},
      {"fma.rn.f32 %r9, %r1, %r2, %r3;", f(1 + 0x1p-23f), f(1 - 0x1p-23f), f(-1), f(-0x1p-46f)},
      {"div.rn.f32 %r9, %r1, %r2;", f(1), f(3), 0, 0x3eaaaaab},
      {"div.approx.f32 %r9, %r1, %r2;", f(6), f(3), 0, f(2)},
      {"div.approx.f32 %r9, %r1, %r2;", f(0x1p127f), f(0x1p126f), 0, f(2)},
      {"div.approx.f32 %r9, %r1, %r2;", f(0x1p127f), f(0x1.8p126f), 0, 0}, // 9.7.3.8: divisors beyond 2^126
      {"div.approx.f32 %r8, %r1, %r2; setp.nan.f32 %p9, %r8, %r8;", f(INFINITY), f(0x1p127f), 0, 1},
      {"div.full.f32 %r9, %r1, %r2;", f(0x1p127f), f(0x1p127f), 0, f(1)},
      {"rcp.rn.f32 %r9, %r1;", f(3), 0, 0, 0x3eaaaaab},
      {"sqrt.rn.f32 %r9, %r1;", f(2), 0, 0, 0x3fb504f3},
      {"abs.f32 %r9, %r1;", f(-2), 0, 0, f(2)},
      {"neg.f32 %r9, %r1;", 0, 0, 0, 0x80000000},
      {"max.f32 %r9, %r1, %r2;", nan32, f(2), 0, f(2)},
      {"max.f32 %r9, %r1, %r2;", 0x80000000, 0, 0, 0},
      {"min.f32 %r9, %r1, %r2;", 0, 0x80000000, 0, 0x80000000},
      {"ex2.approx.ftz.f32 %r9, %r1;", f(-3), 0, 0, f(0.125f)},
      {"lg2.approx.ftz.f32 %r9, %r1;", f(8), 0, 0, f(3)},
      {"rsqrt.approx.ftz.f32 %r9, %r1;", f(16), 0, 0, f(0.25f)},
      {"fma.rn.f64 %d9, %d1, %d2, %d3;", 0x4000000000000000, 0x4008000000000000, 0x3ff0000000000000,
       0x401c000000000000},
  });
}

// 1 is 0x3c00 as an f16 with 10 bits behind the point, 0x3f80 as a bf16 with 7; ties go to even.
TEST(PtxArithmetic, SixteenBits) {
  check({
      {"setp.gt.f16 %p9, %h1, %h2;", 0x3c01, 0x3c00, 0, 1},
      {"setp.gt.f16 %p9, %h1, %h2;", 0xfe00, 0x3c00, 0, 0}, // NaN
      {"setp.lt.bf16 %p9, %h1, %h2;", 0xbf80, 0x0001, 0, 1},
      {"setp.leu.bf16 %p9, %h1, %h2;", 0x7fc0, 0x3f80, 0, 1},
      {"add.rn.f16 %h9, %h1, %h2;", 0x3c00, 0x1400, 0, 0x3c01}, // 1 + 2^-10
      {"add.rn.f16 %h9, %h1, %h2;", 0x3c00, 0x1000, 0, 0x3c00}, // 1 + 2^-11
      {"add.rn.f16 %h9, %h1, %h2;", 0x3c01, 0x1000, 0, 0x3c02},
      {"sub.rn.f16 %h9, %h1, %h2;", 0x3c00, 0x4000, 0, 0xbc00}, // 1 - 2
      {"mul.rn.f16 %h9, %h1, %h2;", 0x7800, 0x4000, 0, 0x7c00}, // 2^15 * 2 is beyond the range
      {"mul.rn.f16 %h9, %h1, %h2;", 0x0001, 0x4000, 0, 0x0002}, // subnormal numbers stay
      {"add.ftz.f16 %h9, %h1, %h2;", 0x0001, 0x0400, 0, 0x0400}, // 2^-24 + 2^-14
      {"sub.rn.ftz.f16 %h9, %h1, %h2;", 0x0400, 0x0401, 0, 0x8000}, // -2^-24
      {"mul.ftz.f16 %h9, %h1, %h2;", 0x83ff, 0x7800, 0, 0x8000},
      {"add.sat.f16 %h9, %h1, %h2;", 0x3c00, 0x3c00, 0, 0x3c00},
      {"add.ftz.sat.f16 %h9, %h1, %h2;", 0x7e00, 0x3c00, 0, 0}, // NaN
      {"add.rn.bf16 %h9, %h1, %h2;", 0x3f80, 0x3c00, 0, 0x3f81}, // 1 + 2^-7
      {"add.rn.bf16 %h9, %h1, %h2;", 0x3f80, 0x3b80, 0, 0x3f80}, // 1 + 2^-8
      {"abs.f16 %h9, %h1;", 0xbc00, 0, 0, 0x3c00},
      {"neg.ftz.f16 %h9, %h1;", 0x0001, 0, 0, 0x8000},
      {"abs.bf16 %h9, %h1;", 0xbf80, 0, 0, 0x3f80},
      {"neg.bf16 %h9, %h1;", 0x0001, 0, 0, 0x8001},
      {"max.f16 %h9, %h1, %h2;", 0x3c00, 0x7e00, 0, 0x3c00}, // 1 and NaN
      {"max.NaN.f16 %h8, %h1, %h2; cvt.f32.f16 %r8, %h8; setp.nan.f32 %p9, %r8, %r8;", 0x3c00, 0x7e00, 0, 1},
      {"max.bf16 %h9, %h1, %h2;", 0xbf80, 0x3f80, 0, 0x3f80},
      {"min.bf16 %h9, %h1, %h2;", 0x0000, 0x8000, 0, 0x8000},
  });
}

// The kind of NaN is nobody's business.
TEST(PtxArithmetic, NanOfExtrema) {
  check({
      {"max.NaN.f32 %r8, %r1, %r2; setp.nan.f32 %p9, %r8, %r8;", nan32, f(2), 0, 1},
      {"min.NaN.f32 %r8, %r1, %r2; setp.nan.f32 %p9, %r8, %r8;", f(2), nan32, 0, 1},
      {"max.NaN.f32 %r9, %r1, %r2;", f(-1), f(2), 0, f(2)},
      {"max.f32 %r8, %r1, %r2; setp.nan.f32 %p9, %r8, %r8;", nan32, nan32, 0, 1},
  });
}

TEST(PtxArithmetic, Conversions) {
  check({
      {"cvt.u64.u32 %d9, %r1;", 0xffffffffffffffff, 0, 0, 0xffffffff},
      {"cvt.s64.s32 %d9, %r1;", 0xffffffff, 0, 0, ~uint64_t(0)},
      {"cvt.u32.u64 %r9, %d1;", 0x123456789, 0, 0, 0x23456789},
      {"cvt.s32.s8 %r9, %r1;", 0x180, 0, 0, 0xffffff80}, // of a wider register the low bits
      {"cvt.u32.u8 %r9, %r1;", 0x1ff, 0, 0, 0xff},
      {"cvt.sat.s16.s32 %h9, %r1;", 0x12345, 0, 0, 0x7fff},
      {"cvt.sat.u16.s32 %h9, %r1;", 0xffffffff, 0, 0, 0},
      {"cvt.sat.s32.u32 %r9, %r1;", 0xffffffff, 0, 0, 0x7fffffff},
      {"cvt.rn.f32.s32 %r9, %r1;", 0xffffffff, 0, 0, f(-1)},
      {"cvt.rn.f32.u32 %r9, %r1;", 0xffffffff, 0, 0, f(0x1p32f)},
      {"cvt.rni.s32.f32 %r9, %r1;", f(2.5f), 0, 0, 2},
      {"cvt.rzi.s32.f32 %r9, %r1;", f(-2.7f), 0, 0, 0xfffffffe},
      {"cvt.rmi.s32.f32 %r9, %r1;", f(-2.2f), 0, 0, 0xfffffffd},
      {"cvt.rpi.s32.f32 %r9, %r1;", f(2.2f), 0, 0, 3},
      {"cvt.rzi.s32.f32 %r9, %r1;", f(1e20f), 0, 0, 0x7fffffff},
      {"cvt.rzi.u32.f32 %r9, %r1;", f(-1), 0, 0, 0},
      {"cvt.rzi.s32.f32 %r9, %r1;", nan32, 0, 0, 0},
      {"cvt.rzi.s64.f32 %d9, %r1;", nan32, 0, 0, 0x8000000000000000}, // of NaN 0 only below 64 bits
      {"cvt.rzi.u64.f32 %d9, %r1;", nan32, 0, 0, 0x8000000000000000},
      {"cvt.rzi.s64.f64 %d9, %d1;", 0x7ff8000000000000, 0, 0, 0x8000000000000000},
      {"cvt.rzi.s32.f64 %r9, %d1;", 0x7ff8000000000000, 0, 0, 0x80000000},
      {"cvt.rzi.u32.f64 %r9, %d1;", 0x7ff8000000000000, 0, 0, 0x80000000},
      {"cvt.rzi.s64.f32 %d9, %r1;", f(-2.7f), 0, 0, uint64_t(-2)},
      {"cvt.rni.f32.f32 %r9, %r1;", f(3.5f), 0, 0, f(4)},
      {"cvt.rn.f16.f32 %h9, %r1;", f(1 + 0x1p-11f), 0, 0, 0x3c00},
      {"cvt.rn.f16.f32 %h9, %r1;", f(65520), 0, 0, 0x7c00},
      {"cvt.rn.bf16.f32 %h9, %r1;", f(1 + 0x1p-8f + 0x1p-20f), 0, 0, 0x3f81},
      {"cvt.f32.f16 %r9, %h1;", 0x0001, 0, 0, f(0x1p-24f)},
      {"cvt.f32.bf16 %r9, %h1;", 0xc0a0, 0, 0, f(-5)},
      {"cvt.rn.f16x2.f32 %r9, %r1, %r2;", f(1), f(2), 0, 0x3c004000}, // the first operand is the upper half
      {"cvt.rn.bf16x2.f32 %r9, %r1, %r2;", f(1), f(2), 0, 0x3f804000},
      {"cvt.rna.tf32.f32 %r9, %r1;", f(1 + 0x1p-11f), 0, 0, f(1 + 0x1p-10f)}, // ties away from zero
      {"cvt.f64.f32 %d9, %r1;", f(1.5f), 0, 0, 0x3ff8000000000000},
      {"cvt.rn.f32.f64 %r9, %d1;", 0x3ff8000000000000, 0, 0, f(1.5f)},
      {"mov.b32 %r9, {%h1, %h2};", 0x1111, 0x2222, 0, 0x22221111},
      {"mov.b32 {%h8, %h9}, %r1;", 0x22221111, 0, 0, 0x2222},
      {"mov.b64 %d9, {%r1, %r2};", 5, 6, 0, 0x600000005},
      {"mov.b64 {%r9, %r8}, %d1;", 0x600000005, 0, 0, 5},
      {"mov.b64 {%h8, %h9, %h7, %h6}, %d1;", 0x4444333322221111, 0, 0, 0x2222},
      {"mov.b32 %r9, 0f3F800000;", 0, 0, 0, 0x3f800000},
      {"mov.b16 %h9, -1;", 0, 0, 0, 0xffff},
  });
}
