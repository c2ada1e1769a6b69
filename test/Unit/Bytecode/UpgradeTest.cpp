//===- UpgradeTest.cpp - Old bytecode goes through every step since ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"
#include "attune/VersionedBytecode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {

/// Appends a letter to the module's attribute `steps`.
template <char letter> LogicalResult append(Operation *root) {
  auto steps = root->getAttrOfType<StringAttr>("steps");
  root->setAttr("steps", StringAttr::get(root->getContext(), (steps ? steps.getValue().str() : "") + letter));
  return success();
}

LogicalResult refuse(Operation *) { return failure(); }

class Upgrade : public testing::Test {
protected:
  /// The steps that a module of `version` went through; "refused" if one failed.
  std::string stepsFrom(uint64_t version, ArrayRef<BytecodeUpgrade> upgrades) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    VersionedBytecode bytecode(context.getOrLoadDialect<tile::TileDialect>(), upgrades);
    if (failed(bytecode.upgradeFromVersion(*module, BytecodeVersion(version))))
      return "refused";
    auto steps = (*module)->getAttrOfType<StringAttr>("steps");
    return steps ? steps.getValue().str() : "";
  }

  MLIRContext context;
};

TEST_F(Upgrade, GoesThroughEveryStepSinceTheVersion) {
  const BytecodeUpgrade upgrades[] = {append<'a'>, append<'b'>, append<'c'>};
  EXPECT_EQ(stepsFrom(1, upgrades), "abc");
  EXPECT_EQ(stepsFrom(2, upgrades), "bc");
  EXPECT_EQ(stepsFrom(4, upgrades), "");
  EXPECT_EQ(VersionedBytecode(context.getOrLoadDialect<tile::TileDialect>(), upgrades).current(), 4u);
}

TEST_F(Upgrade, StopsAtAStepThatFails) {
  const BytecodeUpgrade upgrades[] = {append<'a'>, refuse, append<'c'>};
  EXPECT_EQ(stepsFrom(1, upgrades), "refused");
  EXPECT_EQ(stepsFrom(3, upgrades), "c");
}

} // namespace
