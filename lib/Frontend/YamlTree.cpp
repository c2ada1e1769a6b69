//===- YamlTree.cpp - A YAML document with positions ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "YamlTree.h"

#include <yaml.h>

namespace attune {

/// A spec nests six deep; more is a mistake or an attack.
static constexpr unsigned deepest = 32;

std::string show(const YamlNode &node) {
  switch (node.kind) {
  case YamlNode::Mapping:
    return "a mapping";
  case YamlNode::Sequence:
    return "a list";
  case YamlNode::Refused:
    return "an alias";
  case YamlNode::Scalar:
    return quoted(node.text);
  }
  return "nothing";
}

static Position positionOf(const yaml_mark_t &mark) {
  return {static_cast<int64_t>(mark.line) + 1, static_cast<int64_t>(mark.column) + 1};
}

namespace {

/// Builds the tree from libyaml's events: its own document loader would accept what a spec may not hold.
class TreeBuilder {
public:
  TreeBuilder(const SourceFile &file, llvm::StringRef text, Diagnostics &diagnostics)
      : file(file), diagnostics(diagnostics) {
    ready = yaml_parser_initialize(&parser);
    if (!ready)
      return;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char *>(text.data()), text.size());
  }
  ~TreeBuilder() {
    dropEvent();
    if (ready)
      yaml_parser_delete(&parser);
  }
  TreeBuilder(const TreeBuilder &) = delete;

  std::unique_ptr<YamlNode> build();

private:
  bool next();
  void dropEvent();
  bool buildNode(YamlNode &node, unsigned depth);
  bool buildMapping(YamlNode &node, unsigned depth);
  bool buildSequence(YamlNode &node, unsigned depth);
  void refuseProperties();
  bool fail(Position at, std::string got, std::string note);

  Position placeOfNothing(Position at) const;

  const SourceFile &file;
  Diagnostics &diagnostics;
  yaml_parser_t parser;
  yaml_event_t event;
  bool ready = false, haveEvent = false;
};

} // namespace

bool TreeBuilder::fail(Position at, std::string got, std::string note) {
  diagnostics.add(at, "valid YAML", std::move(got), std::move(note));
  return false;
}

void TreeBuilder::dropEvent() {
  if (haveEvent)
    yaml_event_delete(&event);
  haveEvent = false;
}

/// Moves to the next event.
bool TreeBuilder::next() {
  dropEvent();
  if (!ready)
    return fail({1, 1}, "no memory to read it", "");
  haveEvent = yaml_parser_parse(&parser, &event);
  if (haveEvent)
    return true;
  std::string problem = parser.problem ? parser.problem : "an unknown error";
  return fail(positionOf(parser.problem_mark), "an error: " + problem,
              "check the indentation, colons, quotes and brackets at and before this place");
}

/// Anchors and tags, at the event at hand.
void TreeBuilder::refuseProperties() {
  yaml_char_t *anchor = nullptr, *tag = nullptr;
  switch (event.type) {
  case YAML_SCALAR_EVENT:
    anchor = event.data.scalar.anchor, tag = event.data.scalar.tag;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event.data.mapping_start.anchor, tag = event.data.mapping_start.tag;
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event.data.sequence_start.anchor, tag = event.data.sequence_start.tag;
    break;
  default:
    break;
  }
  if (anchor || tag || event.type == YAML_ALIAS_EVENT)
    diagnostics.add(positionOf(event.start_mark), "plain YAML", "an anchor, alias or tag",
                    "write the value itself here");
}

/// The first `count` code points of `text`.
static llvm::StringRef takeCodePoints(llvm::StringRef text, int64_t count) {
  size_t bytes = 0;
  uint32_t code;
  while (count-- > 0 && bytes < text.size())
    bytes += std::max(1u, decodeUtf8(text.drop_front(bytes), code));
  return text.take_front(bytes);
}

/// Where an absent value is missing: just after the colon before `at`, even if blanks follow it.
Position TreeBuilder::placeOfNothing(Position at) const {
  llvm::StringRef before = takeCodePoints(file.line(at.line), at.column - 1);
  size_t blanks = before.size() - before.rtrim(" \t").size();
  if (before.drop_back(blanks).ends_with(":"))
    at.column -= static_cast<int64_t>(blanks);
  return at;
}

bool TreeBuilder::buildNode(YamlNode &node, unsigned depth) {
  node.at = positionOf(event.start_mark);
  refuseProperties();
  if (depth > deepest)
    return fail(node.at, "more than " + std::to_string(deepest) + " levels",
                "a spec nests at most six levels: look for a bracket that is not closed");
  switch (event.type) {
  case YAML_MAPPING_START_EVENT:
    return buildMapping(node, depth);
  case YAML_SEQUENCE_START_EVENT:
    return buildSequence(node, depth);
  case YAML_SCALAR_EVENT:
    node.text.assign(reinterpret_cast<char *>(event.data.scalar.value), event.data.scalar.length);
    node.quoted = event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (node.text.empty() && !node.quoted)
      node.at = placeOfNothing(node.at);
    return true;
  default:
    node.kind = YamlNode::Refused;
    return true;
  }
}

bool TreeBuilder::buildMapping(YamlNode &node, unsigned depth) {
  node.kind = YamlNode::Mapping;
  while (next() && event.type != YAML_MAPPING_END_EVENT) {
    auto &[key, value] = node.entries.emplace_back();
    if (!buildNode(key, depth + 1) || !next() || !buildNode(value, depth + 1))
      return false;
  }
  return haveEvent;
}

bool TreeBuilder::buildSequence(YamlNode &node, unsigned depth) {
  node.kind = YamlNode::Sequence;
  while (next() && event.type != YAML_SEQUENCE_END_EVENT)
    if (!buildNode(node.items.emplace_back(), depth + 1))
      return false;
  return haveEvent;
}

std::unique_ptr<YamlNode> TreeBuilder::build() {
  if (!next() || !next()) // the stream starts, then a document
    return nullptr;
  if (event.type != YAML_DOCUMENT_START_EVENT) {
    diagnostics.add({1, 1}, "a mapping", "an empty file", "start with `attention: NAME`");
    return nullptr;
  }
  auto root = std::make_unique<YamlNode>();
  if (!next() || !buildNode(*root, 0))
    return nullptr;
  if (!next() || !next()) // the document ends, then the stream
    return nullptr;
  if (event.type == YAML_DOCUMENT_START_EVENT)
    fail(positionOf(event.start_mark), "a second document", "put each spec in a file of its own");
  return root;
}

/// A character that YAML allows in a file.
static bool isPrintable(uint32_t code) {
  return code == '\t' || code == '\n' || code == '\r' ||
         (code >= 0x20 && code != 0x7f && (code < 0x80 || code > 0x9f)) || code == 0x85;
}

/// The place of the first byte that is not UTF-8 or not printable; unknown if there is none.
static Position findBadCharacter(const SourceFile &file) {
  for (llvm::StringRef rest = file.text(); !rest.empty();) {
    uint32_t code = 0;
    unsigned length = decodeUtf8(rest, code);
    if (length == 0 || !isPrintable(code) || code == 0xfffe || code == 0xffff) {
      llvm::StringRef before = file.text().drop_back(rest.size());
      return {static_cast<int64_t>(before.count('\n')) + 1,
              static_cast<int64_t>(before.size() - (before.rfind('\n') + 1)) + 1};
    }
    rest = rest.drop_front(length);
  }
  return {};
}

std::unique_ptr<YamlNode> parseYaml(const SourceFile &file, Diagnostics &diagnostics) {
  if (Position bad = findBadCharacter(file); bad.known()) {
    diagnostics.add({1, 1}, "UTF-8 text", "a byte that is none",
                    "the first such byte is number " + std::to_string(bad.column) + " of line " +
                        std::to_string(bad.line));
    return nullptr;
  }
  llvm::StringRef text = file.text();
  text.consume_front("\xef\xbb\xbf"); // a byte order mark counts no column
  return TreeBuilder(file, text, diagnostics).build();
}

} // namespace attune
