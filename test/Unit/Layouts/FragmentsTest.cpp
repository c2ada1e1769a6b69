//===- FragmentsTest.cpp - Fragments against brute force -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/TileLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "gtest/gtest.h"

#include <set>

using namespace attune::tile;

namespace {
struct Layouts : public ::testing::Test {
  mlir::MLIRContext context;
  Layouts() { context.loadDialect<TileDialect>(); }

  FragmentLayout fragment(FragmentRole role, int64_t inner, WarpGrid warps, int64_t rows, int64_t columns) {
    return {FragmentAttr::get(&context, role, inner, warps), {rows, columns}};
  }
};
} // namespace

/// How often each element occurs among all registers of all threads.
static std::vector<int> occurrences(const FragmentLayout &layout) {
  std::vector<int> seen(layout.rows * layout.columns);
  for (int64_t warp = 0; warp < layout.warps.count(); ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      for (int64_t index = 0; index < layout.registers(); ++index)
        if (auto element = layout.elementAt({warp, lane, index}))
          ++seen[element->first * layout.columns + element->second];
  return seen;
}

static const WarpGrid grids[] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {2, 2}, {4, 2}, {1, 4}, {2, 4}, {1, 8}};

TEST_F(Layouts, EveryElementHasItsPlace) {
  for (FragmentRole role : {FragmentRole::A, FragmentRole::B, FragmentRole::C})
    for (int64_t inner : {8, 16})
      for (WarpGrid warps : grids)
        for (int64_t rows : {1, 7, 8, 16, 20, 40, 64, 80, 128})
          for (int64_t columns : {1, 5, 8, 24, 40, 64, 128}) {
            FragmentLayout layout = fragment(role, inner, warps, rows, columns);
            // A is the same in the warps of a row of the grid, B in those of a column.
            int copies = role == FragmentRole::A ? int(warps.columns) : role == FragmentRole::B ? int(warps.rows) : 1;
            for (int count : occurrences(layout))
              ASSERT_EQ(count, copies) << int(role) << " " << inner << " " << warps.rows << "x" << warps.columns << " "
                                       << rows << "x" << columns;
            for (int64_t row = 0; row < rows; ++row)
              for (int64_t column = 0; column < columns; ++column)
                ASSERT_EQ(layout.elementAt(layout.placeOf(row, column)), std::make_pair(row, column));
          }
}

// The tables of the PTX manual, for the first warp: a0 … a7 and b0 … b3 of m16n8k16, c0 … c3.
TEST_F(Layouts, FragmentsAreThoseOfTheInstruction) {
  FragmentLayout a = fragment(FragmentRole::A, 16, {}, 16, 16), b = fragment(FragmentRole::B, 16, {}, 16, 8);
  FragmentLayout c = fragment(FragmentRole::C, 16, {}, 16, 8);
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane >> 2, quad = lane % 4;
    for (int64_t i = 0; i < 8; ++i) {
      int64_t row = (i < 2 || (4 <= i && i < 6)) ? group : group + 8;
      int64_t column = i < 4 ? quad * 2 + (i & 1) : quad * 2 + (i & 1) + 8;
      EXPECT_EQ(a.elementAt({0, lane, i}), std::make_pair(row, column));
    }
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(b.elementAt({0, lane, i}), std::make_pair(i < 2 ? quad * 2 + (i & 1) : quad * 2 + (i & 1) + 8, group));
      EXPECT_EQ(c.elementAt({0, lane, i}), std::make_pair(i < 2 ? group : group + 8, quad * 2 + (i & 1)));
    }
  }
}

// tf32: slot t of the instruction stands for k = 2t, slot t + 4 for k = 2t + 1, in A and in B alike.
TEST_F(Layouts, Tf32FragmentsAgreeOnTheOrderOfK) {
  FragmentLayout a = fragment(FragmentRole::A, 8, {}, 16, 8), b = fragment(FragmentRole::B, 8, {}, 8, 8);
  auto k = [](int64_t slot) { return slot < 4 ? 2 * slot : 2 * (slot - 4) + 1; };
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane >> 2, quad = lane % 4;
    for (int64_t i = 0; i < 4; ++i) // the manual: row group + 8 (i mod 2), slot quad + 4 (i / 2)
      EXPECT_EQ(a.elementAt({0, lane, i}), std::make_pair(group + 8 * (i % 2), k(quad + 4 * (i / 2))));
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_EQ(b.elementAt({0, lane, i}), std::make_pair(k(quad + 4 * i), group));
  }
}

TEST_F(Layouts, ResultsAreOperandsWithoutAMove) {
  for (int64_t inner : {8, 16})
    for (int64_t columns : {8, 40, 64}) {
      FragmentLayout c = fragment(FragmentRole::C, 16, {4, 1}, 64, columns);
      FragmentLayout a = fragment(FragmentRole::A, inner, {4, 1}, 64, columns);
      EXPECT_TRUE(isFreeConversion(c, a));
      if (inner == 16)
        for (int64_t row = 0; row < 64; ++row)
          for (int64_t column = 0; column < columns; ++column)
            ASSERT_EQ(c.placeOf(row, column), a.placeOf(row, column));
    }
  auto isFree = [&](FragmentRole to, WarpGrid from, WarpGrid toWarps) {
    return isFreeConversion(fragment(FragmentRole::C, 16, from, 64, 64), fragment(to, 16, toWarps, 64, 64));
  };
  EXPECT_FALSE(isFree(FragmentRole::C, {4, 1}, {2, 1}));
  EXPECT_FALSE(isFree(FragmentRole::B, {4, 1}, {4, 1}));
  EXPECT_TRUE(isFree(FragmentRole::C, {4, 2}, {4, 2}));
  EXPECT_FALSE(isFree(FragmentRole::A, {4, 2}, {4, 2})); // a row of A comes from two warps
  EXPECT_FALSE(isFree(FragmentRole::A, {4, 2}, {4, 1}));
}

// A slice is what its fragment has in the same row or column.
TEST_F(Layouts, SlicesLieAlongTheirFragment) {
  for (WarpGrid warps : grids)
    for (int64_t rows : {16, 40, 64, 128})
      for (int64_t columns : {8, 20, 64, 72}) {
        FragmentLayout c = fragment(FragmentRole::C, 16, warps, rows, columns);
        SliceLayout byRow(SliceAttr::get(&context, 1, warps), rows), byColumn(SliceAttr::get(&context, 0, warps), columns);
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            RegisterPlace place = c.placeOf(row, column);
            int64_t block = place.index / 4, half = place.index / 2 % 2, second = place.index % 2;
            RegisterPlace inRow{place.warp, place.lane, block / c.columnBlocks() * 2 + half};
            RegisterPlace inColumn{place.warp, place.lane, block % c.columnBlocks() * 2 + second};
            ASSERT_EQ(byRow.elementAt(inRow), row);
            ASSERT_EQ(byColumn.elementAt(inColumn), column);
            ASSERT_LT(inRow.index, byRow.registers());
            ASSERT_LT(inColumn.index, byColumn.registers());
          }
      }
}

// Reductions lose nothing and count nothing twice: every element of a slice is held by the lanes and warps that share it.
TEST_F(Layouts, SlicesAreReplicatedAlongTheReducedAxis) {
  for (WarpGrid warps : grids)
    for (int64_t axis : {0, 1})
      for (int64_t size : {1, 7, 16, 20, 64, 72, 128}) {
        SliceLayout slice(SliceAttr::get(&context, axis, warps), size);
        std::vector<int64_t> seen(size);
        for (int64_t warp = 0; warp < warps.count(); ++warp)
          for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
            for (int64_t index = 0; index < slice.registers(); ++index)
              if (auto element = slice.elementAt({warp, lane, index}))
                ++seen[*element];
        for (int64_t count : seen)
          ASSERT_EQ(count, axis == 1 ? 4 * warps.columns : 8 * warps.rows) << axis << " " << size;
      }
}

// The table of the essay.
TEST_F(Layouts, RegistersOfWideTiles) {
  auto registers = [&](int64_t rows, int64_t columns, WarpGrid warps) {
    return fragment(FragmentRole::C, 16, warps, rows, columns).registers();
  };
  EXPECT_EQ(registers(64, 40, {4, 1}), 20);
  EXPECT_EQ(registers(64, 256, {4, 1}), 128);
  EXPECT_EQ(registers(64, 256, {4, 2}), 64);
  EXPECT_EQ(registers(256, 64, {4, 2}), 64);
  EXPECT_EQ(registers(16, 1024, {1, 8}), 64);
  EXPECT_EQ(fragment(FragmentRole::C, 16, {4, 2}, 256, 64).elementAt({1, 0, 16}), std::make_pair(int64_t(80), int64_t(0)));
  EXPECT_EQ(fragment(FragmentRole::C, 16, {1, 8}, 16, 1024).elementAt({1, 0, 0}), std::make_pair(int64_t(0), int64_t(128)));
}
