//===- ResourcesTest.cpp - What the assembler says of the kernels --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::test;

namespace {
class Resources : public ::testing::Test {
protected:
  std::unique_ptr<mlir::MLIRContext> context = makeContext();

  Cubin assemble(const Problem &problem, const std::string &chip = "sm_80") {
    std::optional<DevicePlan> plan = compilePlan(*context, gpuSource(problem), chip);
    EXPECT_TRUE(plan);
    if (!plan)
      return {};
    auto ptx = emitPtx(*plan->kernels, chip);
    EXPECT_TRUE(mlir::succeeded(ptx));
    if (mlir::failed(ptx))
      return {};
    auto cubin = emitCubin(mlir::UnknownLoc::get(context.get()), *ptx, chip);
    EXPECT_TRUE(mlir::succeeded(cubin));
    return mlir::succeeded(cubin) ? *cubin : Cubin();
  }
};
} // namespace

#define NEEDS_PTXAS                                                                                                    \
  if (!findPtxas())                                                                                                    \
  GTEST_SKIP() << "no ptxas in CUDA_HOME, CUDA_ROOT or PATH"

static Problem problemOf(const std::string &form, const std::string &dtype, int64_t width) {
  Problem problem;
  problem.form = form, problem.dtype = dtype, problem.width = problem.valueWidth = width;
  problem.causal = problem.lengths = form != "state";
  return problem;
}

/// The kernels of a form fit: no spill (an error of emitCubin), no stack, at most `registers`.
#define EXPECT_FITS(form, dtype, width, most)                                                                          \
  do {                                                                                                                 \
    Cubin cubin = assemble(problemOf(form, dtype, width));                                                             \
    EXPECT_FALSE(cubin.kernels.empty());                                                                               \
    for (const KernelResources &kernel : cubin.kernels) {                                                              \
      EXPECT_EQ(kernel.stack, 0) << kernel.name << " " << dtype << " " << width;                                       \
      EXPECT_LE(kernel.registers, most) << kernel.name << " " << dtype << " " << width;                               \
      EXPECT_EQ(kernel.staticShared, 0) << kernel.name;                                                                \
    }                                                                                                                  \
  } while (false)

TEST_F(Resources, SoftmaxFitsTheRegisters) {
  NEEDS_PTXAS;
  for (const char *dtype : {"f16", "bf16"}) {
    EXPECT_FITS("softmax", dtype, 64, 128); // four blocks on a multiprocessor
    EXPECT_FITS("softmax", dtype, 128, 255);
  }
}

TEST_F(Resources, KernelAttentionFitsTheRegisters) {
  NEEDS_PTXAS;
  for (const char *dtype : {"f16", "bf16"})
    for (const char *form : {"quadratic", "state", "chunked"})
      EXPECT_FITS(form, dtype, 64, 255);
}

TEST_F(Resources, EveryArchitectureAssembles) {
  NEEDS_PTXAS;
  for (const char *chip : {"sm_80", "sm_86", "sm_89", "sm_90"}) {
    Cubin cubin = assemble(problemOf("softmax", "f16", 64), chip);
    EXPECT_EQ(cubin.kernels.size(), 1u) << chip;
    EXPECT_FALSE(cubin.bytes.empty());
  }
}

// The inner loops hold the instructions that the shapes ask for, and nothing goes through local memory or a library.
TEST_F(Resources, PtxHoldsWhatTheShapesAskFor) {
  auto plan = compilePlan(*context, gpuSource(problemOf("softmax", "f16", 64)));
  ASSERT_TRUE(plan);
  auto ptx = emitPtx(*plan->kernels, "sm_80");
  ASSERT_TRUE(mlir::succeeded(ptx));
  auto count = [&](llvm::StringRef text) { return llvm::StringRef(*ptx).count(text); };
  // Two loops; a warp multiplies 16×64 by 64×64 twice: 2 · 8 · 4 instructions a loop.
  EXPECT_EQ(count("mma.sync.aligned.m16n8k16"), 2u * 64);
  // Weights stay in registers: only K and V (16 of four 8×8 blocks each) come by ldmatrix, and Q once (4).
  EXPECT_EQ(count("ldmatrix.sync.aligned"), 2u * 32 + 4);
  // Of a tile a thread has 32 weights and 2 rows, which a new maximum scales. An exponent takes one multiplication, by scale and
  // log2(e) together; so do the 32 outputs and the 2 sums that are scaled, and each output at the end.
  EXPECT_EQ(count("ex2.approx.ftz.f32"), 2u * (32 + 2));
  EXPECT_EQ(count("mul.rn.f32"), 2u * (32 + 32 + 2) + 32);
  EXPECT_EQ(count("st.shared.v"), 0u);
  EXPECT_EQ(count(".local"), 0u);
  EXPECT_EQ(count("__nv_"), 0u);
  EXPECT_EQ(count("call"), 0u);
}

TEST_F(Resources, ReadsWhatTheAssemblerPrints) {
  auto kernels = parseResources("ptxas info    : 0 bytes gmem\n"
                                "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
                                "ptxas info    : Function properties for first\n"
                                "    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
                                "ptxas info    : Used 128 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]\n"
                                "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
                                "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                                "ptxas info    : Used 32 registers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].stack, 8);
  EXPECT_EQ(kernels[0].spillStores, 16);
  EXPECT_EQ(kernels[0].spillLoads, 24);
  EXPECT_EQ(kernels[0].registers, 128);
  EXPECT_EQ(kernels[0].staticShared, 4096);
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].registers, 32);
}
