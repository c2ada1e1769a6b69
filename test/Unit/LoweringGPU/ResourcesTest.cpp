//===- ResourcesTest.cpp - What the assembler says of the kernels --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

using namespace attune;
using namespace attune::test;

namespace {
class Resources : public ::testing::Test {
protected:
  std::unique_ptr<mlir::MLIRContext> context = makeContext();

  Cubin assemble(const Attention &attention, const std::string &chip = "sm_80") {
    auto module = compileKernels(*context, attention.source(), chip);
    EXPECT_TRUE(module);
    if (!module)
      return {};
    auto ptx = emitPtx(*module, chip);
    EXPECT_TRUE(mlir::succeeded(ptx));
    if (mlir::failed(ptx))
      return {};
    if (const char *path = std::getenv("ATTUNE_KEEP_PTX"))
      std::ofstream(path) << *ptx;
    auto cubin = emitCubin(mlir::UnknownLoc::get(context.get()), *ptx, chip);
    EXPECT_TRUE(mlir::succeeded(cubin));
    return mlir::succeeded(cubin) ? *cubin : Cubin();
  }
};
} // namespace

#define NEEDS_PTXAS                                                                                                    \
  if (!findPtxas())                                                                                                    \
  GTEST_SKIP() << "no ptxas in CUDA_HOME, CUDA_ROOT or PATH"

TEST_F(Resources, SoftmaxKeepsItsRegisters) {
  NEEDS_PTXAS;
  for (int64_t width : {64, 128}) {
    Attention attention;
    attention.width = attention.valueWidth = width;
    attention.causal = attention.lengths = true;
    Cubin cubin = assemble(attention);
    ASSERT_EQ(cubin.kernels.size(), 1u);
    const KernelResources &kernel = cubin.kernels.front();
    EXPECT_EQ(kernel.stack, 0);
    EXPECT_LE(kernel.registers, width == 64 ? 168 : 255);
    RecordProperty("registers", std::to_string(kernel.registers));
    llvm::errs() << kernel.name << " d=" << width << ": " << kernel.registers << " registers\n";
  }
}
