//===- ParseMechanism.cpp - Mechanisms and parts -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"
#include "ParseFields.h"

namespace attune {

/// The mapping `mechanism` of `owner`, which has it.
static Mechanism parseMechanism(Fields &owner) {
  Fields fields = owner.submap("mechanism", "mechanism");
  Mechanism mechanism;
  if (!fields.isMapping())
    return mechanism;
  FieldIO io(fields);
  std::optional<unsigned> kind = mechanismTable().parse(fields);
  if (kind) {
    mechanism.kind = mechanismKinds()[*kind];
    mechanism.kind->visit(io, mechanism);
  }
  for (const MechanismField *field : mechanismFields()) // where no kind is known, for the mistakes in them alone
    if (fields.has(field->name) && (!kind || mechanism.has(field->name)))
      field->visit(io, mechanism);
  for (const MechanismField *field : mechanismFields())
    if (kind && mechanism.has(field->name))
      field->conclude(fields, mechanism);
  return mechanism;
}

/// One entry of `parts`.
static Part parsePart(ParseState &state, const YamlNode &node, unsigned index) {
  Part part;
  part.prefix = "part" + std::to_string(index) + ".";
  std::string path = "parts[" + std::to_string(index) + "]";
  part.path = path + ".";
  state.spec.places[path] = {node.at, node.at};
  Fields fields(state, node, path, "a part");
  fields.allowOnly({"heads", "mechanism"}, "a part");
  part.heads = fields.size("heads");
  if (fields.require("mechanism"))
    part.mechanism = parseMechanism(fields);
  return part;
}

void parseParts(Fields &top) {
  ParseState &state = top.parseState();
  Spec &spec = state.spec;
  spec.hasParts = top.has("parts");
  if (top.has("mechanism")) {
    Part &whole = spec.parts.emplace_back();
    whole.heads = spec.heads;
    whole.mechanism = parseMechanism(top);
  } else if (!spec.hasParts && state.isGood("parts")) {
    top.missing("mechanism");
  }
  if (!spec.hasParts)
    return;
  if (top.has("mechanism"))
    state.error(spec.placeOf("parts").key, "either mechanism or parts", "both", "remove one of the two");
  const YamlNode &list = *top.valueOf("parts");
  if (list.kind != YamlNode::Sequence || list.items.empty())
    return top.wrongValue("parts", "a list of parts", "write `- heads: …` and `mechanism: …` for each part");
  int64_t first = 0;
  unsigned index = 0;
  for (const YamlNode &node : list.items) {
    Part part = parsePart(state, node, index++);
    part.firstHead = first;
    first += part.heads;
    spec.parts.push_back(std::move(part));
  }
}

} // namespace attune
