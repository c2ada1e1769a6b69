//===- RefusalTest.cpp - What the emulator refuses, and how it says so ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "Site.h"

#include "gmock/gmock.h"

using namespace attune;
using namespace attune::test;
using testing::HasSubstr;

TEST(Refusal, LibraryFunctionsByName) {
  Program program(kernel("ptr %p", "  %x = call float @__nv_exp2f(float 1.0)\n  store float %x, ptr %p",
                         "declare float @__nv_exp2f(float)"));
  EXPECT_THAT(program.error, HasSubstr("'__nv_exp2f'"));
}

TEST(Refusal, UnknownIntrinsicsByName) {
  Program program(kernel("", "  %x = call i64 @llvm.nvvm.read.ptx.sreg.clock64()"));
  EXPECT_THAT(program.error, HasSubstr("'llvm.nvvm.read.ptx.sreg.clock64'"));
}

TEST(Refusal, IntrinsicsWithoutDeviceCode) {
  Program program(kernel("ptr %p", "  %x = call float @llvm.exp.f32(float 1.0)\n  store float %x, ptr %p"));
  EXPECT_THAT(program.error, HasSubstr("'llvm.exp.f32'"));
}

TEST(Refusal, MemoryIntrinsics) {
  Program program(kernel("ptr %p", "  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false)"));
  EXPECT_THAT(program.error, HasSubstr("llvm.memset"));
}

TEST(Refusal, UnknownInlineAssembly) {
  Program program(kernel("", "  call void asm sideeffect \"nanosleep.u32 $0;\", \"r\"(i32 5)"));
  EXPECT_THAT(program.error, HasSubstr("nanosleep.u32 $0;"));
  Program constraints(kernel("", "  %x = call float asm \"ex2.approx.ftz.f32 $0, $1;\", \"=f,r\"(i32 5)"));
  EXPECT_THAT(constraints.error, HasSubstr("=f,r"));
}

TEST(Refusal, EveryEntryOfTheAsmTableIsModelled) {
  for (const EmulatedAsm &entry : emulatedAsmTable())
    EXPECT_TRUE(emulator::findInstruction(entry.instruction).has_value()) << entry.name.str();
}

TEST(Refusal, TooMuchSharedMemory) {
  Program fixed(kernel("", "  store i8 0, ptr addrspace(3) @big",
                       "@big = internal addrspace(3) global [50000 x i8] undef, align 16"));
  EXPECT_THAT(fixed.error, HasSubstr("static shared memory"));
  Program dynamic(kernel("", ""));
  EXPECT_THAT(dynamic.run({1}, {1}, 200000), HasSubstr("expected at most 166912 bytes of shared memory"));
}

TEST(Refusal, WrongLaunches) {
  Program program(
      "define ptx_kernel void @k(ptr %p) #0 {\n  ret void\n}\nattributes #0 = { \"nvvm.maxntid\"=\"64,1,1\" }");
  EXPECT_THAT(program.run({32}), HasSubstr("expected 1 parameters"));
  program.value(0);
  EXPECT_THAT(program.run({65}), HasSubstr("at most 64 threads"));
  EXPECT_THAT(program.run({0}), HasSubstr("without empty dimension"));
  EXPECT_EQ(program.run({64}), "");
  EXPECT_THAT(llvm::toString(program.emulator->launch("other", {}, {}, 0, {})), HasSubstr("'other'"));
}
