//===- KernelCountsTest.cpp - Counts where nothing can be run -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutedCounts.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using tile::Counted;

namespace {
class KernelCountsTest : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = countsContext();
  OwningOpRef<ModuleOp> module;

  /// A kernel with program ids p and q of a grid of the sizes of %n, whose body may use %c0, %c64, %n0 and a tile of 64
  /// × 8.
  cost::KernelCounts compile(const std::string &body) {
    module = parseSourceString<ModuleOp>(R"(
      tile.kernel @kernel(%x: memref<?x8xf32>) grid(batch, query_block) {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %n0 = memref.dim %x, %c0 : memref<?x8xf32>
        %p = tile.program_id batch
        %q = tile.program_id query_block
        %tile = arith.constant dense<1.0> : tensor<64x8xf32>
        )" + body + R"(
        tile.return
      }
      func.func @host(%x: memref<?x8xf32>, %grid: memref<?x?xf32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %b = memref.dim %grid, %c0 : memref<?x?xf32>
        %q = memref.dim %grid, %c1 : memref<?x?xf32>
        tile.launch @kernel grid(%b, %q) (%x) : memref<?x8xf32>
        return
      })", context.get());
    auto host = module->lookupSymbol<func::FuncOp>("host");
    return std::move(*cost::KernelCounts::compile(*host.getOps<tile::LaunchOp>().begin()));
  }

  /// Sizes by the order in which the kernel wants to know them.
  static cost::EvaluatedCounts evaluate(const cost::KernelCounts &counts, int64_t rows, int64_t batch, int64_t blocks) {
    SmallVector<int64_t> sizes;
    for (const cost::SizeInput &input : counts.inputs())
      sizes.push_back(input.argument == 0 ? rows : input.dimension == 0 ? batch : blocks);
    return counts.evaluate(sizes);
  }
};
} // namespace

static const std::string add = "%sum = arith.addf %tile, %tile : tensor<64x8xf32>\n";

/// Tiles of 48 keys up to the diagonal of n queries in blocks of 64, and the keys of them that exist.
static std::pair<int64_t, int64_t> visibleTiles(int64_t n) {
  int64_t tiles = 0, keys = 0;
  for (int64_t first = 0; first < n; first += 64) {
    int64_t seen = (std::min(first + 64, n) + 47) / 48;
    tiles += seen, keys += std::min(48 * seen, n);
  }
  return {tiles, keys};
}

/// At lengths at which nothing can be run, too.
TEST_F(KernelCountsTest, CausalTilesAreSummedInClosedForm) {
  cost::KernelCounts counts = compile(R"(
    %first = arith.muli %q, %c64 : index
    %end = arith.addi %first, %c64 : index
    %last = arith.minsi %end, %n0 : index
    tile.loop #tile.sum %j = %c0 to %last step 48 {
      %k = tile.load %x[%j, %c0] : memref<?x8xf32> -> tensor<48x8xf32>
      )" + add + "tile.yield }");
  for (int64_t n : {1, 64, 1000, 65536, 1 << 24}) {
    cost::EvaluatedCounts result = evaluate(counts, n, 3, (n + 63) / 64);
    EXPECT_TRUE(result.isExact);
    auto [tiles, keys] = visibleTiles(n);
    EXPECT_EQ(result.count[Counted::Elementwise], 3 * 512 * static_cast<double>(tiles));
    EXPECT_EQ(result.count[Counted::BytesLoaded], 3 * 32 * static_cast<double>(keys));
  }
  EXPECT_FALSE(counts.hasSeveralAxes());
}

/// p steps of p steps: no form that sums. Σ p² is exact up to 256 programs, and within a thousandth beyond.
TEST_F(KernelCountsTest, ProductsOfBoundsAreSampled) {
  cost::KernelCounts counts = compile("tile.loop #tile.sum %i = %c0 to %q step 1 {\n"
                                      "tile.loop #tile.sum %j = %c0 to %q step 1 {" + add +
                                      "tile.yield } tile.yield }");
  cost::EvaluatedCounts few = evaluate(counts, 1, 1, 256), many = evaluate(counts, 1, 1, 5000);
  EXPECT_TRUE(few.isExact);
  EXPECT_EQ(few.count[Counted::Elementwise], 512.0 * 255 * 256 * 511 / 6);
  EXPECT_FALSE(many.isExact);
  double exact = 512.0 * 4999 * 5000 * 9999 / 6;
  EXPECT_NEAR(many.count[Counted::Elementwise], exact, 1e-3 * exact);
}

/// p + q steps: one axis is summed in closed form, the shorter one visited; that it takes both is told.
TEST_F(KernelCountsTest, SeveralAxesInABoundAreTold) {
  cost::KernelCounts counts = compile("%both = arith.addi %p, %q : index\n"
                                      "tile.loop #tile.sum %i = %c0 to %both step 1 {" + add + "tile.yield }");
  cost::EvaluatedCounts result = evaluate(counts, 1, 7, 100000);
  EXPECT_TRUE(counts.hasSeveralAxes());
  EXPECT_TRUE(result.isExact);
  EXPECT_EQ(result.count[Counted::Elementwise], 512.0 * (7 * (99999.0 * 100000 / 2) + 100000.0 * 21));
}

/// Rows before the first and from `rows` on are not read; a grid without programs does nothing.
TEST_F(KernelCountsTest, RowsOutsideAreNotCounted) {
  cost::KernelCounts counts = compile(R"(
    %cm3 = arith.constant -3 : index
    %c20 = arith.constant 20 : index
    %head = tile.load %x[%cm3, %c0] from(%c0) rows(%c20) : memref<?x8xf32> -> tensor<64x8xf32>)");
  EXPECT_EQ(evaluate(counts, 100, 1, 1).count[Counted::BytesLoaded], 20 * 32);
  EXPECT_EQ(evaluate(counts, 5, 2, 3).count[Counted::BytesLoaded], 6 * 5 * 32);
  EXPECT_EQ(evaluate(counts, 5, 0, 3).count, tile::OpCount());
}

/// Windows of 3 columns in an image of 7: token w is row ⌊w / 3⌋ 7 + w mod 3, from that of the program on, as far as
/// there are rows.
TEST_F(KernelCountsTest, WindowsEndWhereTheImageDoes) {
  cost::KernelCounts counts = compile(R"(
    %origin = arith.muli %q, %c64 : index
    %window = tile.load %x[%origin, %c0] fold(%c0) columns 3 stride 7 : memref<?x8xf32> -> tensor<64x8xf32>)");
  for (int64_t rows = 0; rows < 300; ++rows) {
    double inside = 0;
    for (int64_t program = 0; program < 4; ++program)
      for (int64_t w = 0; w < 64; ++w)
        inside += program * 64 + w / 3 * 7 + w % 3 < rows;
    EXPECT_EQ(evaluate(counts, rows, 1, 4).count[Counted::BytesLoaded], 32 * inside) << rows;
  }
}
