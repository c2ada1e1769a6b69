//===- Describe.h - What a library tells its callers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_DESCRIBE_H
#define ATTUNE_PIPELINE_DESCRIBE_H

#include "attune/Target/LibraryDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace attune {

/// The host functions of a module after `attn-to-tile`, by the lengths for which they are the cheapest.
llvm::SmallVector<mlir::func::FuncOp> planFunctions(mlir::ModuleOp module);

/// A plan by the name of its host function.
struct PlanName {
  std::string function, form;
  int64_t from;
};
llvm::SmallVector<PlanName> planNames(mlir::ModuleOp module);

/// The host function that fills the prepared tensors; null if there is none.
mlir::func::FuncOp prepareFunction(mlir::ModuleOp module);

/// Name, sizes and tensors of the library that the module's host functions make up, by the attributes of their arguments
/// (attune/Kernel/Passes.h); the variants are left empty.
llvm::Expected<target::LibraryDescription> describeInterface(mlir::ModuleOp module, llvm::StringRef name);

/// The names of the attn function's arguments, in their order.
std::vector<std::string> describeArguments(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_PIPELINE_DESCRIBE_H
