//===- Model.cpp - What a spec needs of an ONNX model ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of fields are those of onnx.proto, which never change.
//
//===----------------------------------------------------------------------===//
#include "Model.h"

#include "Wire.h"

#include "llvm/ADT/bit.h"

using namespace attune::onnx;
using llvm::StringRef;

StringRef Node::shown() const {
  if (!name.empty() || outputs.empty())
    return name;
  return outputs.front();
}

namespace {
/// One function a message, named as onnx.proto names it.
class ModelParser {
public:
  explicit ModelParser(StringRef file) : fault(file) {}

  llvm::Expected<Model> parse(StringRef file);

private:
  void operatorSet(StringRef message);
  void graph(StringRef message);
  void node(StringRef message);
  Attribute attribute(StringRef message);
  void valueInfo(StringRef message);
  void type(StringRef message, TensorType &type);
  void tensorType(StringRef message, TensorType &type);
  void shape(StringRef message, TensorType &type);
  int64_t dimension(StringRef message);
  void initializer(StringRef message);

  /// Calls `take` with each field of a message.
  template <typename Take> void each(StringRef message, Take take) {
    WireReader reader(message, fault);
    for (WireField field; reader.next(field);)
      take(field);
  }

  WireFault fault;
  Model model;
  bool hasGraph = false;
};
} // namespace

llvm::Expected<Model> ModelParser::parse(StringRef file) {
  each(file, [&](const WireField &field) {
    if (field.isBytes(7))
      hasGraph = true, graph(field.bytes);
    else if (field.isBytes(8))
      operatorSet(field.bytes);
  });
  if (fault.found())
    return llvm::createStringError(fault.message());
  if (!hasGraph)
    return llvm::createStringError("expected an ONNX model, but got a file without a graph");
  return std::move(model);
}

void ModelParser::operatorSet(StringRef message) {
  StringRef domain;
  int64_t version = 0;
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      domain = field.bytes;
    else if (field.isVarint(2))
      version = static_cast<int64_t>(field.value);
  });
  model.opsets[domain] = version;
}

void ModelParser::graph(StringRef message) {
  llvm::SmallVector<StringRef> constants;
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      node(field.bytes);
    else if (field.isBytes(11) || field.isBytes(12) || field.isBytes(13)) // inputs, outputs, tensors between nodes
      valueInfo(field.bytes);
    else if (field.isBytes(5))
      constants.push_back(field.bytes);
  });
  for (StringRef constant : constants) // which know better than an input of the same name
    initializer(constant);
}

void ModelParser::node(StringRef message) {
  Node &made = model.nodes.emplace_back();
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      made.inputs.push_back(field.bytes.str());
    else if (field.isBytes(2))
      made.outputs.push_back(field.bytes.str());
    else if (field.isBytes(3))
      made.name = field.bytes.str();
    else if (field.isBytes(4))
      made.op = field.bytes.str();
    else if (field.isBytes(5))
      made.attributes.push_back(attribute(field.bytes));
    else if (field.isBytes(7))
      made.domain = field.bytes.str();
  });
}

Attribute ModelParser::attribute(StringRef message) {
  Attribute made;
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      made.name = field.bytes.str();
    else if (field.number == 2 && field.kind == WireField::Fixed32)
      made.number = llvm::bit_cast<float>(static_cast<uint32_t>(field.value));
    else if (field.isVarint(3))
      made.integer = static_cast<int64_t>(field.value);
    else if (field.isBytes(4))
      made.text = field.bytes.str();
    else if (field.isVarint(20))
      made.type = static_cast<int64_t>(field.value);
  });
  return made;
}

void ModelParser::valueInfo(StringRef message) {
  StringRef name;
  TensorType made;
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      name = field.bytes;
    else if (field.isBytes(2))
      type(field.bytes, made);
  });
  model.types[name] = made;
}

void ModelParser::type(StringRef message, TensorType &made) {
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      tensorType(field.bytes, made);
  });
}

void ModelParser::tensorType(StringRef message, TensorType &made) {
  each(message, [&](const WireField &field) {
    if (field.isVarint(1))
      made.element = static_cast<int64_t>(field.value);
    else if (field.isBytes(2))
      shape(field.bytes, made);
  });
}

void ModelParser::shape(StringRef message, TensorType &made) {
  made.shape.emplace();
  each(message, [&](const WireField &field) {
    if (field.isBytes(1))
      made.shape->push_back(dimension(field.bytes));
  });
}

int64_t ModelParser::dimension(StringRef message) {
  int64_t size = 0;
  each(message, [&](const WireField &field) {
    if (field.isVarint(1))
      size = std::max<int64_t>(static_cast<int64_t>(field.value), 0);
  });
  return size;
}

void ModelParser::initializer(StringRef message) {
  StringRef name;
  TensorType made;
  made.shape.emplace();
  each(message, [&](const WireField &field) {
    if (field.number == 1)
      appendVarints(field, fault, *made.shape);
    else if (field.isVarint(2))
      made.element = static_cast<int64_t>(field.value);
    else if (field.isBytes(8))
      name = field.bytes;
  });
  model.types[name] = made;
}

llvm::Expected<Model> attune::onnx::parseModel(StringRef bytes) { return ModelParser(bytes).parse(bytes); }
