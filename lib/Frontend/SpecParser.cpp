//===- SpecParser.cpp - From YAML to a checked spec ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"

#include "ParseFields.h"
#include "SpecRules.h"

#include "attune/Onnx/NodeSpec.h"

#include "llvm/Support/ErrorHandling.h"

namespace attune {

int exitStatus(SpecStatus status) {
  switch (status) {
  case SpecStatus::Good:
    return 0;
  case SpecStatus::TooLarge:
    return 1;
  case SpecStatus::Invalid:
    return 2;
  }
  llvm_unreachable("every status is above");
}

SpecStatus parseSpec(const SourceFile &file, Spec &spec, Diagnostics &diagnostics) {
  std::unique_ptr<YamlNode> root = parseYaml(file, diagnostics);
  if (!root)
    return SpecStatus::Invalid;
  ParseState state(spec, diagnostics);
  spec.places[""] = {root->at, root->at};
  Fields top(state, *root, "", "the spec");
  if (!top.isMapping())
    return SpecStatus::Invalid;
  parseTop(top);
  parseParts(top);
  parseLaws(top);
  RuleReporter rules(state);
  checkRules(rules);
  checkSizeRules(rules);
  if (!diagnostics.empty())
    return SpecStatus::Invalid;
  checkParameterCount(rules);
  if (!diagnostics.empty())
    return SpecStatus::TooLarge;
  checkGradients(rules);
  checkPins(rules);
  return diagnostics.empty() ? SpecStatus::Good : SpecStatus::Invalid;
}

llvm::Expected<SourceFile> readSpec(llvm::StringRef path) {
  if (std::optional<onnx::NodePath> node = onnx::nodePathOf(path)) {
    llvm::Expected<onnx::NodeSpec> read = onnx::readNode(*node);
    if (!read)
      return read.takeError();
    return SourceFile(path.str(), read->yaml());
  }
  llvm::Expected<SourceFile> file = SourceFile::read(path, largestSpec);
  if (!file)
    return llvm::createStringError(path + ":1:1: error: " + llvm::toString(file.takeError()));
  return file;
}

SpecStatus loadSpec(llvm::StringRef path, Spec &spec, llvm::raw_ostream &errors) {
  llvm::Expected<SourceFile> file = readSpec(path);
  if (!file) {
    errors << llvm::toString(file.takeError()) << '\n';
    return SpecStatus::Invalid;
  }
  Diagnostics diagnostics;
  SpecStatus status = parseSpec(*file, spec, diagnostics);
  print(diagnostics, *file, errors);
  return status;
}

/// Whether the keys are as many as the queries because they are the same tokens, or because the spec does not say it.
static bool keysAreQueries(const Spec &spec) {
  return spec.keysFollowQueries || (spec.projection && !spec.projection->cross);
}

Spec resolveSizes(const Spec &spec, Size batch, Size queries, Size keys) {
  Spec resolved = spec;
  resolved.batch = spec.batch ? spec.batch : batch;
  resolved.queries = spec.queries ? spec.queries : queries;
  if (!resolved.keys)
    resolved.keys = keysAreQueries(spec) ? resolved.queries : keys;
  return resolved;
}

void noteIgnoredSizes(const Spec &spec, Size batch, Size queries, Size keys, llvm::raw_ostream &notes) {
  auto note = [&](const char *what, Size own, Size given) {
    if (own && given && *own != *given)
      notes << "note: --" << what << " " << *given << " is ignored: " << spec.name << " has " << what << ": " << *own
            << "; write '?' there to leave it open\n";
  };
  note("batch", spec.batch, batch), note("queries", spec.queries, queries);
  if (!keysAreQueries(spec))
    note("keys", spec.keys, keys);
  else if (Size tokens = spec.queries ? spec.queries : queries; keys && tokens && *keys != *tokens)
    notes << "note: --keys " << *keys << " is ignored: the keys of " << spec.name << " are those of its " << *tokens << " queries\n";
}

bool checkSizes(const Spec &resolved, Diagnostics &diagnostics) {
  Spec copy = resolved;
  ParseState state(copy, diagnostics);
  RuleReporter rules(state);
  size_t before = diagnostics.size();
  checkSizeRules(rules);
  return diagnostics.size() == before;
}

} // namespace attune
