//===- RowsTest.cpp - Compiled windows, numbers, permutations against loops ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Jit.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

using namespace attune::test;

namespace {
/// A matrix of f32, or the bits of one of i32, between guard pages; NaN unless a seed fills it.
struct Matrix {
  Matrix(int64_t rows, int64_t columns, unsigned seed = 0, bool atEnd = true)
      : rows(rows), columns(columns), memory(size_t(rows * columns) * 4, atEnd) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; seed && i < rows * columns; ++i)
      data()[i] = normal(random);
  }
  float *data() const { return static_cast<float *>(memory.data()); }
  int32_t *words() const { return static_cast<int32_t *>(memory.data()); }
  float &operator()(int64_t i, int64_t j) const { return data()[i * columns + j]; }
  Tensor tensor() const { return {memory.data(), {rows, columns}, {columns, 1}}; }
  int64_t rows, columns;
  Guarded memory;
};

std::string text(int64_t number) { return std::to_string(number); }
std::string tileType(int64_t rows, int64_t columns, const std::string &element = "f32") {
  return "tensor<" + text(rows) + "x" + text(columns) + "x" + element + ">";
}
std::string rowType(int64_t columns, const std::string &element = "f32") {
  return "tensor<" + text(columns) + "x" + element + ">";
}

class CpuRows : public ::testing::TestWithParam<std::string> {
protected:
  mlir::MLIRContext context;

  void SetUp() override {
    if (!machineHas(GetParam()))
      GTEST_SKIP() << "this machine has no " << GetParam();
  }

  static std::string memoryType(int64_t columns, const std::string &element = "f32") {
    return "memref<?x" + text(columns) + "x" + element + ">";
  }

  /// Runs a kernel body over memories %A, %B, … of these elements.
  void run(const std::string &body, const std::vector<const Matrix *> &matrices,
           const std::vector<std::string> &elements) {
    std::string arguments, names, types;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < matrices.size(); ++i) {
      std::string comma = i ? ", " : "", name = std::string("%") + char('A' + i);
      std::string type = memoryType(matrices[i]->columns, elements[i]);
      arguments += comma + name + ": " + type, names += comma + name, types += comma + type;
      tensors.push_back(matrices[i]->tensor());
    }
    Jit jit(context,
            "tile.kernel @kernel(" + arguments + ") grid(batch) {\n%c0 = arith.constant 0 : index\n" + body +
                "tile.return\n}\nfunc.func @plan(" + arguments + ") {\n%c1 = arith.constant 1 : index\n" +
                "tile.launch @kernel grid(%c1) (" + names + ") : " + types + "\nreturn\n}\n",
            {GetParam()});
    jit.run("plan", GetParam(), tensors);
  }

  struct Window {
    int64_t tokens, origin, first, columns, stride, rows, width;
    std::optional<int64_t> lower, limit;
  };
  static std::optional<int64_t> rowOf(const Window &window, int64_t i);
  std::string header(const Window &window, bool known, const Matrix &numbers);
  void checkWindow(const Window &window, bool known);
  void checkTaps(const Window &window);
  void checkPermutation(int64_t width, const std::vector<int64_t> &order, bool computed);
};
} // namespace

//===----------------------------------------------------------------------===//
// Windows and lower bounds
//===----------------------------------------------------------------------===//

/// The memory's row for row i of the tile; columns 0 is no fold.
std::optional<int64_t> CpuRows::rowOf(const Window &window, int64_t i) {
  int64_t number = window.first + i;
  if (number < std::max<int64_t>(window.lower.value_or(0), 0) || number >= window.limit.value_or(INT64_MAX))
    return std::nullopt;
  int64_t row =
      window.columns ? window.origin + number / window.columns * window.stride + number % window.columns : number;
  return row < window.tokens ? std::optional(row) : std::nullopt;
}

/// %origin, %first, %lower, %limit, as constants or read from %C.
std::string CpuRows::header(const Window &window, bool known, const Matrix &numbers) {
  std::string result;
  int64_t values[] = {window.origin, window.first, window.lower.value_or(0), window.limit.value_or(0)};
  const char *names[] = {"%origin", "%first", "%lower", "%limit"};
  for (int64_t i = 0; i < 4; ++i) {
    numbers.words()[i] = int32_t(values[i]);
    if (known)
      result += names[i] + (" = arith.constant " + text(values[i])) + " : index\n";
    else
      result += "%at" + text(i) + " = arith.constant " + text(i) + " : index\n%word" + text(i) +
                " = memref.load %C[%c0, %at" + text(i) + "] : memref<?x4xi32>\n" + names[i] +
                " = arith.index_cast %word" + text(i) + " : i32 to index\n";
  }
  return result;
}

void CpuRows::checkWindow(const Window &window, bool known) {
  Matrix image(window.tokens, window.width, 1, known), out(window.rows, window.width), numbers(1, 4);
  Matrix written(window.tokens, window.width, 2, !known), before(window.tokens, window.width, 2);
  std::string tile = tileType(window.rows, window.width), memory = memoryType(window.width);
  std::string rows =
      std::string(window.columns ? "[%origin, %c0]" : "[%first, %c0]") + (window.lower ? " from(%lower)" : "") +
      (window.limit ? " rows(%limit)" : "") +
      (window.columns ? " fold(%first) columns " + text(window.columns) + " stride " + text(window.stride) : "");
  run(header(window, known, numbers) + "%t = tile.load %A" + rows + " : " + memory + " -> " + tile +
          "\ntile.store %t, %B[%c0, %c0] : " + tile + ", " + memory + "\n%o = arith.constant dense<7.0> : " + tile +
          "\n%s = arith.addf %t, %o : " + tile + "\ntile.store %s, %D" + rows + " : " + tile + ", " + memory + "\n",
      {&image, &out, &numbers, &written}, {"f32", "f32", "i32", "f32"});
  for (int64_t i = 0; i < window.rows; ++i)
    for (int64_t j = 0; j < window.width; ++j) {
      auto row = rowOf(window, i);
      ASSERT_EQ(out(i, j), row ? image(*row, j) : 0) << rows << " known " << known << " at " << i << ", " << j;
      if (row)
        before(*row, j) = image(*row, j) + 7;
    }
  for (int64_t i = 0; i < window.tokens; ++i)
    for (int64_t j = 0; j < window.width; ++j)
      ASSERT_EQ(written(i, j), before(i, j)) << rows << " known " << known << " at row " << i << " of the image";
}

TEST_P(CpuRows, WindowsOfAnImage) {
  // An image of 9 × 11 tokens.
  Window windows[] = {{99, 14, 0, 3, 11, 9, 17, {}, {}},   {99, 14, 4, 3, 11, 9, 5, {}, 8},
                      {99, 0, -4, 5, 11, 12, 16, 0, {}},   {99, 0, -4, 5, 11, 12, 33, 2, 7},
                      {99, 80, 0, 4, 11, 16, 8, {}, 16},   {99, 98, 0, 1, 11, 7, 1, {}, {}},
                      {99, 0, 50, 11, 11, 64, 24, {}, {}}, {99, 3, -2, 4, 11, 2, 40, -5, 100},
                      {99, 60, 0, 3, 5, 30, 3, {}, 0},     {5, 0, 0, 2, 1000, 4, 6, {}, {}}};
  for (const Window &window : windows)
    for (bool known : {false, true})
      checkWindow(window, known);
}

TEST_P(CpuRows, RowsBeforeTheFirst) {
  Window windows[] = {{20, 0, -3, 0, 0, 8, 17, 0, {}}, {20, 0, -3, 0, 0, 8, 16, -7, {}},
                      {20, 0, -1, 0, 0, 4, 3, 1, 2},   {20, 0, 5, 0, 0, 8, 32, 7, 11},
                      {20, 0, 15, 0, 0, 8, 9, 2, {}},  {20, 0, 4, 0, 0, 8, 9, 13, {}}};
  for (const Window &window : windows)
    for (bool known : {false, true})
      checkWindow(window, known);
}

/// (row before + 2 row + 4 row after) ⊙ weights: what one row reads, its neighbours read, too.
void CpuRows::checkTaps(const Window &window) {
  Matrix image(window.tokens, window.width, 1), out(window.rows, window.width), weights(1, window.width, 3),
      numbers(1, 4);
  std::string tile = tileType(window.rows, window.width), memory = memoryType(window.width);
  std::string body = header(window, true, numbers), limit = window.limit ? " rows(%limit)" : "";
  std::string fold = " columns " + text(window.columns) + " stride " + text(window.stride);
  for (int64_t delta : {-1, 0, 1}) {
    std::string name = text(delta + 1), first = "%first" + name;
    body += "%delta" + name + " = arith.constant " + text(delta) + " : index\n" + first +
            " = arith.addi %first, %delta" + name + " : index\n%t" + name + " = tile.load %A" +
            (window.columns ? "[%origin, %c0]" : "[" + first + ", %c0]") + (delta < 0 ? " from(%c0)" : "") + limit +
            (window.columns ? " fold(" + first + ")" + fold : "") + " : " + memory + " -> " + tile + "\n%f" + name +
            " = arith.constant dense<" + text(1 << (delta + 1)) + ".0> : " + tile + "\n%p" + name + " = arith.mulf %t" +
            name + ", %f" + name + " : " + tile + "\n";
  }
  std::string row = rowType(window.width);
  run(body + "%two = arith.addf %p0, %p1 : " + tile + "\n%sum = arith.addf %two, %p2 : " + tile +
          "\n%w = tile.load %C[%c0, %c0] : " + memory + " -> " + row + "\n%each = tile.expand %w axis 0 : " + row +
          " -> " + tile + "\n%o = arith.mulf %sum, %each : " + tile + "\ntile.store %o, %B[%c0, %c0] : " + tile + ", " +
          memory + "\n",
      {&image, &out, &weights}, {"f32", "f32", "f32"});
  for (int64_t i = 0; i < window.rows; ++i)
    for (int64_t j = 0; j < window.width; ++j) {
      float sum = 0;
      for (int64_t delta : {-1, 0, 1}) {
        Window shifted = window;
        shifted.first += delta, shifted.lower = 0;
        if (auto at = rowOf(shifted, i))
          sum += static_cast<float>(1 << (delta + 1)) * image(*at, j);
      }
      ASSERT_EQ(out(i, j), sum * weights(0, j)) << window.rows << " x " << window.width << " at " << i << ", " << j;
    }
}

TEST_P(CpuRows, ShiftedRows) {
  Window windows[] = {{99, 14, 0, 3, 11, 9, 17, {}, 9},  {99, 14, 4, 3, 11, 9, 64, {}, 8},
                      {99, 0, 0, 7, 11, 49, 40, {}, 49}, {99, 0, 7, 7, 11, 20, 33, {}, 49},
                      {60, 0, 0, 0, 0, 37, 40, {}, {}},  {60, 0, 20, 0, 0, 64, 96, {}, 55},
                      {60, 0, 59, 0, 0, 16, 16, {}, {}}, {60, 0, 3, 0, 0, 1, 5, {}, {}}};
  for (const Window &window : windows)
    checkTaps(window);
}

TEST_P(CpuRows, RowsBeforeTheFirstAsFactors) {
  // Factors are read in place where all rows exist: here those before the third and from the tenth on do not.
  Matrix a(20, 32, 1, false), out(16, 16);
  std::string tile = tileType(16, 32), memory = memoryType(32), square = tileType(16, 16);
  run("%first = arith.constant -2 : index\n%lower = arith.constant 3 : index\n%limit = arith.constant 10 : index\n"
      "%t = tile.load %A[%first, %c0] from(%lower) rows(%limit) : " +
          memory + " -> " + tile + "\n%z = arith.constant dense<0.0> : " + square +
          "\n%s = tile.dot %t, %t, %z {transpose_b} : " + tile + ", " + tile + " -> " + square +
          "\ntile.store %s, %B[%c0, %c0] : " + square + ", " + memoryType(16) + "\n",
      {&a, &out}, {"f32", "f32"});
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      double expected = 0;
      bool inside = std::min(i, j) - 2 >= 3 && std::max(i, j) - 2 < 10;
      for (int64_t c = 0; inside && c < 32; ++c)
        expected += double(a(i - 2, c)) * a(j - 2, c);
      ASSERT_NEAR(out(i, j), expected, 1e-4) << i << ", " << j;
    }
}

TEST_P(CpuRows, ElementsBeforeTheFirst) {
  for (int64_t size : {1, 7, 16, 37})
    for (bool half : {false, true}) {
      Matrix a(1, 20, 1, false), out(1, 20, 2), before(1, 20, 2);
      std::string row = rowType(size), memory = memoryType(20);
      run("%first = arith.constant -2 : index\n%lower = arith.constant " + text(half ? -2 : 1) +
              " : index\n%limit = arith.constant 9 : index\n%t = tile.load %A[%c0, %first] from(%lower) rows(%limit) "
              ": " +
              memory + " -> " + row + "\n%o = arith.constant dense<1.0> : " + row + "\n%s = arith.addf %t, %o : " +
              row + "\ntile.store %s, %B[%c0, %first] from(%lower) rows(%limit) : " + row + ", " + memory + "\n",
          {&a, &out}, {"f32", "f32"});
      for (int64_t i = half ? 0 : 1; i < std::min<int64_t>(9, size - 2); ++i)
        before(0, i) = a(0, i) + 1;
      for (int64_t i = 0; i < 20; ++i)
        ASSERT_EQ(out(0, i), before(0, i)) << size << " at " << i;
    }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST_P(CpuRows, Iota) {
  for (int64_t size : {1, 3, 8, 16, 17, 100})
    for (int64_t base : {int64_t(0), int64_t(-5), int64_t(1) << 23}) {
      Matrix floats(1, size), integers(1, size), scaled(2, size);
      std::string f = rowType(size), w = rowType(size, "i32"), both = tileType(2, size);
      run("%base = arith.constant " + text(base) + " : index\n%f = tile.iota %base : " + f +
              "\n%i = tile.iota %base : " + w + "\ntile.store %f, %A[%c0, %c0] : " + f + ", " + memoryType(size) +
              "\ntile.store %i, %B[%c0, %c0] : " + w + ", " + memoryType(size, "i32") +
              "\n%e = tile.expand %f axis 0 : " + f + " -> " + both + "\n%d = arith.addf %e, %e : " + both +
              "\ntile.store %d, %C[%c0, %c0] : " + both + ", " + memoryType(size) + "\n",
          {&floats, &integers, &scaled}, {"f32", "i32", "f32"});
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_EQ(floats(0, i), float(base + i));
        ASSERT_EQ(integers.words()[i], base + i);
        ASSERT_EQ(scaled(1, i), 2 * float(base + i));
      }
    }
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// out = 2·x + permuted(x), its sums along both axes, and permuted(x) in place of x.
void CpuRows::checkPermutation(int64_t width, const std::vector<int64_t> &order, bool computed) {
  int64_t rows = 5;
  Matrix x(rows, width, 1), given(rows, width, 1), out(rows, width), across(1, rows), down(1, width);
  std::string tile = tileType(rows, width), memory = memoryType(width), list, dims;
  for (int64_t column : order)
    list += (list.empty() ? "" : ", ") + text(column);
  std::string load = "%l = tile.load %A[%c0, %c0] : " + memory + " -> " + tile + "\n";
  std::string source = computed ? load + "%x = arith.negf %l : " + tile + "\n"
                                : "%x = tile.load %A[%c0, %c0] : " + memory + " -> " + tile + "\n";
  run(source + "%p = tile.permute_columns %x [" + list + "] : " + tile + "\n%d = arith.addf %x, %x : " + tile +
          "\n%s = arith.addf %d, %p : " + tile + "\ntile.store %s, %B[%c0, %c0] : " + tile + ", " + memory +
          "\n%a = tile.reduce add %s axis 1 : " + tile + " -> " + rowType(rows) +
          "\n%w = tile.reduce max %s axis 0 : " + tile + " -> " + rowType(width) + "\ntile.store %p, %A[%c0, %c0] : " +
          tile + ", " + memory + "\ntile.store %a, %C[%c0, %c0] : " + rowType(rows) + ", " + memoryType(rows) +
          "\n%r = tile.permute_columns %w [" + list + "] : " + rowType(width) +
          "\ntile.store %r, %D[%c0, %c0] : " + rowType(width) + ", " + memory + "\n",
      {&x, &out, &across, &down}, {"f32", "f32", "f32", "f32"});
  float sign = computed ? -1 : 1;
  auto sum = [&](int64_t i, int64_t j) { return 2 * (sign * given(i, j)) + sign * given(i, order[j]); };
  for (int64_t i = 0; i < rows; ++i) {
    double total = 0;
    for (int64_t j = 0; j < width; ++j) {
      ASSERT_EQ(out(i, j), sum(i, j)) << width << " columns at " << i << ", " << j;
      ASSERT_EQ(x(i, j), sign * given(i, order[j])) << width << " columns at " << i << ", " << j;
      total += sum(i, j);
    }
    ASSERT_NEAR(across(0, i), total, 1e-3) << width;
  }
  for (int64_t j = 0; j < width; ++j) {
    float largest = -INFINITY;
    for (int64_t i = 0; i < rows; ++i)
      largest = std::max(largest, sum(i, order[j]));
    ASSERT_EQ(down(0, j), largest) << width << " columns at " << j;
  }
}

TEST_P(CpuRows, Permutations) {
  std::mt19937 random(7);
  for (int64_t width : {1, 2, 3, 7, 16, 17, 30, 48, 64, 80, 129})
    for (bool computed : {false, true}) {
      std::vector<int64_t> pairs(width), halves(width), any(width);
      for (int64_t c = 0; c < width; ++c) {
        pairs[c] = std::min(c ^ 1, width - 1);
        halves[c] = (c + width / 2) % width;
      }
      std::iota(any.begin(), any.end(), 0);
      std::shuffle(any.begin(), any.end(), random);
      checkPermutation(width, pairs, computed);
      checkPermutation(width, halves, computed);
      checkPermutation(width, any, computed);
    }
}

TEST_P(CpuRows, PermutationOfWhatALoopCarries) {
  // x ← x permuted, three times: the carried tile may not be overwritten while it is read.
  int64_t width = 37, rows = 3;
  Matrix x(rows, width, 1), out(rows, width);
  std::vector<int64_t> order(width);
  std::string list, tile = tileType(rows, width), memory = memoryType(width);
  for (int64_t c = 0; c < width; ++c)
    list += (c ? ", " : "") + text(order[c] = (c * 5 + 2) % width);
  run("%x = tile.load %A[%c0, %c0] : " + memory + " -> " + tile +
          "\n%n = arith.constant 3 : index\n%r = tile.loop #tile.sum %j = %c0 to %n step 1 carries(%y = %x) : (" + tile +
          ") {\n%p = tile.permute_columns %y [" + list + "] : " + tile + "\ntile.yield %p : " + tile +
          "\n}\ntile.store %r, %B[%c0, %c0] : " + tile + ", " + memory + "\n",
      {&x, &out}, {"f32", "f32"});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j)
      ASSERT_EQ(out(i, j), x(i, order[order[order[j]]])) << i << ", " << j;
}

TEST_P(CpuRows, ALoopKeepsWhatItReadsInEveryStep) {
  // acc + 3·xᵀ(−x), where −x could lie where x does.
  int64_t width = 6, rows = 5;
  Matrix x(rows, width, 1), out(width, width);
  std::string tile = tileType(rows, width), square = tileType(width, width), memory = memoryType(width);
  run("%x = tile.load %A[%c0, %c0] : " + memory + " -> " + tile + "\n%d = arith.addf %x, %x : " + tile +
          "\n%z = arith.constant dense<0.0> : " + square + "\n%n = arith.constant 3 : index\n" +
          "%r = tile.loop #tile.sum %j = %c0 to %n step 1 carries(%acc = %z) : (" + square +
          ") {\n%l = tile.load %A[%c0, %c0] : " + memory + " -> " + tile + "\n%m = arith.negf %d : " + tile +
          "\n%a = tile.dot %l, %m, %acc {transpose_a} : " + tile + ", " + tile + " -> " + square +
          "\ntile.yield %a : " + square + "\n}\ntile.store %r, %B[%c0, %c0] : " + square + ", " + memory + "\n",
      {&x, &out}, {"f32", "f32"});
  for (int64_t i = 0; i < width; ++i)
    for (int64_t j = 0; j < width; ++j) {
      double expected = 0;
      for (int64_t t = 0; t < rows; ++t)
        expected -= 6 * double(x(t, i)) * x(t, j);
      ASSERT_NEAR(out(i, j), expected, 1e-4) << i << ", " << j;
    }
}

//===----------------------------------------------------------------------===//
// Truth values along both axes
//===----------------------------------------------------------------------===//

TEST_P(CpuRows, SelectsByExpandedTruthValues) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {5, 19}, {33, 16}, {17, 300}, {2, 64}}) {
    Matrix x(rows, columns, 1), byRow(1, rows, 2), byColumn(1, columns, 3), out(rows, columns);
    std::string tile = tileType(rows, columns), i1 = tileType(rows, columns, "i1"), memory = memoryType(columns);
    run("%x = tile.load %A[%c0, %c0] : " + memory + " -> " + tile + "\n%r = tile.load %B[%c0, %c0] : " +
            memoryType(rows) + " -> " + rowType(rows) + "\n%c = tile.load %C[%c0, %c0] : " + memory + " -> " +
            rowType(columns) + "\n%zr = arith.constant dense<0.0> : " + rowType(rows) +
            "\n%zc = arith.constant dense<0.0> : " + rowType(columns) + "\n%pr = arith.cmpf ogt, %r, %zr : " +
            rowType(rows) + "\n%pc = arith.cmpf ogt, %c, %zc : " + rowType(columns) +
            "\n%er = tile.expand %pr axis 1 : " + rowType(rows, "i1") + " -> " + i1 +
            "\n%ec = tile.expand %pc axis 0 : " + rowType(columns, "i1") + " -> " + i1 +
            "\n%n = arith.negf %x : " + tile + "\n%z = arith.constant dense<5.0> : " + tile +
            "\n%s = arith.select %er, %x, %n : " + i1 + ", " + tile + "\n%t = arith.select %ec, %s, %z : " + i1 + ", " +
            tile + "\ntile.store %t, %D[%c0, %c0] : " + tile + ", " + memory + "\n",
        {&x, &byRow, &byColumn, &out}, {"f32", "f32", "f32", "f32"});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(out(i, j), byColumn(0, j) > 0 ? (byRow(0, i) > 0 ? x(i, j) : -x(i, j)) : 5) << i << ", " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, CpuRows, ::testing::Values("avx2", "avx512", "avx512_bf16", "amx"),
                         [](const auto &info) { return info.param; });
