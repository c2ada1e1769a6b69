//===- FuzzOnnx.cpp - Any bytes as an ONNX model --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node that is read is written as JSON, which is read again, and as a spec, which the parser takes or refuses.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Onnx/NodeSpec.h"

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  llvm::Expected<onnx::NodeSpec> node = onnx::readNode(bytes, "", "fuzz.onnx");
  if (!node)
    return llvm::consumeError(node.takeError()), 0;
  std::string text;
  llvm::raw_string_ostream os(text);
  node->writeJson(os);
  llvm::cantFail(llvm::json::parse(text));
  Spec spec;
  Diagnostics diagnostics;
  SourceFile file("fuzz.onnx", node->yaml());
  parseSpec(file, spec, diagnostics);
  print(diagnostics, file, llvm::nulls());
  return 0;
}
