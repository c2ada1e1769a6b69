//===- NodeSpec.h - The spec of a node of an ONNX model ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ONNX_NODESPEC_H
#define ATTUNE_ONNX_NODESPEC_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::onnx {

/// A tensor of a node: by its name in the operator's definition, and in the model.
struct NodeTensor {
  llvm::StringRef formal;
  std::string actual;
};

/// What a node of `Attention` or `LinearAttention` computes, as a spec. Its tensors are those of the node but for their layout: heads
/// that the node has in one dimension stand apart in the spec's.
struct NodeSpec {
  std::string node, op;
  std::vector<NodeTensor> inputs, outputs; // those that the node has, in the order of the definition
  std::vector<std::pair<llvm::StringRef, llvm::json::Value>> fields;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> tensors; // of the spec, and what they are of the node

  /// The text of the spec, a field a line, below a comment with the tensors.
  std::string yaml() const;
  /// All of it: node, operator, inputs, outputs, spec.
  void writeJson(llvm::raw_ostream &os) const;
};

/// `FILE.onnx` or `FILE.onnx:NODE`, which names one of the file's nodes.
struct NodePath {
  llvm::StringRef file, node;
};

/// Nothing if the path is another file's.
std::optional<NodePath> nodePathOf(llvm::StringRef path);

/// The node of that name, or with an output of that name, or the only one with attention. The error says the file, the node, what of
/// it was expected, what was found, what to do.
llvm::Expected<NodeSpec> readNode(const NodePath &path);
/// The same of a file's bytes; `name` stands in messages.
llvm::Expected<NodeSpec> readNode(llvm::StringRef bytes, llvm::StringRef node, llvm::StringRef name);

} // namespace attune::onnx

#endif // ATTUNE_ONNX_NODESPEC_H
