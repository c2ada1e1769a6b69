//===- NodeReader.cpp - A node, and what is known of its tensors -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NodeReader.h"

#include "attune/Support/Diagnostics.h"
#include "attune/Support/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>

using namespace attune;
using namespace attune::onnx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

NodeReader::NodeReader(const Model &model, const Node &node)
    : model(model), node(node), definition(*definitionOf(node)) {
  checkVersion();
  checkDefinition();
}

void NodeReader::refuse(const Twine &what, const Twine &expected, const Twine &got) {
  if (firstMistake.empty())
    firstMistake = ("node " + quoted(node.shown()) + " (" + definition.name + "): " + what + ": expected " + expected +
                    ", but got " + got)
                       .str();
}

//===----------------------------------------------------------------------===//
// What the definition says
//===----------------------------------------------------------------------===//

void NodeReader::checkVersion() {
  int64_t version = std::max(model.opsets.lookup(""), model.opsets.lookup("ai.onnx"));
  if (version < definition.since)
    refuse("opset", "a model of opset " + Twine(definition.since) + " or later",
           Twine(version) + "; convert it with onnx.version_converter");
}

void NodeReader::checkDefinition() {
  for (auto [what, most, count] : {std::tuple("inputs", definition.inputs.size(), node.inputs.size()),
                                   std::tuple("outputs", definition.outputs.size(), node.outputs.size())})
    if (count > most)
      refuse(what, "at most " + Twine(most), Twine(count));
  for (size_t i = 0; i < 3; ++i)
    if (!has(definition.inputs[i]))
      refuse("input '" + definition.inputs[i] + "'", "a tensor", "none");
  for (const Attribute &attribute : node.attributes)
    checkAttribute(attribute);
}

void NodeReader::checkAttribute(const Attribute &attribute) {
  const auto *known =
      llvm::find_if(definition.attributes, [&](const auto &each) { return each.name == attribute.name; });
  if (known == definition.attributes.end()) {
    auto names = llvm::map_to_vector(definition.attributes, [](const auto &each) { return each.name; });
    return refuse("attribute " + quoted(attribute.name), "one of " + joinNames(names), "another");
  }
  static constexpr StringRef types[] = {"", "a number (FLOAT)", "a whole number (INT)", "a text (STRING)"};
  if (attribute.type != known->type)
    refuse("attribute '" + known->name + "'", types[known->type], "an attribute of type " + Twine(attribute.type));
}

StringRef NodeReader::named(ArrayRef<StringRef> formal, const std::vector<std::string> &actual, StringRef name) {
  size_t position = llvm::find(formal, name) - formal.begin();
  return position < actual.size() ? StringRef(actual[position]) : StringRef();
}

const Attribute *NodeReader::find(StringRef attribute) const {
  auto found = llvm::find_if(node.attributes, [&](const Attribute &each) { return each.name == attribute; });
  return found == node.attributes.end() ? nullptr : &*found;
}

int64_t NodeReader::integer(StringRef attribute, int64_t otherwise) const {
  const Attribute *found = find(attribute);
  return found ? found->integer : otherwise;
}

double NodeReader::number(StringRef attribute, double otherwise) {
  const Attribute *found = find(attribute);
  if (found && !std::isfinite(found->number))
    refuse("attribute '" + attribute + "'", "a finite number",
           std::isnan(found->number) ? "not a number" : "an infinite one");
  return found && std::isfinite(found->number) ? found->number : otherwise;
}

StringRef NodeReader::text(StringRef attribute, StringRef otherwise) const {
  const Attribute *found = find(attribute);
  return found ? StringRef(found->text) : otherwise;
}

//===----------------------------------------------------------------------===//
// What the model says of tensors
//===----------------------------------------------------------------------===//

const TensorType *NodeReader::typeOf(StringRef input) const {
  auto found = model.types.find(named(definition.inputs, node.inputs, input));
  return found == model.types.end() ? nullptr : &found->second;
}

size_t NodeReader::rank(StringRef input) const {
  const TensorType *type = typeOf(input);
  return type && type->shape ? type->shape->size() : 0;
}

int64_t NodeReader::size(StringRef input, int axis) {
  const TensorType *type = typeOf(input);
  int64_t rank = static_cast<int64_t>(this->rank(input)), place = axis < 0 ? rank + axis : axis;
  int64_t found = place >= 0 && place < rank ? (*type->shape)[place] : 0;
  if (found >= 1 && found <= INT32_MAX)
    return found;
  refuse("input '" + input + "'", "a size that the model states in dimension " + Twine(axis),
         found ? Twine(found).str()
               : "none; give the model's inputs their shapes, and infer the others with onnx.shape_inference");
  return 1;
}

int64_t NodeReader::widthOf(StringRef input, int64_t count, StringRef countName) {
  int64_t whole = size(input, -1);
  if (whole % count == 0)
    return whole / count;
  refuse("input '" + input + "'", "a last size that is a multiple of " + countName + " (" + Twine(count) + ")",
         Twine(whole));
  return 1;
}

StringRef NodeReader::dtype(ArrayRef<StringRef> inputs) {
  static constexpr std::pair<int64_t, StringRef> known[] = {{Float, "f32"}, {Float16, "f16"}, {BFloat16, "bf16"}};
  StringRef shared;
  for (StringRef input : inputs) {
    const TensorType *type = typeOf(input);
    int64_t element = type ? type->element : Unknown;
    const auto *found = llvm::find_if(known, [&](const auto &each) { return each.first == element; });
    StringRef name = found == std::end(known) ? "" : found->second;
    if (element == Unknown && !shared.empty())
      continue; // an operator's inputs of one type parameter
    if (name.empty())
      refuse("input '" + input + "'", "a tensor of float, float16 or bfloat16",
             element ? "an element type of number " + Twine(element).str()
                     : "an unknown type; give the model's inputs their types");
    else if (!shared.empty() && shared != name)
      refuse("input '" + input + "'", shared + ", as input '" + inputs.front() + "' has", name);
    shared = shared.empty() ? name : shared;
  }
  return shared;
}

NodeSpec NodeReader::begin() const {
  NodeSpec spec;
  spec.node = node.shown().str();
  spec.op = definition.name.str();
  for (StringRef formal : definition.inputs)
    if (has(formal))
      spec.inputs.push_back({formal, named(definition.inputs, node.inputs, formal).str()});
  for (StringRef formal : definition.outputs)
    if (gives(formal))
      spec.outputs.push_back({formal, named(definition.outputs, node.outputs, formal).str()});
  return spec;
}
