//===- WarpgroupTest.cpp - Descriptors against where elements lie ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction's own rule, written down once more from its definition, against SharedLayout::offsetOf.
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Warpgroup.h"

#include "mlir/IR/Builders.h"

#include "gtest/gtest.h"

#include <set>

using namespace attune::tile;

namespace {
struct Warpgroup : public ::testing::Test {
  mlir::MLIRContext context;
  Warpgroup() { context.loadDialect<TileDialect>(); }

  SharedAttr attr(int64_t rows, int64_t columns) {
    return warpgroupSharedFor(mlir::RankedTensorType::get({rows, columns}, f16()));
  }
  SharedLayout layout(int64_t rows, int64_t columns) { return {attr(rows, columns), f16()}; }
  mlir::Type f16() { return mlir::Float16Type::get(&context); }
};

/// What the hardware makes of a descriptor: fields of 14 bits in units of 16 bytes, from bits 0, 16 and 32 on.
struct Decoded {
  int64_t start, leading, stride, width;
  explicit Decoded(uint64_t bits)
      : start((bits & 0x3fff) * 16), leading((bits >> 16 & 0x3fff) * 16), stride((bits >> 32 & 0x3fff) * 16),
        width(bits >> 62 == 1   ? 128
              : bits >> 62 == 2 ? 64
                                : 32) {}

  int64_t exchanged(int64_t address) const { return address ^ (address / 128 % (width / 16) * 16); }
  int64_t kFirst(int64_t i, int64_t k) const { return exchanged(start + i / 8 * stride + i % 8 * width + 2 * k); }
  int64_t iFirst(int64_t i, int64_t k) const {
    return exchanged(start + 2 * i / width * leading + k / 8 * stride + k % 8 * width + 2 * i % width);
  }
};
} // namespace

static constexpr int64_t sizes[][2] = {{64, 64}, {64, 128}, {128, 64}, {32, 256},
                                       {16, 16}, {64, 32},  {80, 192}, {64, 80}};

TEST_F(Warpgroup, KeysAreReadWhereTheyLie) {
  for (auto [rows, columns] : sizes) {
    WarpgroupOperand operand{layout(rows, columns), /*kFirst=*/true};
    int64_t begin = 3 * operand.layout.alignment;
    for (int64_t first = 0; first < rows; first += 8)
      for (int64_t k = 0; k < columns; k += 16) {
        Decoded read(operand.descriptor() + (begin + operand.startOf(first, k)) / 16);
        ASSERT_TRUE(operand.isReadable(first, rows - first));
        for (int64_t i = 0; i < rows - first; ++i)
          for (int64_t step = 0; step < 16; ++step)
            ASSERT_EQ(read.kFirst(i, step), begin + operand.layout.offsetOf(first + i, k + step))
                << rows << "x" << columns << ": row " << first + i << ", k " << k + step;
      }
  }
}

TEST_F(Warpgroup, ValuesAreReadWhereTheyLie) {
  for (auto [rows, columns] : sizes) {
    WarpgroupOperand operand{layout(rows, columns), /*kFirst=*/false};
    int64_t begin = 5 * operand.layout.alignment;
    for (int64_t first = 0; first < columns; first += 8)
      for (int64_t count = 8; first + count <= columns; count += 8) {
        if (!operand.isReadable(first, count))
          continue;
        for (int64_t k = 0; k < rows; k += 16) {
          Decoded read(operand.descriptor() + (begin + operand.startOf(first, k)) / 16);
          for (int64_t i = 0; i < count; ++i)
            for (int64_t step = 0; step < 16; ++step)
              ASSERT_EQ(read.iFirst(i, step), begin + operand.layout.offsetOf(k + step, first + i))
                  << rows << "x" << columns << ": column " << first + i << ", k " << k + step;
        }
      }
  }
}

/// From the middle of a panel the instruction would go on in the row's beginning.
TEST_F(Warpgroup, RangesThatCrossPanels) {
  WarpgroupOperand values{layout(64, 128), /*kFirst=*/false};
  EXPECT_TRUE(values.isReadable(0, 128));
  EXPECT_TRUE(values.isReadable(64, 64));
  EXPECT_TRUE(values.isReadable(32, 32));
  EXPECT_FALSE(values.isReadable(32, 64));
  EXPECT_FALSE(values.isReadable(64, 72));
  EXPECT_FALSE(values.isReadable(4, 8));
  Decoded read(values.descriptor() + values.startOf(32, 0) / 16);
  EXPECT_NE(read.iFirst(32, 1), values.layout.offsetOf(1, 64)); // what refusing it is for
}

/// A begin that is no multiple of the pattern: places and instruction differ.
TEST_F(Warpgroup, TheBeginMatters) {
  WarpgroupOperand keys{layout(64, 64), /*kFirst=*/true};
  Decoded read(keys.descriptor() + 128 / 16);
  EXPECT_NE(read.kFirst(0, 0), 128 + keys.layout.offsetOf(0, 0));
  EXPECT_EQ(keys.layout.alignment, 1024);
  EXPECT_EQ(layout(64, 32).alignment, 512);
  EXPECT_EQ(layout(64, 16).alignment, 256);
}

TEST_F(Warpgroup, PanelsHaveEveryElementOnce) {
  for (auto [rows, columns] : sizes) {
    SharedLayout shared = layout(rows, columns);
    std::set<int64_t> seen;
    for (int64_t row = 0; row < shared.rows; ++row)
      for (int64_t column = 0; column < shared.columns; ++column) {
        int64_t offset = shared.offsetOf(row, column);
        ASSERT_TRUE(seen.insert(offset).second);
        ASSERT_TRUE(0 <= offset && offset + 2 <= shared.bytes());
      }
  }
}

/// One panel of 64 columns lies as the tile without panels does.
TEST_F(Warpgroup, OnePanelIsTheTile) {
  for (int64_t columns : {16, 32, 64}) {
    SharedLayout panels = layout(64, columns), plain{SharedAttr::get(&context, 64, columns), f16()};
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t column = 0; column < columns; ++column)
        ASSERT_EQ(panels.offsetOf(row, column), plain.offsetOf(row, column));
  }
}

/// Warp w of a group has rows 16 w … of C: sum 4 j + 2 h + e of a lane is of row lane / 4 + 8 h, column 8 j + 2 (lane %
/// 4) + e.
TEST_F(Warpgroup, SumsAreTheFragment) {
  for (WarpGrid grid : {WarpGrid{4, 1}, WarpGrid{4, 2}, WarpGrid{8, 1}})
    for (int64_t columns : {8, 64, 128, 256}) {
      int64_t rows = 16 * grid.rows;
      FragmentLayout sums(FragmentAttr::get(&context, FragmentRole::C, 16, grid), {rows, columns});
      int64_t width = columns / grid.columns;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns / 8 / grid.columns * 8 * grid.columns; ++column) {
          int64_t group = row / warpgroupRows + column / width * (grid.rows / 4), inRow = row % 64,
                  inColumn = column % width;
          if (width % 8 != 0)
            continue;
          RegisterPlace want{4 * group + inRow / 16, inRow % 8 * 4 + inColumn % 8 / 2,
                             inColumn / 8 * 4 + inRow / 8 % 2 * 2 + inColumn % 2};
          ASSERT_EQ(sums.placeOf(row, column), want)
              << grid.rows << "x" << grid.columns << ": " << row << ", " << column;
        }
    }
}
