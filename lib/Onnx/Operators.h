//===- Operators.h - The operators of ONNX that are attention ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ONNX_OPERATORS_H
#define ATTUNE_ONNX_OPERATORS_H

#include "Model.h"

namespace attune::onnx {

struct AttributeDefinition {
  llvm::StringRef name;
  Attribute::Type type;
};

/// What ONNX's definition of an operator says, up to opset 28.
struct OperatorDefinition {
  llvm::StringRef name;
  int64_t since; // opset
  llvm::ArrayRef<llvm::StringRef> inputs, outputs;
  llvm::ArrayRef<AttributeDefinition> attributes;
};

llvm::ArrayRef<OperatorDefinition> operatorDefinitions();

/// Null for a node of another operator.
const OperatorDefinition *definitionOf(const Node &node);

} // namespace attune::onnx

#endif // ATTUNE_ONNX_OPERATORS_H
