//===- PtxTextTest.cpp - What the reader of PTX takes and refuses ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include "PtxTranslate.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace attune;
using namespace attune::test;

/// Why a text is refused; empty if it is not.
static std::string refusal(const std::string &text) { return PtxProgram(text).error; }
static std::string refusalOf(const std::string &body) { return refusal(ptxText(ptxKernel(1, body))); }

TEST(PtxText, Header) {
  EXPECT_EQ(refusal("// comment\n/* and\nanother */ .version 7.8\n.target sm_80\n.address_size 64\n"), "");
  EXPECT_EQ(refusal(""), "ptx:1: expected .version at the beginning, but got 'the end of the text'");
  EXPECT_EQ(refusal("\n.version x\n"), "ptx:2: expected the number of a version, but got 'x'");
  EXPECT_EQ(refusal(".version 7.8\n.target compute_80\n"),
            "ptx:2: expected an architecture, as sm_80, but got 'compute_80'");
  EXPECT_EQ(refusal(".version 7.8\n.target sm_80\n.address_size 32\n"), "ptx:4: expected .address_size 64, but got 32");
  EXPECT_EQ(refusal(".version 7.8\n.target sm_70\n.address_size 64\n"),
            "expected PTX for sm_80, sm_86, sm_87, sm_89 or sm_90, but got sm_70");
}

TEST(PtxText, ChipsLoadWhatTheyCan) {
  EmulatorOptions old, other, fresh;
  old.chip = "sm_80", other.chip = "sm_90", fresh.chip = "sm_90a";
  std::string special = ptxText(ptxKernel(0, "")), plain = ptxText(ptxKernel(0, ""), "sm_80");
  EXPECT_EQ(PtxProgram(plain, old).error, "");
  EXPECT_EQ(PtxProgram(plain, fresh).error, "");
  EXPECT_EQ(PtxProgram(special, fresh).error, "");
  EXPECT_EQ(PtxProgram(special, old).error, "expected PTX that sm_80 loads, but its .target is sm_90a");
  EXPECT_EQ(PtxProgram(special, other).error, "expected PTX that sm_90 loads, but its .target is sm_90a");
}

TEST(PtxText, RefusesByNameAndLine) {
  EXPECT_EQ(refusalOf("\nfrobnicate.u32 %r1, %r2;"),
            "ptx:13: instruction that is not modelled: 'frobnicate', in 'frobnicate.u32 %r1, %r2'");
  EXPECT_EQ(refusalOf("add.cc.u32 %r1, %r2, %r3;"),
            "ptx:12: expected one of .u16, .u32, .u64, .s16, .s32, .s64, but got '.cc', in 'add.cc.u32 %r1, %r2, %r3'");
  EXPECT_EQ(refusalOf("mul.rz.f32 %r1, %r2, %r3;"),
            "ptx:12: expected one of .f32, .f64, .f16, .bf16, but got '.rz', in 'mul.rz.f32 %r1, %r2, %r3'");
  EXPECT_EQ(refusalOf("mov.u32 %r1, %clock;"),
            "ptx:12: operation that is not modelled: 'llvm.nvvm.read.ptx.sreg.clock', in 'mov.u32 %r1, %clock'");
  EXPECT_EQ(refusal(ptxText(".func f() { ret; }")),
            "ptx:4: expected an entry, or a variable of a known state space; this directive is not modelled, but got "
            "'.func'");
  EXPECT_EQ(refusal(ptxText(ptxKernel(0, "", ".explicitcluster\n"))),
            "ptx:5: directive of an entry that is not modelled: '.explicitcluster'");
}

TEST(PtxText, RefusesWrongOperands) {
  auto contains = [](const std::string &body, const std::string &what) {
    EXPECT_NE(refusalOf(body).find(what), std::string::npos) << body << "\n" << refusalOf(body);
  };
  contains("add.s32 %r1, %r2;", "expected 3 operands, but got 2");
  contains("add.s32 %r1, %r2, %d1;", "expected a register of this instruction's type, but got '%d1'");
  contains("add.s32 %d1, %r2, %r1;", "as destination, but got '%d1'");
  contains("add.s32 %r1, %r2, 0x123456789;", "expected a constant of this instruction's type");
  contains("add.f32 %r1, %r2, 1;", "expected a constant of this instruction's type, but got 1");
  contains("add.f32 %r1, %r2, 1.5;", "hexadecimal");
  contains("mov.b32 %r1, 0f3F80;", "expected 0f and 8 digits");
  contains("add.s32 5, %r2, %r1;", "expected a register of this instruction's type as destination");
  contains("add.s32 %r1, %r2, %r100;", "expected a register or a constant, but got 'r100'");
  contains("add.s32 %r1, %r2, %r01;", "expected a register or a constant");
  contains("@%r1 ret;", "expected a predicate, but got '%r1'");
  contains("bra NOWHERE;", "expected a label of this entry, but got 'NOWHERE'");
  contains("{ A: } bra A;", "expected a label of this entry, but got 'A'");
  contains("A: A: ret;", "expected a name that is not taken");
  contains("ld.global.u32 %r1, [%r2];", "expected an address of 64 bits");
  contains("ld.global.u32 %h1, [%d2];", "expected a register of this instruction's type");
  contains("ld.global.v2.u32 {%r1, %r2, %r3}, [%d2];", "expected a vector of 2 registers");
  contains("ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d2];", "expected at most 128 bits");
  contains("ld.param.u64 %d1, [nobody];", "expected a parameter of this entry");
  contains("ld.param.u64 %d1, [p0+4];", "expected bytes within the 8 of parameter 'p0'");
  contains("mov.u64 %d1, nobody;", "expected a variable of this text, but got 'nobody'");
  contains("st.const.u32 [%d1], %r1;", "expected one of .b8");
  contains("cp.async.cg.shared.global [%r1], [%d1], 8;", "expected 16 bytes, or of .ca 4 or 8, but got 8");
  contains("cp.async.wait_group %r1;", "expected a constant of 0");
  contains("bar.sync 16;", "expected a barrier of 0 … 15, but got 16");
  contains("bar.arrive 1;", "expected 2 operands, but got 1");
  contains("shfl.sync.bfly.b32 %r1, %r2, 1, 31;", "expected 5 operands, but got 4");
  contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4}, "
           "{%r1,%r2,%r3,%r4};",
           "expected a vector of 4 registers as operand 2");
  contains("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r1}, {%r1}, {%r1};",
           "product that is not modelled");
  contains("mov.u32 %r1, %warpid;", "operation that is not modelled");
  contains("mov.u32 %r1, %nwarpid;", "operation that is not modelled");
  contains("setp.eq.u32 %p1, %r0, 0; @%p1 bra.uni A; A:", "expected no guard with .uni");
  contains("setp.eq.u32 %p1, %r0, 0; @%p1 ret.uni;", "expected no guard with .uni");
  contains("ld.acquire.gpu.global.cg.u32 %r1, [%d0];", "expected one of .b8"); // what is ordered has no .cop
  contains("ld.relaxed.gpu.global.nc.u32 %r1, [%d0];", "expected one of .b8");
  contains("ld.shared.nc.u32 %r1, [%r0];", "expected one of .b8");
  contains("ld.nc.u32 %r1, [%d0];", "expected one of .b8");
  contains("ld.global.wb.u32 %r1, [%d0];", "expected one of .b8");
  contains("st.global.nc.u32 [%d0], %r0;", "expected one of .b8");
  contains("st.global.ca.u32 [%d0], %r0;", "expected one of .b8");
  contains("st.release.gpu.global.wt.u32 [%d0], %r0;", "expected one of .b8");
  contains("mma;", "expected .sync, but got no modifier");
  contains("mma.sync;", "expected .aligned, but got no modifier");
  contains("max.ftz.f64 %d1, %d0, %d0;", "expected no .ftz and .sat with this type");
  contains("add.ftz.f64 %d1, %d0, %d0;", "expected no .ftz and .sat with this type");
  contains("add.sat.bf16 %h1, %h0, %h0;", "expected no .ftz and .sat with this type");
  contains("max.NaN.f64 %d1, %d0, %d0;", "expected .f32, .f16 or .bf16 behind .NaN");
  contains("mbarrier.arrive.relaxed.cta.shared.b64 %d1, [%r0];", "expected .release, but got '.relaxed'");
  contains("mbarrier.test_wait.parity.relaxed.cta.shared.b64 %p1, [%r0], 0;", "expected .acquire, but got '.relaxed'");
  contains("mbarrier.try_wait.relaxed.cta.shared.b64 %p1, [%r0], %d0;", "expected .acquire, but got '.relaxed'");
  contains(".reg .b32 %r<4>;", "expected a register that is not declared yet");
  contains(".reg .b32 %x<4000000000>;", "expected at most 1048576 registers");
  contains(".local .b8 depot[16];", "local memory, which is not modelled");
  contains("add.s32 %r1, %r2, %r3", "expected ';' at the end of an instruction");
  contains("{", "expected '}' at the end of an entry");
}

TEST(PtxText, TakesCacheHintsInTheirPlaces) {
  for (std::string body : {"ld.global.cg.u32 %r1, [%d0];", "ld.global.nc.u32 %r1, [%d0];", "ld.cv.u32 %r1, [%d0];",
                           "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%d0];",
                           "ld.relaxed.gpu.global.L1::no_allocate.u32 %r1, [%d0];", "st.global.wt.u32 [%d0], %r0;",
                           "st.global.L1::evict_last.u32 [%d0], %r0;", "bra.uni A; A:"})
    EXPECT_EQ(refusalOf(body), "") << body;
}

TEST(PtxText, NeedsVersionAndTarget) {
  auto on = [](const std::string &target, const std::string &version, const std::string &body) {
    return refusal(".version " + version + "\n.target " + target + "\n.address_size 64\n" + ptxKernel(0, body));
  };
  EXPECT_EQ(on("sm_90a", "8.0", "wgmma.fence.sync.aligned;"), "");
  EXPECT_NE(on("sm_90", "8.0", "wgmma.fence.sync.aligned;").find("expected .target sm_90a"), std::string::npos);
  EXPECT_NE(on("sm_90", "7.8", "fence.proxy.async;").find("expected .version 8.0 or later"), std::string::npos);
  EXPECT_NE(on("sm_80", "8.0", "fence.proxy.async;").find("expected .target sm_90 or later"), std::string::npos);
  struct Need {
    const char *body, *older, *version; ///< the version, and one that is too old
  } needs[] = {
      {"mov.b16 %h1, 0; add.bf16 %h2, %h1, %h1;", "", "7.8"},
      {"mov.b16 %h1, 0; mul.bf16 %h2, %h1, %h1;", "", "7.8"},
      {"mbarrier.arrive.expect_tx.shared.b64 %d1, [%r0], 16;", "7.8", "8.0"},
      {"mbarrier.arrive.release.cta.shared.b64 %d1, [%r0];", "7.8", "8.0"},
      {"mbarrier.try_wait.parity.acquire.cta.shared.b64 %p1, [%r0], 0;", "7.8", "8.0"},
      {"mbarrier.arrive.shared.b64 %d1, [%r0], 2;", "", "7.8"},
      {"cp.async.bulk.commit_group;", "7.8", "8.0"},
      {"cp.async.bulk.wait_group 0;", "7.8", "8.0"},
  };
  for (const Need &need : needs) {
    EXPECT_EQ(on("sm_90", need.version, need.body), "") << need.body;
    EXPECT_NE(on("sm_80", need.version, need.body).find("expected .target sm_90"), std::string::npos) << need.body;
    if (*need.older)
      EXPECT_NE(on("sm_90", need.older, need.body).find("expected .version"), std::string::npos) << need.body;
  }
  EXPECT_EQ(on("sm_80", "7.0", "mbarrier.arrive.shared.b64 %d1, [%r0];"), "");
  EXPECT_EQ(on("sm_80", "7.0", "mbarrier.arrive.noComplete.shared.b64 %d1, [%r0], 2;"), "");
}

TEST(PtxText, TargetsNeedTheirVersion) {
  auto on = [](const std::string &target, const std::string &version) {
    return refusal(".version " + version + "\n.target " + target + "\n.address_size 64\n");
  };
  for (auto [target, first, before] : {std::tuple("sm_80", "7.0", "6.5"), {"sm_86", "7.1", "7.0"}, {"sm_87", "7.4", "7.3"},
                                       {"sm_89", "7.8", "7.7"}, {"sm_90", "7.8", "7.7"}, {"sm_90a", "8.0", "7.8"}}) {
    EXPECT_EQ(on(target, first), "") << target;
    EXPECT_EQ(on(target, before), std::string("ptx:2: expected a .version that has ") + target + ", but got " + before);
  }
}

/// Without compiling what is right.
static std::string translated(const std::string &text) {
  llvm::LLVMContext context;
  auto translation = ptx::translate(text, 0, context);
  return translation ? "" : llvm::toString(translation.takeError());
}

// Each prefix of a text, and each text with one character replaced, is taken or refused, with the line.
TEST(PtxText, BrokenTextIsRefused) {
  std::string text = ptxText(".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n" +
                             ptxKernel(1,
                                       "ld.param.u64 %d1, [p0];\nsetp.eq.u32 %p1, %r0, 0;\n@!%p1 bra A;\nld.global.v2.f32 {%r1, %r2}, [%d1+-4];\n{ .reg .pred q;\n"
                                       "setp.ne.b32 q|%p2, %r1, -1; }\nA: mov.b32 %r3, 0f3F800000;",
                                       ".maxntid 32, 1, 1\n.minnctapersm 1\n"));
  ASSERT_EQ(refusal(text), "");
  for (size_t length = 0; length < text.size() - 2; ++length)
    if (std::string why = translated(text.substr(0, length)); length > text.find(".visible"))
      EXPECT_TRUE(why.starts_with("ptx:")) << length;
  for (size_t at = 0; at < text.size(); at += 3)
    for (char c : {'\0', '{', '}', '.', '%', '9', ';', '[', '\xff'}) {
      std::string broken = text;
      broken[at] = c;
      std::string why = translated(broken);
      EXPECT_TRUE(why.empty() || why.starts_with("ptx:")) << why;
    }
}
