//===- Model.h - What a spec needs of an ONNX model --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ONNX_MODEL_H
#define ATTUNE_ONNX_MODEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::onnx {

/// Element types, as TensorProto numbers them.
enum Element : int64_t { Unknown = 0, Float = 1, Float16 = 10, BFloat16 = 16 };

struct TensorType {
  int64_t element = Unknown;
  std::optional<llvm::SmallVector<int64_t, 4>> shape; // a size that is not stated is 0
};

struct Attribute {
  enum Type : int64_t { Number = 1, Integer = 2, Text = 3 }; // of those that attention has
  std::string name, text;
  int64_t type = 0, integer = 0;
  float number = 0;
};

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs; // names of tensors; empty: absent
  std::vector<Attribute> attributes;

  /// By which it is known: its name, or its first output where it has none.
  llvm::StringRef shown() const;
};

/// Nodes of the main graph, and the types that it states.
struct Model {
  llvm::StringMap<int64_t> opsets; // versions by domain
  std::vector<Node> nodes;
  llvm::StringMap<TensorType> types;
};

/// Reads an ONNX file's bytes. Contents of tensors are skipped.
llvm::Expected<Model> parseModel(llvm::StringRef bytes);

} // namespace attune::onnx

#endif // ATTUNE_ONNX_MODEL_H
