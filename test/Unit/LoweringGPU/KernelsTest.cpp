//===- KernelsTest.cpp - Kernels in the emulator against their definition ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every case is run with the checks of the emulator: no race, no access out of bounds, no read of what nobody wrote, and no
// bank conflict. Inputs hold NaN in rows that do not exist.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::test;

namespace {
struct Kernels : public ::testing::Test {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();

  static std::string describe(const Problem &p) {
    std::string text;
    llvm::raw_string_ostream(text) << p.form << " " << p.dtype << " B" << p.batch << " H" << p.heads << "/" << p.sharedHeads
                                   << " n" << p.queries << " N" << p.keys << " d" << p.width << " dv" << p.valueWidth
                                   << (p.causal ? " causal" : "") << (p.lengths ? " lengths" : "")
                                   << (p.tokensFirst ? " tokens first" : "");
    return text;
  }

  /// Compiles a problem once and runs it for several sizes [n, N].
  void check(Problem problem, std::vector<std::pair<int64_t, int64_t>> sizes, bool aligned = true,
             bool conflictFree = true, tile::WarpGrid warps = {4, 1}) {
    std::optional<DevicePlan> plan = compilePlan(*context, gpuSource(problem, warps));
    ASSERT_TRUE(plan) << describe(problem);
    EmulatedPlan emulated(*plan);
    for (auto [queries, keys] : sizes) {
      problem.queries = queries, problem.keys = keys;
      Data data(problem, 7, 1, /*atEnd=*/!aligned);
      emulated.run(data.arguments());
      EXPECT_LT(data.error(), problem.dtype == "f32" ? 2e-5 : problem.dtype == "f16" ? 4e-3 : 2e-2) << describe(problem);
      expectClean(emulated.report(), describe(problem), conflictFree);
    }
  }

  static void expectClean(const EmulatorReport &report, const std::string &name, bool conflictFree) {
    std::string findings;
    llvm::raw_string_ostream stream(findings);
    report.printFindings(stream);
    EXPECT_TRUE(report.clean()) << name << "\n" << findings;
    EXPECT_GT(report.counters.matrixMultiplies, 0u) << name;
    if (!conflictFree)
      return;
    for (const BankUse &use : report.bankUse)
      EXPECT_EQ(use.waves, use.phases) << name << ": bank conflicts at " << use.instruction;
  }
};
} // namespace

static Problem problemOf(const std::string &form, const std::string &dtype, int64_t width = 64, int64_t valueWidth = 64) {
  Problem problem;
  problem.form = form, problem.dtype = dtype, problem.width = width, problem.valueWidth = valueWidth;
  return problem;
}

TEST_F(Kernels, Softmax) {
  for (const char *dtype : {"f16", "bf16"})
    check(problemOf("softmax", dtype), {{64, 64}, {64, 128}, {1, 1}, {70, 130}, {5, 0}, {0, 5}});
}

TEST_F(Kernels, SoftmaxWidths) {
  for (int64_t width : {8, 40, 80, 128})
    check(problemOf("softmax", "f16", width, width), {{64, 64}, {17, 100}});
  check(problemOf("softmax", "f16", 64, 40), {{33, 70}});
  check(problemOf("softmax", "bf16", 40, 64), {{33, 70}});
}

TEST_F(Kernels, SoftmaxMasks) {
  Problem problem = problemOf("softmax", "f16");
  problem.causal = true;
  check(problem, {{64, 64}, {130, 130}, {10, 100}, {100, 70}});
  problem.lengths = true, problem.batch = 3, problem.heads = 4, problem.sharedHeads = 2;
  check(problem, {{70, 130}, {3, 65}});
  problem.causal = false, problem.lse = true, problem.tokensFirst = true;
  check(problem, {{70, 130}});
}

// Rows that begin anywhere are copied element by element, at the price of bank conflicts.
TEST_F(Kernels, SoftmaxUnaligned) {
  check(problemOf("softmax", "f16"), {{3, 7}}, /*aligned=*/false, /*conflictFree=*/false);
  check(problemOf("softmax", "f16", 20, 7), {{3, 70}}, /*aligned=*/false, /*conflictFree=*/false);
}

TEST_F(Kernels, Quadratic) {
  for (const char *dtype : {"f16", "bf16"}) {
    Problem problem = problemOf("quadratic", dtype);
    check(problem, {{64, 64}, {70, 130}});
    problem.causal = problem.lengths = true, problem.batch = 2;
    check(problem, {{70, 130}});
  }
}

TEST_F(Kernels, State) {
  for (const char *dtype : {"f16", "bf16"}) {
    Problem problem = problemOf("state", dtype);
    check(problem, {{64, 64}, {70, 300}});
    problem.lengths = true, problem.batch = 2, problem.heads = 4, problem.sharedHeads = 2;
    check(problem, {{3, 150}});
  }
}

TEST_F(Kernels, StateWidths) {
  for (int64_t width : {8, 40, 80, 128})
    check(problemOf("state", "f16", width, 64), {{20, 70}});
  check(problemOf("state", "f16", 64, 40), {{20, 70}});
  check(problemOf("state", "f16", 20, 7), {{20, 70}}, /*aligned=*/false, /*conflictFree=*/false);
}

TEST_F(Kernels, Chunked) {
  for (const char *dtype : {"f16", "bf16"}) {
    Problem problem = problemOf("chunked", dtype);
    check(problem, {{64, 64}, {130, 130}, {1, 1}});
    problem.lengths = true, problem.batch = 2, problem.heads = 4, problem.sharedHeads = 2;
    check(problem, {{130, 130}});
  }
}

TEST_F(Kernels, ChunkedWidths) {
  for (int64_t width : {8, 40, 80})
    check(problemOf("chunked", "f16", width, width), {{100, 100}});
}

// f32 keeps its tolerance: products take three of tf32.
TEST_F(Kernels, F32) {
  for (const char *form : {"softmax", "quadratic", "state", "chunked"}) {
    Problem problem = problemOf(form, "f32");
    check(problem, {{64, 64}, {130, 130}, {1, 1}});
    check(problemOf(form, "f32", 40, 24), {{70, 70}});
    check(problemOf(form, "f32", 20, 7), {{20, 20}}, /*aligned=*/false, /*conflictFree=*/false);
    problem.lengths = true, problem.batch = 2, problem.heads = 4, problem.sharedHeads = 2;
    problem.causal = problem.form != "state";
    check(problem, {{70, 70}});
  }
}

// Columns of tiles over several warps.
TEST_F(Kernels, GridsOfWarps) {
  for (tile::WarpGrid warps : {tile::WarpGrid{4, 2}, tile::WarpGrid{1, 4}})
    for (const char *form : {"softmax", "quadratic", "state", "chunked"})
      for (const char *dtype : {"f32", "f16"}) {
        Problem problem = problemOf(form, dtype, 40, 72);
        problem.lengths = true, problem.causal = problem.form != "state";
        check(problem, {{70, 70}}, /*aligned=*/true, /*conflictFree=*/true, warps);
      }
}

// The order in which warps run changes nothing.
TEST_F(Kernels, AnyOrderOfWarps) {
  for (const char *form : {"softmax", "chunked"}) {
    Problem problem = problemOf(form, "f16");
    problem.queries = problem.keys = 130;
    auto plan = compilePlan(*context, gpuSource(problem));
    ASSERT_TRUE(plan);
    EmulatedPlan inOrder(*plan), shuffled(*plan, /*shuffled=*/true);
    Data first(problem, 7, 1, false), second(problem, 7, 1, false);
    inOrder.run(first.arguments());
    shuffled.run(second.arguments());
    expectClean(shuffled.report(), describe(problem), true);
    for (int64_t i = 0; i < problem.queries; ++i)
      for (int64_t w = 0; w < problem.valueWidth; ++w)
        ASSERT_EQ(first.output.get(0, 0, i, w), second.output.get(0, 0, i, w));
  }
}

// The emulator tells when something is wrong: without its barriers the same kernel races.
TEST_F(Kernels, MissingBarriersAreFound) {
  Problem problem = problemOf("softmax", "f16");
  problem.keys = 256;
  auto plan = compilePlan(*context, gpuSource(problem));
  ASSERT_TRUE(plan);
  llvm::SmallVector<mlir::Operation *> barriers;
  plan->kernels->walk([&](mlir::NVVM::BarrierOp op) { barriers.push_back(op); });
  ASSERT_FALSE(barriers.empty());
  for (mlir::Operation *op : barriers)
    op->erase();
  EmulatedPlan emulated(*plan);
  Data data(problem, 7, 1, /*atEnd=*/false);
  emulated.run(data.arguments());
  EXPECT_GT(emulated.report().total(FindingKind::Race), 0u);
}
