//===- ReleasesTest.cpp - A dialect that changed reads its old bytecode -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two releases of one dialect: in the second an op has one attribute more, which is read by the version, and another
// attribute means something else, which an upgrade mends.
//
//===----------------------------------------------------------------------===//
#include "attune/VersionedBytecode.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attune;

#include "FirstReleaseDialect.h.inc"
#include "SecondReleaseDialect.h.inc"
#define GET_OP_CLASSES
#include "FirstReleaseOps.h.inc"
#define GET_OP_CLASSES
#include "SecondReleaseOps.h.inc"

#include "FirstReleaseDialect.cpp.inc"
#include "SecondReleaseDialect.cpp.inc"
#define GET_OP_CLASSES
#include "FirstReleaseOps.cpp.inc"
#define GET_OP_CLASSES
#include "SecondReleaseOps.cpp.inc"

void first::ToyDialect::initialize() {
  addOperations<first::TokensOp>();
  addInterface(std::make_unique<VersionedBytecode>(this));
}

/// What counted pairs counts tokens.
static LogicalResult countTokens(Operation *root) {
  root->walk([](second::TokensOp op) { op.setCount(2 * op.getCount()); });
  return success();
}

void second::ToyDialect::initialize() {
  static constexpr BytecodeUpgrade upgrades[] = {countTokens};
  addOperations<second::TokensOp>();
  addInterface(std::make_unique<VersionedBytecode>(this, upgrades));
}

LogicalResult second::TokensOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readAttribute(properties.count)))
    return failure();
  if (versionRead(reader, "toy") >= 2)
    return reader.readAttribute(properties.start);
  properties.start = Builder(reader.getContext()).getI64IntegerAttr(0);
  return success();
}

void second::TokensOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeAttribute(getProperties().count);
  writer.writeAttribute(getProperties().start);
}

namespace {

/// A module with one op of a release, as bytecode.
template <typename OpType> std::string written(ArrayRef<int64_t> numbers) {
  MLIRContext context;
  context.loadDialect<
      typename std::conditional_t<std::is_same_v<OpType, first::TokensOp>, first::ToyDialect, second::ToyDialect>>();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  if constexpr (std::is_same_v<OpType, first::TokensOp>)
    OpType::create(builder, builder.getUnknownLoc(), numbers[0]);
  else
    OpType::create(builder, builder.getUnknownLoc(), numbers[0], numbers[1]);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, stream)));
  return bytes;
}

/// count and start of the op in the bytecode, as the second release reads them.
std::pair<int64_t, int64_t> readBySecond(StringRef bytes) {
  MLIRContext context;
  context.loadDialect<second::ToyDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytes, &context);
  if (!module)
    return {-1, -1};
  auto op = cast<second::TokensOp>(module->getBody()->front());
  return {op.getCount(), op.getStart()};
}

TEST(Releases, TheSecondReadsTheFirst) {
  EXPECT_EQ(readBySecond(written<first::TokensOp>({21})), std::pair(int64_t(42), int64_t(0)));
}

TEST(Releases, TheSecondReadsItself) {
  EXPECT_EQ(readBySecond(written<second::TokensOp>({21, 7})), std::pair(int64_t(21), int64_t(7)));
}

TEST(Releases, TheFirstRefusesTheSecond) {
  MLIRContext context;
  context.loadDialect<first::ToyDialect>();
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
  EXPECT_FALSE(parseSourceString<ModuleOp>(written<second::TokensOp>({21, 7}), &context));
  EXPECT_NE(
      said.find("expected bytecode of toy of version 1 to 1, but got version 2; read it with the Attune that wrote "
                "it, or a later one"),
      std::string::npos)
      << said;
}

} // namespace
