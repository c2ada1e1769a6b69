//===- BuiltSpec.h - Specs built in the attn dialect inside a test -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_FRONTEND_BUILTSPEC_H
#define ATTUNE_TEST_UNIT_FRONTEND_BUILTSPEC_H

#include "SpecText.h"

#include "attune/Attn/Attn.h"
#include "attune/Frontend/SpecToAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

namespace attune {

/// The function of a good spec, verified.
struct Built {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;

  explicit Built(const std::string &text) {
    module = specToAttn(parseGood(text), "probe.yaml", context);
    EXPECT_TRUE(module && mlir::succeeded(mlir::verify(*module)));
    function = *module->getOps<mlir::func::FuncOp>().begin();
  }
  template <typename Op> Op only() {
    auto ops = function.getOps<Op>();
    EXPECT_FALSE(ops.empty());
    return *ops.begin();
  }
  /// "rope rope softmax": the ops of the attn dialect, in their order.
  std::string ops() {
    std::string text;
    for (mlir::Operation &op : function.getOps())
      if (llvm::StringRef name = op.getName().getStringRef(); name.consume_front("attn."))
        text += (text.empty() ? "" : " ") + name.str();
    return text;
  }
  /// "q" for the argument of that name, "rope" for the result of attn.rope, "" for null.
  static std::string sourceOf(mlir::Value value) {
    if (!value)
      return "";
    if (mlir::Operation *op = value.getDefiningOp())
      return op->getName().stripDialect().str();
    auto argument = llvm::cast<mlir::BlockArgument>(value);
    auto function = llvm::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    return function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "attn.name").str();
  }
};

inline std::string show(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

template <typename Attribute> std::string showAttribute(Attribute attribute) {
  std::string text;
  if (attribute)
    llvm::raw_string_ostream(text) << attribute;
  return text;
}

} // namespace attune

#endif // ATTUNE_TEST_UNIT_FRONTEND_BUILTSPEC_H
