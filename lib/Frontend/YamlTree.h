//===- YamlTree.h - A YAML document with positions -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_YAMLTREE_H
#define ATTUNE_LIB_FRONTEND_YAMLTREE_H

#include "attune/Support/Diagnostics.h"

#include <memory>
#include <vector>

namespace attune {

struct YamlEntry;

/// A node of the document. Anchors and tags are reported when the tree is built; an alias is a `Refused` node, of which
/// nothing more is said.
struct YamlNode {
  enum Kind { Scalar, Sequence, Mapping, Refused };
  Kind kind = Scalar;
  Position at;
  std::string text;               // a scalar's value
  bool quoted = false;            // a scalar in quotes or of a block style: always a string
  std::vector<YamlNode> items;    // a sequence
  std::vector<YamlEntry> entries; // a mapping
};

struct YamlEntry {
  YamlNode key, value;
};

/// The only document of `file`, or null after an error that leaves nothing to look at. The depth is bounded.
std::unique_ptr<YamlNode> parseYaml(const SourceFile &file, Diagnostics &diagnostics);

/// How a message shows a node: its text in quotes, "a mapping", "a list" or "nothing".
std::string show(const YamlNode &node);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_YAMLTREE_H
