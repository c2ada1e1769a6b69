//===- KernelsTest.cpp - Compiled kernels against the definition ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Problems.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace attune::test;

namespace {
class CpuKernels : public ::testing::TestWithParam<std::string> {
protected:
  mlir::MLIRContext context;

  void SetUp() override {
    if (!machineHas(GetParam()))
      GTEST_SKIP() << "this machine has no " << GetParam();
  }

  static double tolerance(const Problem &p) { return p.dtype == "f32" ? 2e-5 : p.dtype == "f16" ? 4e-3 : 2e-2; }

  /// Compiles once and runs for every pair of lengths, with memory ending and beginning at a guard page.
  void check(Problem p, const std::vector<std::pair<int64_t, int64_t>> &lengths) {
    Jit jit(context, p.source(), {GetParam()});
    for (auto [queries, keys] : lengths)
      for (bool atEnd : {true, false}) {
        p.queries = queries, p.keys = keys;
        Data data(p, unsigned(queries * 131 + keys), 1, atEnd);
        jit.run("plan", GetParam(), data.arguments());
        EXPECT_LE(data.error(), tolerance(p))
            << p.form << " " << p.dtype << " n=" << queries << " N=" << keys << " d=" << p.width
            << " dv=" << p.valueWidth << " tiles " << p.queryTile << "x" << p.keyTile << (p.causal ? " causal" : "")
            << (p.lengths ? " lengths" : "");
      }
  }
};
} // namespace

static std::vector<std::pair<int64_t, int64_t>> tails(bool square) {
  if (square)
    return {{1, 1}, {5, 5}, {63, 63}, {64, 64}, {65, 65}, {130, 130}, {193, 193}};
  return {{1, 1}, {3, 70}, {64, 64}, {65, 1}, {70, 129}, {130, 130}, {17, 200}};
}

TEST_P(CpuKernels, Softmax) {
  Problem p;
  p.batch = 2, p.heads = 4, p.sharedHeads = 2;
  check(p, tails(false));
}

TEST_P(CpuKernels, SoftmaxCausalLengthsLse) {
  Problem p;
  p.batch = 3, p.heads = 2, p.causal = p.lengths = p.lse = true, p.sharedHeads = 1;
  check(p, {{1, 1}, {64, 64}, {3, 70}, {70, 129}, {130, 130}, {17, 200}, {130, 70}});
}

TEST_P(CpuKernels, SoftmaxWidths) {
  int64_t widths[][2] = {{1, 1}, {8, 40}, {40, 8}, {64, 80}, {80, 64}, {96, 96}, {128, 33}, {7, 130}};
  for (auto &[width, valueWidth] : widths)
    for (bool causal : {false, true}) {
      Problem p;
      p.width = width, p.valueWidth = valueWidth, p.causal = causal, p.tokensFirst = true, p.heads = p.sharedHeads = 2;
      check(p, {{65, 65}, {70, 129}});
    }
}

TEST_P(CpuKernels, SoftmaxOfFixedSizes) {
  for (int64_t n : {1, 64, 65, 128}) {
    Problem p;
    p.batch = 2, p.heads = p.sharedHeads = 2, p.queries = p.keys = n, p.causal = n != 64, p.fixedSizes = true;
    check(p, {{n, n}});
  }
}

TEST_P(CpuKernels, SoftmaxTiles) {
  int64_t tiles[][2] = {{16, 16}, {32, 128}, {128, 32}, {8, 24}, {1, 1}, {100, 60}};
  for (auto &[queryTile, keyTile] : tiles) {
    Problem p;
    p.width = 24, p.valueWidth = 40, p.queryTile = queryTile, p.keyTile = keyTile, p.piece = 2 * keyTile;
    p.causal = p.lengths = true, p.batch = 2;
    check(p, {{65, 65}, {70, 129}, {1, 1}});
  }
}

TEST_P(CpuKernels, SoftmaxOfKeysInPieces) {
  // One query, whole and ragged tiles, fewer tiles than pieces, none in some of them.
  for (int64_t pieces : {2, 3, 7})
    for (auto [queryTile, keyTile] : {std::pair<int64_t, int64_t>{1, 64}, {4, 16}, {64, 64}}) {
      Problem p;
      p.batch = 3, p.heads = 4, p.sharedHeads = 2, p.causal = p.lengths = p.lse = pieces != 3, p.width = 24, p.valueWidth = 40;
      p.queryTile = queryTile, p.keyTile = keyTile, p.keyPieces = pieces;
      check(p, {{1, 1}, {1, 300}, {3, 129}, {64, 64}, {70, 129}, {65, 1}});
    }
}

TEST_P(CpuKernels, KeysInPiecesOfStorageTypes) {
  for (const char *dtype : {"f16", "bf16"}) {
    Problem p;
    p.dtype = dtype, p.heads = 2, p.lengths = true, p.queryTile = 1, p.keyPieces = 3;
    check(p, {{1, 200}, {2, 65}});
  }
}

TEST_P(CpuKernels, StorageTypes) {
  for (const char *dtype : {"f16", "bf16"})
    for (const char *form : {"softmax", "chunked", "state", "quadratic"})
      for (int64_t width : {64, 7}) {
        Problem p;
        p.form = form, p.dtype = dtype, p.width = width, p.valueWidth = width == 7 ? 33 : width, p.heads = 2;
        p.lengths = true;
        check(p, {{65, 65}});
      }
}

TEST_P(CpuKernels, Chunked) {
  int64_t widths[][2] = {{64, 64}, {1, 1}, {8, 40}, {40, 8}, {80, 96}, {128, 128}};
  for (auto &[width, valueWidth] : widths) {
    Problem p;
    p.form = "chunked", p.width = width, p.valueWidth = valueWidth, p.heads = 2, p.batch = 2, p.lengths = true;
    check(p, width == 64 ? tails(true) : std::vector<std::pair<int64_t, int64_t>>{{65, 65}, {193, 193}});
  }
}

TEST_P(CpuKernels, ChunkedWide) {
  Problem p;
  p.form = "chunked", p.width = 325, p.valueWidth = 325;
  check(p, {{130, 130}});
}

TEST_P(CpuKernels, StateAndReadout) {
  int64_t widths[][2] = {{64, 64}, {1, 1}, {8, 40}, {40, 8}, {96, 80}};
  for (auto &[width, valueWidth] : widths)
    for (bool lengths : {false, true}) {
      Problem p;
      p.form = "state", p.width = width, p.valueWidth = valueWidth, p.heads = 2, p.batch = 2;
      p.lengths = lengths;
      check(p, {{1, 1}, {65, 257}, {70, 129}});
    }
}

TEST_P(CpuKernels, Quadratic) {
  for (bool causal : {false, true})
    for (int64_t width : {64, 40}) {
      Problem p;
      p.form = "quadratic", p.width = width, p.valueWidth = 2 * width, p.causal = causal, p.lengths = true, p.batch = 2;
      check(p, {{1, 1}, {65, 65}, {70, 129}});
    }
}

/// A batch entry has the bits that it has alone, and runs repeat.
TEST_P(CpuKernels, BitsOfABatchEntry) {
  for (const char *form : {"softmax", "chunked", "state"}) {
    Problem p;
    p.form = form, p.batch = 3, p.queries = p.keys = 150, p.width = 40, p.valueWidth = 24;
    Jit jit(context, p.source(), {GetParam()});
    Data all(p, 5);
    jit.run("plan", GetParam(), all.arguments());
    Problem alone = p;
    alone.batch = 1;
    Data one(alone, 6);
    for (Storage Data::*input : {&Data::query, &Data::key, &Data::value})
      for (int64_t row = 0; row < 150; ++row)
        for (int64_t column = 0; column < (one.*input).tensor.sizes[3]; ++column)
          (one.*input).set(0, 0, row, column, (all.*input).get(1, 0, row, column));
    for (int run = 0; run < 2; ++run) {
      jit.run("plan", GetParam(), one.arguments());
      for (int64_t row = 0; row < 150; ++row)
        for (int64_t column = 0; column < 24; ++column)
          ASSERT_EQ(one.output.get(0, 0, row, column), all.output.get(1, 0, row, column)) << form;
    }
  }
}

TEST_P(CpuKernels, LargeInputs) {
  Problem p;
  p.heads = 2, p.sharedHeads = 2, p.causal = true, p.queries = p.keys = 130;
  for (const char *form : {"softmax", "chunked"}) {
    p.form = form;
    Jit jit(context, p.source(), {GetParam()});
    for (double magnitude : {30.0, 1000.0}) {
      Data data(p, 3, magnitude);
      jit.run("plan", GetParam(), data.arguments());
      EXPECT_LE(data.error(), magnitude == 30 ? 4e-5 : 1e30) << form << " " << magnitude;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, CpuKernels, ::testing::Values("avx2", "avx512", "avx512_bf16", "amx"),
                         [](const auto &info) { return info.param; });
