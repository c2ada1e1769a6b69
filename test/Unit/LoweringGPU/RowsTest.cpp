//===- RowsTest.cpp - Rows between memory and registers, in the emulator -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that loads a tile of f32 into registers and stores it, perhaps narrowed: of every width, on several grids of
// warps, from and to rows that are aligned for 16 bytes or are not. What arrives is exact, nothing beside it is
// written, and the widths of the requests are those that the memory allows.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace attune;
using namespace attune::test;

namespace {
/// Where a matrix lies: `pad` elements after each row, `shift` before the first.
struct Place {
  int64_t pad = 0, shift = 0;
};

struct Case {
  int64_t rows, columns; ///< of the memory
  int64_t tileRows, tileColumns;
  std::string dtype = "f32"; ///< of what is stored
  Place from = {}, to = {};
  int64_t warps = 4, warpColumns = 1;
  int64_t first = 0; ///< column of the memory that is the tile's first

  std::string describe() const;
  std::string source() const;
};

/// Rows of numbers below 256, which every storage type holds, with a canary around them.
class Rows {
public:
  Rows(const std::string &dtype, int64_t rows, int64_t columns, int64_t first, Place place);
  uint32_t get(int64_t index) const;
  void set(int64_t index, uint32_t bits) { std::memcpy(at(index), &bits, bytes); }
  int64_t index(int64_t i, int64_t j) const { return place.shift + i * stride() + j; }
  int64_t count() const { return place.shift + rows * stride() + 8; }
  int64_t stride() const { return columns + place.pad; }
  uint32_t bitsOf(int64_t number) const;
  Tensor tensor() { return {at(place.shift), {1, 1, rows, columns}, {rows * stride(), rows * stride(), stride(), 1}}; }
  bool wide() const {
    return (place.shift * bytes) % 16 == 0 && (stride() * bytes) % 16 == 0 && (columns * bytes) % 16 == 0 &&
           (first * bytes) % 16 == 0;
  }
  int64_t size() const { return rows * (columns - first) * bytes; }

private:
  char *at(int64_t index) const { return (char *)storage.data() + index * bytes; }
  int64_t rows, columns, first, bytes;
  const llvm::fltSemantics &semantics;
  Place place;
  std::vector<uint64_t> storage; // aligned for 16 bytes by the allocator
};

struct RowMoves : public ::testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  RowMoves() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                        mlir::func::FuncDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                        mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect>();
  }
  void check(const Case &one);
};
} // namespace

static const llvm::fltSemantics &semanticsOf(const std::string &dtype) {
  return dtype == "f32"   ? llvm::APFloat::IEEEsingle()
         : dtype == "f16" ? llvm::APFloat::IEEEhalf()
                          : llvm::APFloat::BFloat();
}

Rows::Rows(const std::string &dtype, int64_t rows, int64_t columns, int64_t first, Place place)
    : rows(rows), columns(columns), first(first), bytes(dtype == "f32" ? 4 : 2), semantics(semanticsOf(dtype)),
      place(place), storage((count() * bytes + 7) / 8) {
  for (int64_t i = 0; i < count(); ++i)
    set(i, bitsOf(-1));
}

uint32_t Rows::get(int64_t index) const {
  uint32_t bits = 0;
  std::memcpy(&bits, at(index), bytes);
  return bits;
}

uint32_t Rows::bitsOf(int64_t number) const {
  llvm::APFloat value(static_cast<double>(number));
  bool lost;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.bitcastToAPInt().getZExtValue();
}

std::string Case::describe() const {
  auto text = [](Place place) { return std::to_string(place.pad) + "+" + std::to_string(place.shift); };
  return std::to_string(rows) + "x" + std::to_string(columns) + " in " + std::to_string(tileRows) + "x" +
         std::to_string(tileColumns) + " " + dtype + " from " + text(from) + " to " + text(to) + " warps " +
         std::to_string(warps) + "/" + std::to_string(warpColumns) + " column " + std::to_string(first);
}

std::string Case::source() const {
  // Columns are known to be all of the memory's, or found when the kernel runs.
  std::string width = tileColumns == columns ? std::to_string(columns) : "?";
  auto memory = [&](const std::string &element) {
    return "memref<1x1x?x" + width + "x" + element + ", strided<[?, ?, ?, 1]>>";
  };
  auto tile = [&](const std::string &element) {
    return "tensor<" + std::to_string(tileRows) + "x" + std::to_string(tileColumns) + "x" + element + ">";
  };
  bool narrow = dtype != "f32";
  std::string A = memory("f32"), C = memory(dtype), at = "[%c0, %c0, %c0, %first] : ";
  return "tile.kernel @move(%A: " + A + ", %C: " + C +
         ") grid(batch) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = "
         "2048, "
         "operand = f32, warps = " +
         std::to_string(warps) + ", stages = 1, warp_columns = " + std::to_string(warpColumns) +
         ">} {\n%c0 = arith.constant 0 : index\n%first = arith.constant " + std::to_string(first) +
         " : index\n%a = tile.load %A" + at + A + " -> " + tile("f32") + "\n" +
         (narrow ? "%c = arith.truncf %a : " + tile("f32") + " to " + tile(dtype) + "\n" : "") + "tile.store " +
         (narrow ? "%c" : "%a") + ", %C" + at + tile(dtype) + ", " + C + "\ntile.return\n}\n" +
         "func.func @plan(%A: " + A + ", %C: " + C +
         ") {\n%c1 = arith.constant 1 : index\ntile.launch @move grid(%c1) (%A, %C) : " + A + ", " + C +
         "\nreturn\n}\n";
}

void RowMoves::check(const Case &one) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(one.source(), &context);
  ASSERT_TRUE(module) << one.source();
  std::optional<DevicePlan> plan = lowerPlan(std::move(module));
  ASSERT_TRUE(plan) << one.describe();
  Rows from("f32", one.rows, one.columns, one.first, one.from), to(one.dtype, one.rows, one.columns, one.first, one.to);
  Rows expected = to;
  for (int64_t i = 0; i < one.rows; ++i)
    for (int64_t j = 0; j < one.columns; ++j) {
      int64_t number = (37 * i + 5 * j) % 251;
      from.set(from.index(i, j), from.bitsOf(number));
      if (j >= one.first)
        expected.set(expected.index(i, j), expected.bitsOf(number));
    }
  EmulatedPlan emulated(*plan);
  emulated.run({from.tensor(), to.tensor()});
  EXPECT_TRUE(emulated.report().clean()) << one.describe();
  int64_t wrong = 0;
  for (int64_t i = 0; i < to.count(); ++i)
    wrong += to.get(i) != expected.get(i);
  EXPECT_EQ(wrong, 0) << one.describe();
  const WorkCounters &counters = emulated.report().counters;
  EXPECT_EQ(int64_t(counters.globalBytes), from.size() + to.size()) << one.describe();
  EXPECT_EQ(int64_t(counters.wideGlobalBytes), from.wide() * from.size() + to.wide() * to.size()) << one.describe();
}

TEST_F(RowMoves, OfEveryWidth) {
  for (const char *dtype : {"f32", "f16", "bf16"})
    for (int64_t columns : {1, 2, 3, 4, 7, 8, 12, 16, 20, 24, 32, 36, 40, 48, 56, 72})
      check({70, columns, 70, columns, dtype});
}

TEST_F(RowMoves, OnGridsOfWarps) {
  const int64_t grids[][2] = {{1, 1}, {2, 1}, {8, 2}, {8, 4}, {8, 8}};
  for (auto [warps, columns] : grids)
    for (int64_t width : {8, 24, 40, 64, 136})
      for (const char *dtype : {"f32", "bf16"})
        check({64, width, 64, width, dtype, {}, {}, warps, columns});
}

TEST_F(RowMoves, OfMemoryThatEndsBeforeTheTile) {
  for (const char *dtype : {"f32", "f16"})
    for (int64_t rows : {1, 9, 33, 64})
      for (int64_t columns : {8, 20, 36, 40, 64})
        check({rows, columns, 64, 64, dtype});
}

// Of rows of several heads a tile has one: 16 bytes are four columns of f32, eight of the others.
TEST_F(RowMoves, OfColumnsFromTheMiddle) {
  for (const char *dtype : {"f32", "f16"})
    for (int64_t first : {4, 8, 20, 6})
      check({33, 40, 64, 40, dtype, {}, {}, 4, 1, first});
}

// A row's padding is not the tile's, and rows that begin or follow one another at odd places are moved in smaller
// pieces.
TEST_F(RowMoves, OfRowsThatAreNotAligned) {
  const Place places[] = {{0, 1}, {0, 4}, {0, 8}, {1, 0}, {4, 0}, {2, 2}};
  for (const char *dtype : {"f32", "f16"})
    for (int64_t columns : {23, 36, 40})
      for (Place place : places) {
        check({33, columns, 64, columns, dtype, place, {}});
        check({33, columns, 64, columns, dtype, {}, place});
      }
}
