//===- TilesTest.cpp - Compiled tile ops against double loops ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Jit.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace attune::test;

namespace {
/// A float matrix between guard pages.
struct Matrix {
  Matrix(int64_t rows, int64_t columns, unsigned seed = 0)
      : rows(rows), columns(columns), memory(size_t(rows * columns) * 4) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; seed && i < rows * columns; ++i)
      data()[i] = normal(random);
  }
  float *data() const { return static_cast<float *>(memory.data()); }
  float &operator()(int64_t i, int64_t j) const { return data()[i * columns + j]; }
  Tensor tensor() const { return {memory.data(), {rows, columns}, {columns, 1}}; }
  std::string type() const { return std::to_string(rows) + "x" + std::to_string(columns) + "xf32>"; }
  int64_t rows, columns;
  Guarded memory;
};

class CpuTiles : public ::testing::TestWithParam<std::string> {
protected:
  mlir::MLIRContext context;

  void SetUp() override {
    if (!machineHas(GetParam()))
      GTEST_SKIP() << "this machine has no " << GetParam();
  }

  /// Runs a kernel body over %A, %B, ... with %c0 and %zero-like constants left to the body.
  void run(const std::string &body, const std::vector<const Matrix *> &matrices) {
    std::string arguments, names, types;
    for (size_t i = 0; i < matrices.size(); ++i) {
      std::string name = std::string("%") + char('A' + i),
                  type = "memref<?x" + std::to_string(matrices[i]->columns) + "xf32>";
      arguments += (i ? ", " : "") + name + ": " + type;
      names += (i ? ", " : "") + name, types += (i ? ", " : "") + type;
    }
    std::string source = "tile.kernel @kernel(" + arguments + ") grid(batch) {\n%c0 = arith.constant 0 : index\n" +
                         body + "tile.return\n}\nfunc.func @plan(" + arguments +
                         ") {\n%c1 = arith.constant 1 : index\n" + "tile.launch @kernel grid(%c1) (" + names +
                         ") : " + types + "\nreturn\n}\n";
    Jit jit(context, source, {GetParam()});
    std::vector<Tensor> tensors;
    for (const Matrix *matrix : matrices)
      tensors.push_back(matrix->tensor());
    jit.run("plan", GetParam(), tensors);
  }

  static std::string load(const std::string &name, const std::string &memory, const Matrix &m) {
    return name + " = tile.load " + memory + "[%c0, %c0] : memref<?x" + std::to_string(m.columns) + "xf32> -> tensor<" +
           m.type() + "\n";
  }
  static std::string store(const std::string &name, const std::string &memory, const Matrix &m) {
    return "tile.store " + name + ", " + memory + "[%c0, %c0] : tensor<" + m.type() + ", memref<?x" +
           std::to_string(m.columns) + "xf32>\n";
  }
  void checkDot(int64_t m, int64_t n, int64_t k, bool transposeA, bool transposeB, bool column);
  void checkRunningSums(int64_t rows, int64_t columns, bool fromEnd, bool own);
};
} // namespace

void CpuTiles::checkDot(int64_t m, int64_t n, int64_t k, bool transposeA, bool transposeB, bool column) {
  Matrix a(transposeA ? k : m, transposeA ? m : k, 1), b(transposeB ? n : k, transposeB ? k : n, 2), c(m, n, 3),
      out(m, n);
  std::string flags = std::string(column ? "attune.column, " : "") + (transposeA ? "transpose_a, " : "") +
                      (transposeB ? "transpose_b, " : "");
  if (!flags.empty())
    flags = " {" + flags.substr(0, flags.size() - 2) + "}";
  // A sum of its own keeps the accumulator in the order of the result.
  std::string sum =
      "%c = arith.addf %c0t, %c0t" + std::string(column ? " {attune.column}" : "") + " : tensor<" + c.type() + "\n";
  run(load("%a", "%A", a) + load("%b", "%B", b) + load("%c0t", "%C", c) + sum + "%o = tile.dot %a, %b, %c" + flags +
          " : tensor<" + a.type() + ", tensor<" + b.type() + " -> tensor<" + out.type() + "\n" + store("%o", "%D", out),
      {&a, &b, &c, &out});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double expected = 2.0 * c(i, j), size = 1 + std::abs(expected);
      for (int64_t l = 0; l < k; ++l) {
        double term = double(transposeA ? a(l, i) : a(i, l)) * (transposeB ? b(j, l) : b(l, j));
        expected += term, size += std::abs(term);
      }
      ASSERT_NEAR(out(i, j), expected, 1e-6 * size) << m << "x" << n << "x" << k << flags << " at " << i << ", " << j;
    }
}

TEST_P(CpuTiles, Dots) {
  int64_t sizes[][3] = {{1, 1, 1}, {64, 64, 64}, {13, 17, 5}, {16, 32, 3}, {1, 130, 64}, {130, 1, 7}, {47, 95, 33}};
  for (auto &[m, n, k] : sizes)
    for (int flags = 0; flags < 8; ++flags)
      checkDot(m, n, k, flags & 1, flags & 2, flags & 4);
}

/// The row that is summed last is infinite: a product with the triangle's zeros would make all of it NaN.
void CpuTiles::checkRunningSums(int64_t rows, int64_t columns, bool fromEnd, bool own) {
  Matrix x(rows, columns, 1), out(rows, columns);
  for (int64_t j = 0; j < columns; ++j)
    x(fromEnd ? 0 : rows - 1, j) = INFINITY;
  std::string square = "tensor<" + Matrix(rows, rows).type(), tile = "tensor<" + x.type();
  run("%d = arith.constant " + std::string(own ? "0" : "-1") + " : index\n%ones = arith.constant dense<1.0> : " + square +
          "\n%up = tile.mask %ones fill 0.0 diagonal(%d) : " + square + "\n%none = arith.constant dense<0.0> : " + tile + "\n" +
          load("%x", "%A", x) + "%o = tile.dot %up, %x, %none precision f32" + (fromEnd ? " {transpose_a}" : "") + " : " + square + ", " +
          tile + " -> " + tile + "\n" + store("%o", "%B", out),
      {&x, &out});
  for (int64_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (int64_t step = 0; step < rows; ++step) {
      int64_t i = fromEnd ? rows - 1 - step : step;
      double before = sum;
      sum += x(i, j);
      double expected = own ? sum : before;
      if (std::isinf(expected))
        ASSERT_EQ(out(i, j), expected) << rows << "x" << columns << " at " << i << ", " << j;
      else
        ASSERT_NEAR(out(i, j), expected, 1e-5) << rows << "x" << columns << " at " << i << ", " << j;
    }
  }
}

TEST_P(CpuTiles, RunningSums) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 7), {2, 1}, {16, 64}, {32, 130}, {33, 300}})
    for (int flags = 0; flags < 4; ++flags)
      checkRunningSums(rows, columns, flags & 1, flags & 2);
}

TEST_P(CpuTiles, WideDots) {
  int64_t sizes[][3] = {{1, 1024, 1024}, {1024, 1, 1024}, {5, 1024, 1000}, {1024, 65, 64}, {1000, 1030, 3}};
  for (auto &[m, n, k] : sizes)
    for (int flags : {0, 3, 5, 6})
      checkDot(m, n, k, flags & 1, flags & 2, flags & 4);
}

TEST_P(CpuTiles, StateLargerThanTheRegisters) {
  // A loop's sum of outer products, 16 tokens a step; the last has 13.
  for (auto [m, n] : {std::pair<int64_t, int64_t>(1024, 65), {300, 7}, {7, 300}, {1, 512}}) {
    Matrix a(45, m, 1), b(45, n, 2), out(m, n);
    std::string aTile = "tensor<" + Matrix(16, m).type(), bTile = "tensor<" + Matrix(16, n).type();
    std::string aMemory = "memref<?x" + std::to_string(m) + "xf32>",
                bMemory = "memref<?x" + std::to_string(n) + "xf32>";
    std::string state = "tensor<" + out.type();
    run("%z = arith.constant dense<0.0> : " + state + "\n%end = memref.dim %A, %c0 : " + aMemory +
            "\n%r = tile.loop #tile.sum %j = %c0 to %end step 16 carries(%acc = %z) : (" + state +
            ") {\n%l = tile.load %A[%j, %c0] : " + aMemory + " -> " + aTile + "\n%s = arith.mulf %l, %l : " + aTile +
            "\n%v = tile.load %B[%j, %c0] : " + bMemory + " -> " + bTile +
            "\n%n = tile.dot %s, %v, %acc {transpose_a} : " + aTile + ", " + bTile + " -> " + state +
            "\ntile.yield %n : " + state + "\n}\n" + store("%r", "%C", out),
        {&a, &b, &out});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double expected = 0, size = 1;
        for (int64_t t = 0; t < 45; ++t)
          expected += double(a(t, i)) * a(t, i) * b(t, j), size += std::abs(double(a(t, i)) * a(t, i) * b(t, j));
        ASSERT_NEAR(out(i, j), expected, 1e-6 * size) << m << "x" << n << " at " << i << ", " << j;
      }
  }
}

TEST_P(CpuTiles, ReductionsAndExpansionsOfEverySize) {
  std::vector<std::pair<int64_t, int64_t>> shapes = {{1, 300}, {300, 1}, {300, 300}, {300, 7}, {2, 2}};
  for (int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 47, 64, 65, 100, 129})
    for (int64_t rows : {1, 5, 64})
      shapes.push_back({rows, columns});
  for (auto [rows, columns] : shapes) {
    bool column = (rows + columns) % 2;
    Matrix a(rows, columns, 1), out(rows, columns);
    std::string tile = "tensor<" + a.type(), mark = column ? " {attune.column}" : "";
    std::string byRow = "tensor<" + std::to_string(rows) + "xf32>",
                byColumn = "tensor<" + std::to_string(columns) + "xf32>";
    auto reduce = [&](const std::string &name, const std::string &kind, int axis) {
      std::string to = axis ? byRow : byColumn;
      return "%" + name + "r = tile.reduce " + kind + " %x axis " + std::to_string(axis) + " : " + tile + " -> " + to +
             "\n%" + name + " = tile.expand %" + name + "r axis " + std::to_string(axis) + " : " + to + " -> " + tile +
             "\n";
    };
    auto add = [&](const std::string &name, const std::string &left, const std::string &right) {
      return "%" + name + " = arith.addf %" + left + ", %" + right + mark + " : " + tile + "\n";
    };
    // x + Σ_j x + 2 max_j x + Σ_i x + 2 max_i x
    run(load("%l", "%A", a) + add("x", "l", "l") + reduce("s", "add", 1) + reduce("m", "max", 1) +
            reduce("t", "add", 0) + reduce("n", "max", 0) + add("d", "m", "m") + add("e", "n", "n") +
            add("f", "x", "s") + add("g", "f", "d") + add("h", "g", "t") + add("o", "h", "e") + store("%o", "%B", out),
        {&a, &out});
    std::vector<double> sums(rows), sumsDown(columns), maxima(rows, -INFINITY), maximaDown(columns, -INFINITY);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double x = 2.0 * a(i, j);
        sums[i] += x, sumsDown[j] += x;
        maxima[i] = std::max(maxima[i], x), maximaDown[j] = std::max(maximaDown[j], x);
      }
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_NEAR(out(i, j), 2.0 * a(i, j) + sums[i] + 2 * maxima[i] + sumsDown[j] + 2 * maximaDown[j], 1e-4)
            << rows << "x" << columns << mark << " at " << i << ", " << j;
  }
}

TEST_P(CpuTiles, EveryTail) {
  for (int64_t size = 1; size <= 130; size += size < 18 ? 1 : size < 36 ? 3 : 13)
    checkDot(size, size, size, false, size % 2, size % 3 == 0);
}

TEST_P(CpuTiles, MasksAndReductions) {
  for (bool column : {false, true})
    for (int64_t columns : {5, 16, 33}) {
      int64_t rows = 21;
      Matrix a(rows, columns, 1), sums(1, rows), maxima(1, columns), bounds(1, 1);
      std::string tile = "tensor<" + a.type(), mark = column ? " {attune.column}" : "";
      std::string vectors = "memref<?x" + std::to_string(rows) + "xf32>, ";
      run(load("%a", "%A", a) +
              "%rows = arith.constant 19 : index\n%cols = arith.constant 30 : index\n%d = arith.constant -2 : index\n" +
              "%two = arith.addf %a, %a" + mark + " : " + tile +
              "\n%m = tile.mask %two fill 0.5 rows(%rows) cols(%cols) " + "diagonal(%d)" + mark + " : " + tile +
              "\n%s = tile.reduce add %m axis 1 : " + tile + " -> tensor<" + std::to_string(rows) +
              "xf32>\n%x = tile.reduce max %m axis 0 : " + tile + " -> tensor<" + std::to_string(columns) + "xf32>\n" +
              "tile.store %s, %B[%c0, %c0] : tensor<" + std::to_string(rows) + "xf32>, memref<?x" +
              std::to_string(rows) + "xf32>\ntile.store %x, %C[%c0, %c0] : tensor<" + std::to_string(columns) +
              "xf32>, memref<?x" + std::to_string(columns) + "xf32>\n",
          {&a, &sums, &maxima});
      auto element = [&](int64_t i, int64_t j) { return i < 19 && j < 30 && j <= i - 2 ? 2.0 * a(i, j) : 0.5; };
      for (int64_t i = 0; i < rows; ++i) {
        double expected = 0;
        for (int64_t j = 0; j < columns; ++j)
          expected += element(i, j);
        ASSERT_NEAR(sums(0, i), expected, 1e-4) << "row " << i << " of " << columns << " columns" << mark;
      }
      for (int64_t j = 0; j < columns; ++j) {
        double expected = -INFINITY;
        for (int64_t i = 0; i < rows; ++i)
          expected = std::max(expected, element(i, j));
        ASSERT_EQ(maxima(0, j), float(expected)) << "column " << j << mark;
      }
    }
}

/// Applies an op to every element of a 1 × n tile.
static std::string unary(const std::string &op, const std::string &type) {
  return "%r = " + op + " %a : tensor<" + type + "\n";
}

TEST_P(CpuTiles, Exp2) {
  Matrix x(1, 40000), y(1, 40000);
  for (int64_t i = 0; i < x.columns; ++i)
    x(0, i) = float(-150 + 300.0 * double(i) / double(x.columns) + 1e-3 * double(i % 7));
  const float special[] = {0.0f,   -0.0f,   -INFINITY, INFINITY, NAN,    -1e30f, 1e30f,
                           127.9f, -125.9f, -127.1f,   1e-40f,   128.0f, 127.5f};
  for (size_t i = 0; i < std::size(special); ++i)
    x(0, int64_t(i)) = special[i];
  uint32_t payload = 0x7fc00001;
  memcpy(&x(0, 20), &payload, 4);
  run(load("%a", "%A", x) + unary("math.exp2", x.type()) + store("%r", "%B", y), {&x, &y});
  for (int64_t i = 0; i < x.columns; ++i) {
    double expected = std::exp2(double(x(0, i)));
    if (std::isnan(x(0, i)))
      EXPECT_TRUE(std::isnan(y(0, i)));
    else if (x(0, i) < -126)
      EXPECT_EQ(y(0, i), 0) << x(0, i);
    else if (expected > 3.4028236e38)
      EXPECT_EQ(y(0, i), INFINITY) << x(0, i);
    else
      EXPECT_NEAR(y(0, i) / expected, 1, 2e-7) << x(0, i);
  }
  EXPECT_EQ(y(0, 0), 1);
}

TEST_P(CpuTiles, Log2) {
  Matrix x(1, 20000), y(1, 20000);
  for (int64_t i = 0; i < x.columns; ++i)
    x(0, i) = float(std::exp2(-130 + 256.0 * double(i) / double(x.columns)));
  const float special[] = {0.0f, 1.0f, INFINITY, NAN, -1.0f, 1.0000001f, 0.99999994f, 1e-44f};
  for (size_t i = 0; i < std::size(special); ++i)
    x(0, int64_t(i)) = special[i];
  run(load("%a", "%A", x) + unary("math.log2", x.type()) + store("%r", "%B", y), {&x, &y});
  for (int64_t i = 0; i < x.columns; ++i) {
    double expected = std::log2(double(x(0, i)));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(y(0, i))) << x(0, i);
    else if (std::isinf(expected))
      EXPECT_EQ(y(0, i), expected) << x(0, i);
    else
      EXPECT_NEAR(y(0, i), expected, 3e-7 * std::max(std::abs(expected), 1e-1)) << x(0, i);
  }
  EXPECT_EQ(y(0, 1), 0);
}

TEST_P(CpuTiles, NanPassesMaximum) {
  Matrix x(1, 4), y(1, 4);
  const float values[] = {NAN, -1, 2, -0.5f};
  std::copy(values, values + 4, x.data());
  std::string type = "tensor<" + x.type();
  run(load("%a", "%A", x) + "%z = arith.constant dense<0.0> : " + type + "\n%p = arith.maximumf %a, %z : " + type +
          "\n%n = arith.minimumf %z, %a : " + type + "\n%r = arith.addf %p, %n : " + type + "\n" + store("%r", "%B", y),
      {&x, &y});
  EXPECT_TRUE(std::isnan(y(0, 0)));
  for (int64_t i = 1; i < 4; ++i)
    EXPECT_EQ(y(0, i), values[i]);
}

INSTANTIATE_TEST_SUITE_P(Isas, CpuTiles, ::testing::Values("avx2", "avx512", "avx512_bf16", "amx"),
                         [](const auto &info) { return info.param; });
