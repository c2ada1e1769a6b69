//===- FootprintTest.cpp - Distinct bytes and live tiles, beside what is run -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExamplePlans.h"
#include "ExecutedCounts.h"

#include "attune/Reference/EvalTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::test;

//===----------------------------------------------------------------------===//
// Kernels by hand
//===----------------------------------------------------------------------===//

namespace {
class FootprintTest : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = countsContext();
  OwningOpRef<ModuleOp> module;

  /// A kernel of one program for each 64 rows of %x [n, 8], which may use %c0, %c64, %n and %first, its first row.
  cost::KernelCounts compile(const std::string &body) {
    module = parseSourceString<ModuleOp>(R"(
      tile.kernel @kernel(%x: memref<?x8xf32>, %y: memref<?x8xf32>) grid(query_block) {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %n = memref.dim %x, %c0 : memref<?x8xf32>
        %q = tile.program_id query_block
        %first = arith.muli %q, %c64 : index
        )" + body + R"(
        tile.return
      }
      func.func @host(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %n = memref.dim %x, %c0 : memref<?x8xf32>
        %blocks = arith.ceildivui %n, %c64 : index
        tile.launch @kernel grid(%blocks) (%x, %y) : memref<?x8xf32>, memref<?x8xf32>
        return
      })", context.get());
    auto host = module->lookupSymbol<func::FuncOp>("host");
    return std::move(*cost::KernelCounts::compile(*host.getOps<tile::LaunchOp>().begin()));
  }

  static cost::EvaluatedCounts evaluate(const cost::KernelCounts &counts, int64_t rows) {
    return counts.evaluate(SmallVector<int64_t>(counts.inputs().size(), rows));
  }
};
} // namespace

TEST_F(FootprintTest, WhatAllProgramsReadCountsOnce) {
  cost::KernelCounts counts = compile(R"(
    %tile = tile.load %x[%first, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    tile.loop #tile.sum %j = %c0 to %n step 64 {
      %k = tile.load %y[%j, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
      tile.yield
    }
    tile.store %tile, %y[%first, %c0] : tensor<64x8xf32>, memref<?x8xf32>)");
  cost::EvaluatedCounts result = evaluate(counts, 200); // 4 programs, the last one of 8 rows
  EXPECT_EQ(result.programs, 4);
  EXPECT_EQ(result.footprint.launch.loaded, (200 + 200) * 32); // x, and y once
  EXPECT_EQ(result.footprint.launch.stored, 200 * 32);
  EXPECT_EQ(result.footprint.program.loaded, (8 + 200) * 32); // of the last program
  EXPECT_EQ(result.footprint.program.stored, 8 * 32);
  EXPECT_EQ(result.count.bytes(), (200 + 4 * 200 + 200) * 32);
}

TEST_F(FootprintTest, LoopsOverOneRangeAreJoined) {
  cost::KernelCounts counts = compile(R"(
    %tiles = arith.divui %n, %c64 : index
    %full = arith.muli %tiles, %c64 : index
    tile.loop #tile.sum %j = %c0 to %full step 64 {
      %k = tile.load %y[%j, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
      tile.yield
    }
    tile.loop #tile.sum %j = %full to %n step 64 {
      %k = tile.load %y[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<64x8xf32>
      tile.yield
    })");
  EXPECT_EQ(evaluate(counts, 200).footprint.launch.loaded, 200 * 32);
  EXPECT_EQ(evaluate(counts, 128).footprint.launch.loaded, 128 * 32);
}

TEST_F(FootprintTest, TilesLiveFromTheirOpToTheirLastReader) {
  // Carried [64, 8]; in the loop %k [64, 8] and the scores [64, 64], 2048 + 2048 + 16384 bytes: %next takes the place of what is
  // carried. %tile is read after the loop, so lives all along.
  cost::KernelCounts counts = compile(R"(
    %zero = arith.constant dense<0.0> : tensor<64x8xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %tile = tile.load %x[%first, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %sum = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%s = %zero) : (tensor<64x8xf32>) {
      %k = tile.load %y[%j, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
      %scores = tile.dot %tile, %k, %none {transpose_b} : tensor<64x8xf32>, tensor<64x8xf32> -> tensor<64x64xf32>
      %next = tile.dot %scores, %k, %s : tensor<64x64xf32>, tensor<64x8xf32> -> tensor<64x8xf32>
      tile.yield %next : tensor<64x8xf32>
    }
    %both = arith.addf %sum, %tile : tensor<64x8xf32>
    tile.store %both, %y[%first, %c0] : tensor<64x8xf32>, memref<?x8xf32>)");
  EXPECT_EQ(counts.liveBytes(), 2048 + 2048 + 2048 + 16384); // %tile, %s and %next, %k, %scores
  cost::EvaluatedCounts result = evaluate(counts, 200);
  ASSERT_EQ(result.loops.size(), 1u);
  EXPECT_EQ(result.loops[0].steps, 4 * 4);
  EXPECT_EQ(result.loops[0].carriedBytes, 2048);
  EXPECT_EQ(result.loops[0].liveBytes, 2048 + 2048 + 16384); // without %tile, which is not the loop's
}

TEST_F(FootprintTest, ElementwiseResultsTakeThePlaceOfWhatNobodyReadsAgain) {
  // %a and %b of 2048 bytes each; %sum takes the place of %b, and what comes after it that of %sum.
  cost::KernelCounts counts = compile(R"(
    %a = tile.load %x[%first, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %b = tile.load %y[%first, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %sum = arith.addf %a, %b : tensor<64x8xf32>
    %product = arith.mulf %sum, %a : tensor<64x8xf32>
    tile.store %product, %y[%first, %c0] : tensor<64x8xf32>, memref<?x8xf32>)");
  EXPECT_EQ(counts.liveBytes(), 2 * 2048);
}

//===----------------------------------------------------------------------===//
// Kernels of the examples
//===----------------------------------------------------------------------===//

namespace {
/// Of one memory of a kernel the elements that are loaded, and those that are stored.
struct Marked {
  std::vector<bool> loaded, stored;
  double elementBytes = 0;
};
using Marks = std::map<std::pair<std::string, unsigned>, Marked>;
} // namespace

template <typename Op>
static void mark(Marks &marks, const reference::ExecutedOp &executed, Op op, mlir::Value memory, RankedTensorType tile) {
  const reference::Array &array = executed.memory(memory);
  mlir::Value root = memory;
  while (auto collapse = root.getDefiningOp<memref::CollapseShapeOp>())
    root = collapse.getSrc();
  Marked &marked = marks[{op->template getParentOfType<tile::KernelOp>().getName().str(),
                          cast<BlockArgument>(root).getArgNumber()}];
  marked.elementBytes = tile.getElementTypeBitWidth() / 8.0;
  std::vector<bool> &elements = isa<tile::StoreOp>(executed.op) ? marked.stored : marked.loaded;
  int64_t rank = array.rank(), leading = rank - tile.getRank(), count = 1;
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    count *= array.size(dimension);
  elements.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < tile.getDimSize(0); ++i) {
    int64_t start = executed.integer(op.getIndices()[leading]);
    int64_t number = (op.getFold() ? executed.integer(op.getFold()) : start) + i, row = number;
    if (op.getFold()) {
      auto columns = static_cast<int64_t>(*op.getColumns()), stride = static_cast<int64_t>(*op.getStride());
      row = start + number / columns * stride + number % columns;
    }
    bool below = op.getRows() && number >= executed.integer(op.getRows());
    bool above = op.getLower() && number < std::max<int64_t>(executed.integer(op.getLower()), 0);
    if (below || above || row < 0 || row >= array.size(leading))
      continue;
    int64_t place = 0;
    for (int64_t dimension = 0; dimension < leading; ++dimension)
      place = place * array.size(dimension) + executed.integer(op.getIndices()[dimension]);
    place = place * array.size(leading) + row;
    if (tile.getRank() == 1) {
      elements[static_cast<size_t>(place)] = true;
      continue;
    }
    int64_t column = executed.integer(op.getIndices().back()), columns = array.size(rank - 1);
    for (int64_t j = column; j < std::min(columns, column + tile.getDimSize(1)); ++j)
      elements[static_cast<size_t>(place * columns + j)] = true;
  }
}

static std::map<std::string, cost::Touched> executedFootprints(func::FuncOp host, const RunSizes &sizes) {
  Marks marks;
  runKernels(host, sizes, [&](const reference::ExecutedOp &executed) {
    if (auto load = dyn_cast<tile::LoadOp>(executed.op))
      mark(marks, executed, load, load.getSource(), load.getType());
    if (auto store = dyn_cast<tile::StoreOp>(executed.op))
      mark(marks, executed, store, store.getTarget(), cast<RankedTensorType>(store.getValue().getType()));
  });
  std::map<std::string, cost::Touched> touched;
  for (const auto &[memory, marked] : marks) {
    touched[memory.first].loaded += marked.elementBytes * llvm::count(marked.loaded, true);
    touched[memory.first].stored += marked.elementBytes * llvm::count(marked.stored, true);
  }
  return touched;
}

/// The kernel's name without that of its host function and its number.
static std::string shortName(StringRef kernel, StringRef host) {
  kernel.consume_front(host);
  return kernel.ltrim("_0123456789").str();
}

TEST(Footprints, AreThoseOfTheRun) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  std::set<std::string> differ;
  int compared = 0;
  for (const std::string &example : exampleNames())
    forEachPlan(*context, example, device, 4, [&](LoweredPlan &plan) {
      for (auto host : plan.module->getOps<func::FuncOp>())
        for (RunSizes sizes : {RunSizes{1, 131, 131}, RunSizes{2, 128, 128}, RunSizes{1, 240, 240}}) {
          if (!takes(host, sizes))
            continue;
          auto executed = executedFootprints(host, sizes);
          for (auto launch : host.getOps<tile::LaunchOp>()) {
            auto compiled = cost::KernelCounts::compile(launch);
            ASSERT_TRUE(succeeded(compiled));
            SmallVector<int64_t> inputs;
            for (const cost::SizeInput &input : compiled->inputs())
              inputs.push_back(sizeOf(host, input.argument, input.dimension, sizes));
            cost::Touched all = compiled->evaluate(inputs).footprint.launch, run = executed[launch.getCallee().str()];
            std::string name = shortName(launch.getCallee(), host.getName());
            // A box may have more than is touched, and never less.
            EXPECT_GE(all.loaded, run.loaded) << example << " " << name;
            EXPECT_GE(all.stored, run.stored) << example << " " << name;
            if (all.loaded != run.loaded || all.stored != run.stored)
              differ.insert(name);
            ++compared;
          }
        }
    });
  EXPECT_GT(compared, 100);
  // Boxes are larger where what is read lies apart, as edges of EVA do, and where both ends of a range depend on the part of a split
  // sequence, which intervals take for two parts.
  EXPECT_EQ(differ, (std::set<std::string>{"chunked", "edges", "pieces", "state"}));
}
