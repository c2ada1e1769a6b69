//===- AmxTest.cpp - Dots by products of tiles against double loops -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Jit.h"
#include "TrapEmulator.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace attune::test;

/// Every test of this program may run code with tiles.
[[maybe_unused]] static const bool tilesAreThere = (installTiles = amx::install, true);

namespace {
/// A matrix of bf16 numbers between guard pages.
struct Halves {
  Halves(int64_t rows, int64_t columns, unsigned seed)
      : rows(rows), columns(columns), memory(size_t(rows * columns) * 2) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows * columns; ++i) {
      float value = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      data()[i] = uint16_t(bits >> 16);
    }
  }
  uint16_t *data() const { return static_cast<uint16_t *>(memory.data()); }
  double operator()(int64_t i, int64_t j) const {
    uint32_t bits = uint32_t(data()[i * columns + j]) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  Tensor tensor() const { return {memory.data(), {rows, columns}, {columns, 1}}; }
  int64_t rows, columns;
  Guarded memory;
};

struct Floats {
  Floats(int64_t rows, int64_t columns) : rows(rows), columns(columns), memory(size_t(rows * columns) * 4) {
    for (int64_t i = 0; i < rows * columns; ++i)
      data()[i] = float(i % 7) - 3;
  }
  float *data() const { return static_cast<float *>(memory.data()); }
  Tensor tensor() const { return {memory.data(), {rows, columns}, {columns, 1}}; }
  int64_t rows, columns;
  Guarded memory;
};

std::string typeOf(int64_t rows, int64_t columns, const char *element) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
}
std::string memoryOf(int64_t columns, const char *element) {
  return "memref<?x" + std::to_string(columns) + "x" + element + ">";
}

/// C + A B, in either order, each operand as it is or transposed.
struct Shape {
  int64_t m, n, k;
  bool transposeA, transposeB, column, accumulates;
};

/// Whether tiles multiply it: rows of the result in its own order, and products of a sum.
bool isLarge(const Shape &shape) { return (shape.column ? shape.n : shape.m) >= 16 && shape.k >= 16; }

class CpuAmx : public ::testing::Test {
protected:
  mlir::MLIRContext context;

  void SetUp() override {
    if (!machineHas("amx"))
      GTEST_SKIP() << "this machine has no avx512_bf16";
  }

  static std::string flagsOf(const Shape &shape) {
    std::string flags = std::string(shape.column ? "attune.column, " : "") + (shape.transposeA ? "transpose_a, " : "") +
                        (shape.transposeB ? "transpose_b, " : "");
    return flags.empty() ? "" : " {" + flags.substr(0, flags.size() - 2) + "}";
  }

  static std::string sourceOf(const Shape &shape, const Halves &a, const Halves &b) {
    std::string aType = typeOf(a.rows, a.columns, "bf16"), bType = typeOf(b.rows, b.columns, "bf16"),
                cType = typeOf(shape.m, shape.n, "f32"), aMemory = memoryOf(a.columns, "bf16"),
                bMemory = memoryOf(b.columns, "bf16"), cMemory = memoryOf(shape.n, "f32"),
                arguments = "%A: " + aMemory + ", %B: " + bMemory + ", %C: " + cMemory + ", %D: " + cMemory,
                column = shape.column ? " {attune.column}" : "";
    std::string sum = shape.accumulates ? "%l = tile.load %C[%c0, %c0] : " + cMemory + " -> " + cType +
                                              "\n%c = arith.addf %l, %l" + column + " : " + cType + "\n"
                                        : "%c = arith.constant dense<0.0> : " + cType + "\n";
    return "tile.kernel @kernel(" + arguments + ") grid(batch) {\n%c0 = arith.constant 0 : index\n%a = tile.load " +
           "%A[%c0, %c0] : " + aMemory + " -> " + aType + "\n%b = tile.load %B[%c0, %c0] : " + bMemory + " -> " +
           bType + "\n" + sum + "%o = tile.dot %a, %b, %c" + flagsOf(shape) + " : " + aType + ", " + bType + " -> " +
           cType + "\ntile.store %o, %D[%c0, %c0] : " + cType + ", " + cMemory + "\ntile.return\n}\nfunc.func @plan(" +
           arguments +
           ") {\n%c1 = arith.constant 1 : index\ntile.launch @kernel grid(%c1) (%A, %B, %C, %D) : " + aMemory + ", " +
           bMemory + ", " + cMemory + ", " + cMemory + "\nreturn\n}\n";
  }

  void check(const Shape &shape) {
    auto [m, n, k, transposeA, transposeB, column, accumulates] = shape;
    Halves a(transposeA ? k : m, transposeA ? m : k, 1), b(transposeB ? n : k, transposeB ? k : n, 2);
    Floats c(m, n), out(m, n);
    std::string source = sourceOf(shape, a, b);
    Jit jit(context, source, {"amx"});
    uint64_t before = amx::productsExecuted();
    jit.run("plan", "amx", {a.tensor(), b.tensor(), c.tensor(), out.tensor()});
    if (!__builtin_cpu_supports("amx-bf16"))
      EXPECT_EQ(amx::productsExecuted() > before, isLarge(shape)) << source;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double expected = accumulates ? 2.0 * c.data()[i * n + j] : 0.0, size = 1 + std::abs(expected);
        for (int64_t l = 0; l < k; ++l) {
          double term = (transposeA ? a(l, i) : a(i, l)) * (transposeB ? b(j, l) : b(l, j));
          expected += term, size += std::abs(term);
        }
        ASSERT_NEAR(out.data()[i * n + j], expected, 1e-6 * size)
            << m << "x" << n << "x" << k << flagsOf(shape) << " at " << i << ", " << j;
      }
  }
};

/// Whole tiles; rests of rows, columns and depth alone and together; an odd depth; too little for tiles.
TEST_F(CpuAmx, Dots) {
  int64_t sizes[][3] = {{64, 64, 64}, {16, 16, 16}, {49, 64, 40}, {33, 17, 80}, {31, 20, 128},
                        {64, 49, 49}, {18, 65, 17}, {100, 1, 96}, {1, 100, 64}, {15, 15, 64}};
  for (auto &[m, n, k] : sizes)
    for (int flags = 0; flags < 16; ++flags)
      check({m, n, k, bool(flags & 1), bool(flags & 2), bool(flags & 4), bool(flags & 8)});
}
} // namespace
