//===- NodeSpec.cpp - The spec of a node of an ONNX model --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Onnx/NodeSpec.h"

#include "NodeReader.h"

#include "attune/Support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attune;
using namespace attune::onnx;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

std::optional<NodePath> attune::onnx::nodePathOf(StringRef path) {
  if (path.ends_with(".onnx"))
    return NodePath{path, ""};
  if (auto [file, node] = path.split(".onnx:"); file.size() < path.size())
    return NodePath{path.take_front(file.size() + 5), node};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

/// The first of them, quoted.
static std::string listed(llvm::ArrayRef<const Node *> nodes) {
  constexpr size_t most = 20;
  std::string text;
  for (const Node *node : nodes.take_front(most))
    text += (text.empty() ? "" : ", ") + quoted(node->shown());
  return nodes.empty() ? "none" : text + (nodes.size() > most ? " …" : "");
}

static llvm::Expected<const Node *> findNode(const Model &model, StringRef name) {
  std::vector<const Node *> there, found;
  for (const Node &node : model.nodes)
    if (definitionOf(node))
      there.push_back(&node);
  llvm::copy_if(there, std::back_inserter(found), [&](const Node *node) {
    return name.empty() || node->name == name || llvm::is_contained(node->outputs, name);
  });
  if (found.size() == 1)
    return found.front();
  std::string wanted = "a node of Attention or LinearAttention";
  if (found.size() > 1)
    wanted = name.empty() ? "a node's name, for there is more than one" : "one node of that name";
  return llvm::createStringError("expected " + wanted + ", but got " + (name.empty() ? "none" : quoted(name)) +
                                 "; those of the model: " + listed(there));
}

/// A C identifier after the node that is no word of C or YAML.
static std::string libraryName(StringRef node) {
  std::string name;
  for (char c : node.drop_while([](char c) { return !llvm::isAlnum(c); }))
    name += llvm::isAlnum(c) ? c : '_';
  bool isWord = llvm::all_of(name, [](char c) { return llvm::isAlpha(c); });
  return (isWord || llvm::isDigit(name.front()) ? "node_" : "") + name;
}

static llvm::Expected<NodeSpec> readNode(StringRef bytes, StringRef name) {
  llvm::Expected<Model> model = parseModel(bytes);
  if (!model)
    return model.takeError();
  llvm::Expected<const Node *> node = findNode(*model, name);
  if (!node)
    return node.takeError();
  NodeReader reader(*model, **node);
  NodeSpec spec = reader.begin();
  spec.op == "Attention" ? readAttention(reader, spec) : readLinearAttention(reader, spec);
  if (!reader.mistake().empty())
    return llvm::createStringError(reader.mistake());
  spec.fields.emplace(spec.fields.begin(), "attention", libraryName(spec.node));
  return spec;
}

llvm::Expected<NodeSpec> attune::onnx::readNode(StringRef bytes, StringRef node, StringRef name) {
  llvm::Expected<NodeSpec> spec = ::readNode(bytes, node);
  if (spec)
    return spec;
  return llvm::createStringError(name + ": error: " + llvm::toString(spec.takeError()));
}

llvm::Expected<NodeSpec> attune::onnx::readNode(const NodePath &path) {
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(path.file, status);
  if (code || status.type() != llvm::sys::fs::file_type::regular_file)
    return llvm::createStringError(path.file + ": error: expected a readable file, but got " +
                                   (code ? code.message() : "a folder or a device"));
  auto file = llvm::MemoryBuffer::getFile(path.file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError(path.file + ": error: expected a readable file, but got " +
                                   file.getError().message());
  return readNode((*file)->getBuffer(), path.node, path.file);
}

//===----------------------------------------------------------------------===//
// Written
//===----------------------------------------------------------------------===//

static bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// In the flow style of YAML, `kind` first.
static std::string flow(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (std::optional<StringRef> text = value.getAsString(); text && isWord(*text))
    return text->str();
  if (!object)
    return llvm::formatv("{0}", value).str();
  std::vector<const json::Object::value_type *> entries;
  for (const auto &entry : *object)
    entries.push_back(&entry);
  llvm::sort(entries, [](const auto *left, const auto *right) {
    return std::pair(left->first != "kind", StringRef(left->first)) <
           std::pair(right->first != "kind", StringRef(right->first));
  });
  std::string text;
  for (const auto *entry : entries)
    text += (text.empty() ? "" : ", ") + StringRef(entry->first).str() + ": " + flow(entry->second);
  return "{" + text + "}";
}

std::string NodeSpec::yaml() const {
  std::string text = "# node " + quoted(node) + " (" + op + "):";
  for (auto [own, actual] : tensors)
    text += (" " + own + " = " + actual + (own == tensors.back().first ? "\n" : ",")).str();
  for (const auto &[name, value] : fields)
    text += name.str() + ": " + flow(value) + "\n";
  return text;
}

static void writeTensors(json::OStream &out, StringRef name, llvm::ArrayRef<NodeTensor> tensors) {
  out.attributeObject(name, [&] {
    for (const NodeTensor &tensor : tensors)
      out.attribute(tensor.formal, json::fixUTF8(tensor.actual));
  });
}

void NodeSpec::writeJson(llvm::raw_ostream &os) const {
  json::OStream out(os, /*IndentSize=*/1);
  out.object([&] {
    out.attribute("node", json::fixUTF8(node));
    out.attribute("operator", op);
    writeTensors(out, "inputs", inputs);
    writeTensors(out, "outputs", outputs);
    out.attributeObject("spec", [&] {
      for (const auto &[name, value] : fields)
        out.attribute(name, value);
    });
  });
  os << "\n";
}
