//===- ObjectTest.cpp - Machine code obeys each function's target ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitObject.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace attune::target;
using namespace llvm;

namespace {

std::string assembly(attune_rt_target target) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(R"(
    define void @add(ptr %a, ptr %b) {
      %x = load <16 x float>, ptr %a, align 4
      %y = load <16 x float>, ptr %b, align 4
      %z = fadd <16 x float> %x, %y
      store <16 x float> %z, ptr %a, align 4
      ret void
    })",
                                                       diagnostic, context);
  setCpuTarget(*module->getFunction("add"), target);
  Expected<std::string> text = emitAssembly(*module);
  return text ? *text : toString(text.takeError());
}

TEST(EmitObject, Avx512UsesFullVectors) {
  std::string text = assembly(ATTUNE_RT_AVX512);
  EXPECT_NE(text.find("%zmm0"), std::string::npos) << text;
  EXPECT_EQ(text.find("%ymm"), std::string::npos) << text;
}

TEST(EmitObject, Avx2UsesNoMoreThanAvx2) {
  std::string text = assembly(ATTUNE_RT_AVX2);
  EXPECT_NE(text.find("%ymm0"), std::string::npos) << text;
  EXPECT_EQ(text.find("%zmm"), std::string::npos) << text;
}

} // namespace
