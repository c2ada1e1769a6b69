//===- IndexTest.cpp - Formulas as text and on the host -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Index.h"

#include "TileBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// The formula, behind the formulas that it names.
static std::string shown(const Index &index) {
  std::string text, before;
  llvm::raw_string_ostream os(text);
  index.print(os, [](Value) { return std::string("k"); },
              [&](llvm::StringRef name, const Index &formula) { before += name.str() + " = " + shown(formula) + "; "; });
  return before + text;
}

TEST(Index, BracketsOnlyWhatNeedsThem) {
  Index block = Index::first(Axis::Block), query = Index::first(Axis::Query);
  EXPECT_EQ(shown(block * 40 + query), "block * 40 + query");
  EXPECT_EQ(shown((block + 1) * 40), "(block + 1) * 40");
  EXPECT_EQ(shown(query - (block - 1)), "query - (block - 1)");
  EXPECT_EQ(shown(query - block - 1), "query - block - 1");
  EXPECT_EQ(shown(query * (block / 2)), "query * (block / 2)");
  EXPECT_EQ(shown(query * block / 2), "query * block / 2");
  EXPECT_EQ(shown(min(block, max(query + 1, 0)) * 2), "min(block, max(query + 1, 0)) * 2");
}

TEST(Index, DefinesNamesFirst) {
  Index start = Index::named("start", Index::first(Axis::Block) * 16);
  EXPECT_EQ(shown(start + 16), "start = block * 16; start + 16");
}

TEST(Index, DependsOnItsAxes) {
  EXPECT_TRUE(Index(3).axes().none());
  EXPECT_EQ((Index::first(Axis::Block) * 2 + Index::named("q", Index::first(Axis::Query))).axes(), setOf({Axis::Block, Axis::Query}));
  EXPECT_EQ(Index::length(Value(), 4).axes(), setOf(Axis::Batch));
}

/// 8 · 2 + ⌊8 / rows⌋ on the host: a size that may be 0 is no divisor.
TEST(Index, IsComputedOnTheHost) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, arith::ArithDialect, memref::MemRefDialect>();
  OpBuilder builder(&context);
  Type type = MemRefType::get({ShapedType::kDynamic, 8}, builder.getF32Type());
  Location loc = builder.getUnknownLoc();
  OwningOpRef<func::FuncOp> host = func::FuncOp::create(loc, "host", builder.getFunctionType(type, {}));
  Value memory = host->addEntryBlock()->getArgument(0);
  builder.setInsertionPointToStart(&host->getBody().front());
  tile::TileBuilder tiles(builder, loc);
  Index rows = Index::size(memory, 0), columns = Index::size(memory, 1);
  auto sum = (columns * 2 + columns / rows).onHost(tiles).getDefiningOp<arith::AddIOp>();
  ASSERT_TRUE(sum);
  auto quotient = sum.getRhs().getDefiningOp<arith::DivUIOp>();
  ASSERT_TRUE(quotient);
  auto divisor = quotient.getRhs().getDefiningOp<arith::MaxSIOp>();
  ASSERT_TRUE(divisor);
  EXPECT_TRUE(divisor.getLhs().getDefiningOp<memref::DimOp>());
  auto by = sum.getLhs().getDefiningOp<arith::MulIOp>().getRhs().getDefiningOp<arith::ConstantIndexOp>();
  EXPECT_EQ(by.value(), 2);
}
