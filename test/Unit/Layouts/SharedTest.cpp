//===- SharedTest.cpp - Shared memory: places and banks ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/TileLayouts.h"

#include "mlir/IR/Builders.h"

#include "gtest/gtest.h"

#include <functional>
#include <set>

using namespace attune::tile;

namespace {
struct SharedLayouts : public ::testing::Test {
  mlir::MLIRContext context;
  SharedLayouts() { context.loadDialect<TileDialect>(); }

  SharedLayout layout(int64_t rows, int64_t columns, mlir::Type element) {
    return {SharedAttr::get(&context, rows, columns), element};
  }
  mlir::Type f16() { return mlir::Float16Type::get(&context); }
  mlir::Type f32() { return mlir::Float32Type::get(&context); }
};
} // namespace

/// Waves that one instruction takes: the most words that fall on one bank. `offsets` and `bytes` of each lane.
static int waves(const std::vector<int64_t> &offsets, int64_t bytes) {
  std::set<int64_t> words;
  for (int64_t offset : offsets)
    for (int64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word)
      words.insert(word);
  int used[32] = {}, most = 0;
  for (int64_t word : words)
    most = std::max(most, ++used[word % 32]);
  return most;
}

TEST_F(SharedLayouts, EveryElementHasItsOwnPlace) {
  for (bool wide : {false, true})
    for (int64_t columns : {32, 64, 96, 128})
      for (int64_t rows : {8, 16, 64}) {
        SharedLayout shared = layout(rows, columns, wide ? f32() : f16());
        std::set<int64_t> seen;
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            int64_t offset = shared.offsetOf(row, column);
            ASSERT_TRUE(seen.insert(offset).second);
            ASSERT_TRUE(0 <= offset && offset + shared.elementBytes <= shared.bytes());
          }
      }
}

/// What instructions read of a tile at once: rows of matrices, words, pairs.
static void expectNoConflict(const SharedLayout &shared);

// The layout that a tile of any size is given: padded to whole fragments, every element in one place, no conflict.
TEST_F(SharedLayouts, TilesOfEverySize) {
  for (mlir::Type element : {f16(), f32()})
    for (int64_t rows : {7, 33})
      for (int64_t columns = 1; columns <= 136; ++columns) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
        SharedLayout shared(sharedFor(mlir::RankedTensorType::get({rows, columns}, element)), element);
        ASSERT_TRUE(shared.rows >= rows && shared.rows % 8 == 0 && shared.columns >= columns);
        std::vector<bool> taken(shared.bytes() / shared.elementBytes);
        for (int64_t row = 0; row < shared.rows; ++row)
          for (int64_t column = 0; column < shared.columns; ++column) {
            int64_t offset = shared.offsetOf(row, column);
            ASSERT_TRUE(0 <= offset && offset < shared.bytes() && offset % shared.elementBytes == 0);
            ASSERT_FALSE(taken[offset / shared.elementBytes]);
            taken[offset / shared.elementBytes] = true;
          }
        expectNoConflict(shared);
      }
}

// The swizzle keeps chunks of 16 bytes whole, and depends on the row modulo 8 alone.
TEST_F(SharedLayouts, ChunksStayWhole) {
  for (bool wide : {false, true})
    for (int64_t columns : {32, 64, 96, 128}) {
      SharedLayout shared = layout(64, columns, wide ? f32() : f16());
      for (int64_t row = 0; row < 64; ++row) {
        EXPECT_EQ(shared.swizzle(row), shared.swizzle(row % 8));
        for (int64_t column = 0; column < columns; column += shared.elementsPerChunk())
          for (int64_t i = 0; i < shared.elementsPerChunk(); ++i)
            ASSERT_EQ(shared.offsetOf(row, column + i), shared.offsetOf(row, column) + i * shared.elementBytes);
      }
    }
}

// ldmatrix: 8 rows of one chunk column in one wave, for every number of chunks in a row.
TEST_F(SharedLayouts, MatrixRowsDoNotConflict) {
  for (int64_t columns = 8; columns <= 256; columns += 8) {
    SharedLayout shared = layout(64, columns, f16());
    for (int64_t row = 0; row < 64; row += 8)
      for (int64_t column = 0; column < columns; column += 8) {
        std::vector<int64_t> offsets;
        for (int64_t i = 0; i < 8; ++i)
          offsets.push_back(shared.offsetOf(row + i, column));
        ASSERT_EQ(waves(offsets, 16), 1) << columns;
      }
  }
}

/// Offsets of a warp's lanes by (group, quad).
static std::vector<int64_t> lanes(int first, int end, const std::function<int64_t(int, int)> &offset) {
  std::vector<int64_t> result;
  for (int lane = first; lane < end; ++lane)
    result.push_back(offset(lane / 4, lane % 4));
  return result;
}

// f32: single words of a column block (B, transposed A), and pairs of a row block (C, transposed B) half a warp a wave.
TEST_F(SharedLayouts, WordsAndPairsDoNotConflict) {
  for (int64_t columns : {32, 64, 96, 128}) {
    SharedLayout shared = layout(64, columns, f32());
    for (int64_t row = 0; row < 64; row += 8)
      for (int64_t column = 0; column < columns; column += 8) {
        for (int second : {0, 1})
          ASSERT_EQ(waves(lanes(0, 32, [&](int g, int t) { return shared.offsetOf(row + 2 * t + second, column + g); }), 4), 1);
        for (int half : {0, 16})
          ASSERT_EQ(waves(lanes(half, half + 16, [&](int g, int t) { return shared.offsetOf(row + g, column + 2 * t); }), 8), 1);
      }
  }
}

// Pairs of 16-bit elements, as fragments are written: a word a lane.
TEST_F(SharedLayouts, PairsOfHalvesDoNotConflict) {
  for (int64_t columns = 16; columns <= 128; columns += 16) {
    SharedLayout shared = layout(64, columns, f16());
    for (int64_t column = 0; column < columns; column += 8)
      ASSERT_EQ(waves(lanes(0, 32, [&](int g, int t) { return shared.offsetOf(g, column + 2 * t); }), 4), 1);
  }
}

static void expectNoConflict(const SharedLayout &shared) {
  for (int64_t row = 0; row < shared.rows; row += 8)
    for (int64_t column = 0; column < shared.columns; column += 8) {
      auto at = [&](int64_t i, int64_t j) { return shared.offsetOf(row + i, column + j); };
      if (shared.elementBytes == 2) {
        ASSERT_EQ(waves({at(0, 0), at(1, 0), at(2, 0), at(3, 0), at(4, 0), at(5, 0), at(6, 0), at(7, 0)}, 16), 1);
        ASSERT_EQ(waves(lanes(0, 32, [&](int g, int t) { return at(g, 2 * t); }), 4), 1);
        continue;
      }
      for (int second : {0, 1})
        ASSERT_EQ(waves(lanes(0, 32, [&](int g, int t) { return at(2 * t + second, g); }), 4), 1);
      for (int half : {0, 16})
        ASSERT_EQ(waves(lanes(half, half + 16, [&](int g, int t) { return at(g, 2 * t); }), 8), 1);
    }
}

// What the banks would do without the swizzle: the test can tell.
TEST_F(SharedLayouts, PlainRowsConflict) {
  std::vector<int64_t> offsets;
  for (int64_t row = 0; row < 8; ++row)
    offsets.push_back(row * 128);
  EXPECT_EQ(waves(offsets, 16), 8);
}
