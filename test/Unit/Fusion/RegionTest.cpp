//===- RegionTest.cpp - What a region refuses ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Region.h"

#include "Terms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// What verification says of a softmax over weights in this representation; empty if nothing.
static std::string messageOf(Representation weights) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tile::TileDialect>();
  OpBuilder builder(&context);
  Type type = MemRefType::get({8, 4}, builder.getF32Type());
  OwningOpRef<func::FuncOp> host = func::FuncOp::create(builder.getUnknownLoc(), "host", builder.getFunctionType(type, {}));
  Value tokens = host->addEntryBlock()->getArgument(0);
  auto rows = [](Axis axis) { return Dimension{axis, 1, 0, 1, 0, true}; };
  Dimension columns{std::nullopt, 1, 0, 1, 4};
  auto extents = std::make_shared<Extents>();
  Source q = memory(tokens, {rows(Axis::Query), columns}), k = memory(tokens, {rows(Axis::Key), columns});
  Source w = term(terms::visible(), {term(terms::logits(weights, 1, /*wide=*/false), {q, k})});
  Stage stage{Axis::Key, 4, {{"all", Border::Begin, Border::End, true}}, extents};
  Source state = stream(stage, {terms::softmaxPartial(4), {w, k}});
  KernelRegion region{"kernel", "softmax", {}, {}, extents, {{term(terms::softmaxFinish(), {state}), tokens, {}}}};
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  LogicalResult good = region.verify([&] { return emitError(builder.getUnknownLoc()); });
  EXPECT_EQ(succeeded(good), message.empty());
  return message;
}

TEST(Region, RefusesAnotherRepresentation) {
  EXPECT_EQ(messageOf(Representation::Log), "");
  EXPECT_EQ(messageOf(Representation::Plain), "expected operand 0 of softmax_partial in representation log, but got plain "
                                              "of visible; a conversion has to stand between");
}
