//===- NodeReader.h - A node, and what is known of its tensors ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ONNX_NODEREADER_H
#define ATTUNE_ONNX_NODEREADER_H

#include "Operators.h"

#include "attune/Onnx/NodeSpec.h"

namespace attune::onnx {

/// Answers questions about a node by the names of its operator's definition. The first mistake is kept; after it
/// answers mean nothing, but every question has one.
class NodeReader {
public:
  NodeReader(const Model &model, const Node &node);

  bool has(llvm::StringRef input) const { return !named(definition.inputs, node.inputs, input).empty(); }
  bool gives(llvm::StringRef output) const { return !named(definition.outputs, node.outputs, output).empty(); }
  /// Of an attribute, which the definition has; without it `otherwise`.
  int64_t integer(llvm::StringRef attribute, int64_t otherwise) const;
  double number(llvm::StringRef attribute, double otherwise);
  llvm::StringRef text(llvm::StringRef attribute, llvm::StringRef otherwise) const;
  bool isGiven(llvm::StringRef attribute) const { return find(attribute); }

  /// Of an input; 0 if it is not stated.
  size_t rank(llvm::StringRef input) const;
  /// A size of an input that the spec needs, which must be stated; an axis below 0 counts from the end.
  int64_t size(llvm::StringRef input, int axis);
  /// The last size of an input as `count` times the answer.
  int64_t widthOf(llvm::StringRef input, int64_t count, llvm::StringRef countName);
  /// The type that the inputs share, as a spec names it.
  llvm::StringRef dtype(llvm::ArrayRef<llvm::StringRef> inputs);

  /// "node 'x' (Op): WHAT: expected EXPECTED, but got GOT"; the remedy may stand at the end of GOT.
  void refuse(const llvm::Twine &what, const llvm::Twine &expected, const llvm::Twine &got);
  const std::string &mistake() const { return firstMistake; }

  /// The spec without its fields.
  NodeSpec begin() const;

private:
  static llvm::StringRef named(llvm::ArrayRef<llvm::StringRef> formal, const std::vector<std::string> &actual,
                               llvm::StringRef name);
  const Attribute *find(llvm::StringRef attribute) const;
  const TensorType *typeOf(llvm::StringRef input) const;
  void checkVersion();
  void checkDefinition();
  void checkAttribute(const Attribute &attribute);

  const Model &model;
  const Node &node;
  const OperatorDefinition &definition;
  std::string firstMistake;
};

/// The fields of a node's spec, and what its tensors are.
void readAttention(NodeReader &reader, NodeSpec &spec);
void readLinearAttention(NodeReader &reader, NodeSpec &spec);

} // namespace attune::onnx

#endif // ATTUNE_ONNX_NODEREADER_H
