//===- WriteSpec.cpp - A spec as YAML -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/WriteSpec.h"

#include "MechanismKind.h"
#include "ParseFields.h"

#include "llvm/ADT/STLExtras.h"

#include <charconv>

namespace attune {

std::string yamlOf(double number) {
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, std::end(buffer), number).ptr);
}

std::string writeMechanism(const Mechanism &mechanism) {
  Mechanism copy = mechanism; // which is only read
  FlowMap fields;
  FieldIO io(fields.add("kind", copy.name().str()));
  copy.kind->visit(io, copy);
  for (const MechanismField *field : mechanismFields())
    field->visit(io, copy);
  return fields.str();
}

template <typename T> static std::string written(T fields) {
  FlowMap text;
  FieldIO io(text);
  visitFields(io, fields);
  return text.str();
}

static std::string writePins(llvm::ArrayRef<Pin> pins) {
  FlowMap fields;
  for (const Pin &pin : pins)
    fields.add(pin.law, pin.form);
  return fields.str();
}

/// A C identifier, which YAML may take for something else.
static std::string writeName(llvm::StringRef name) {
  bool isWord = name.equals_insensitive("true") || name.equals_insensitive("false") || name.equals_insensitive("null");
  return isWord ? "'" + name.str() + "'" : name.str();
}

std::string writeSpec(const Spec &spec) {
  std::string yaml;
  auto line = [&](llvm::StringRef name, const auto &value) { yaml += name.str() + ": " + yamlOf(value) + "\n"; };
  line("attention", writeName(spec.name));
  line("dtype", nameOf(spec.dtype));
  if (spec.packed)
    line("packed", true), line("sequences", spec.sequences);
  else
    line("batch", spec.batch);
  line("queries", spec.queries);
  if (!spec.keysFollowQueries)
    line("keys", spec.keys);
  line("heads", spec.heads);
  if (spec.kvHeads != spec.heads)
    line("kv_heads", spec.kvHeads);
  if (spec.qkHeads)
    line("qk_heads", *spec.qkHeads);
  line("head_dim", spec.headDim);
  if (spec.valueDim != spec.headDim)
    line("value_dim", spec.valueDim);
  if (spec.causal)
    line("causal", true);
  if (spec.keyLengths)
    line("key_lengths", true);
  if (spec.scale)
    line("scale", *spec.scale);
  if (spec.projection)
    line("projection", written(*spec.projection));
  if (spec.rope)
    line("rope", written(*spec.rope));
  if (spec.qkNorm)
    line("qk_norm", written(*spec.qkNorm));
  if (spec.lse)
    line("results", llvm::StringRef("[lse]"));
  if (spec.hasState()) {
    FlowMap state;
    for (auto [name, is] : {std::pair("initial", spec.initialState), std::pair("final", spec.finalState)})
      if (is)
        state.add(name, "true");
    line("state", state.str());
  }
  if (spec.allGradients)
    line("gradients", llvm::StringRef("all"));
  else if (spec.hasGradients())
    line("gradients", "[" + llvm::join(spec.gradients, ", ") + "]");
  if (!spec.allow.empty())
    line("allow", "[" + llvm::join(spec.allow, ", ") + "]");
  if (!spec.pin.empty())
    line("pin", writePins(spec.pin));
  if (!spec.hasParts)
    line("mechanism", writeMechanism(spec.parts.front().mechanism));
  else
    yaml += "parts:\n";
  for (const Part &part : spec.hasParts ? llvm::ArrayRef(spec.parts) : llvm::ArrayRef<Part>())
    yaml += "  - heads: " + yamlOf(part.heads) + "\n    mechanism: " + writeMechanism(part.mechanism) + "\n";
  return yaml;
}

} // namespace attune
