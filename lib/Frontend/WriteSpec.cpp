//===- WriteSpec.cpp - A spec as YAML -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/WriteSpec.h"

#include "Grammar.h"

#include "llvm/ADT/STLExtras.h"

#include <charconv>

namespace attune {

/// The shortest text that is read as the same number.
static std::string text(double number) {
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, std::end(buffer), number).ptr);
}
static std::string text(int64_t number) { return std::to_string(number); }
static std::string text(bool flag) { return flag ? "true" : "false"; }
static std::string text(llvm::StringRef word) { return word.str(); }
static std::string text(const Grid &grid) { return "[" + text(grid[0]) + ", " + text(grid[1]) + "]"; }
static std::string text(const Size &size) { return size ? text(*size) : "'?'"; }

namespace {
/// `{name: value, …}`.
class FlowMap {
public:
  template <typename T> FlowMap &add(llvm::StringRef name, const T &value) {
    fields += (fields.empty() ? "" : ", ") + name.str() + ": " + text(value);
    return *this;
  }
  /// Unless it is the default.
  template <typename T> FlowMap &add(llvm::StringRef name, const T &value, const T &standard) {
    return value == standard ? *this : add(name, value);
  }
  bool empty() const { return fields.empty(); }
  std::string str() const { return "{" + fields + "}"; }

private:
  std::string fields;
};
} // namespace

//===----------------------------------------------------------------------===//
// Mechanisms
//===----------------------------------------------------------------------===//

static std::string writeFeatureMap(const FeatureMap &map) {
  const FeatureMap standard = featureMapOf(map.kind);
  FlowMap fields;
  fields.add("kind", attn::stringifyFeatureKind(map.kind)).add("features", map.features, standard.features);
  fields.add("per_head", map.perHead, standard.perHead).add("max_position", map.maxPosition, standard.maxPosition);
  fields.add("power", map.power, standard.power).add("epsilon", map.epsilon, standard.epsilon);
  fields.add("normalize", map.normalize, standard.normalize);
  if (map.stabilizer != standard.stabilizer)
    fields.add("stabilizer", grammar::stabilizers()[static_cast<unsigned>(map.stabilizer)]);
  return fields.str();
}

/// Fields of other kinds have their defaults.
static void addKindFields(FlowMap &fields, const Mechanism &mechanism) {
  const Mechanism standard;
  fields.add("degree", mechanism.degree, standard.degree).add("size", mechanism.sketchSize, standard.sketchSize);
  if (mechanism.localExact)
    fields.add("local_exact", *mechanism.localExact);
  fields.add("agents", mechanism.agents, standard.agents).add("chunk", mechanism.chunk, standard.chunk);
  fields.add("mu_weight", mechanism.muWeight, standard.muWeight);
  fields.add("exclude_local", mechanism.excludeLocal, standard.excludeLocal).add("mass", mechanism.mass, standard.mass);
  if (llvm::is_contained(grammar::fieldsOf(mechanism.kind), "feature_map"))
    fields.add("feature_map", writeFeatureMap(mechanism.featureMap));
}

static std::string writeWindow(const Window &window) {
  if (window.last)
    return FlowMap().add("last", *window.last).str();
  return window.length ? FlowMap().add("length", *window.length).str()
                       : FlowMap().add("grid", *window.grid).add("size", *window.size).str();
}

static std::string writeLowRank(const LowRank &lowRank) {
  FlowMap fields;
  fields.add("rank", lowRank.rank).add("tied", lowRank.tied, true).add("per_head", lowRank.perHead, false);
  if (lowRank.order == CompressionOrder::AfterMap)
    fields.add("order", llvm::StringRef("after_map"));
  return fields.str();
}

static std::string writeLepe(const Lepe &lepe) {
  FlowMap fields;
  if (lepe.grid)
    fields.add("grid", *lepe.grid);
  return fields.add("bias", lepe.bias, false).str();
}

std::string writeMechanism(const Mechanism &mechanism) {
  FlowMap fields;
  fields.add("kind", nameOf(mechanism.kind));
  addKindFields(fields, mechanism);
  const Denominator &guard = mechanism.denominator;
  FlowMap bounds;
  bounds.add("bias", guard.bias, 0.0).add("floor", guard.floor, mechanism.featureMap.floor);
  bool standard = guard.none == !mechanism.featureMap.divides && bounds.empty();
  if (!standard)
    fields.add("denominator", guard.none ? "none" : bounds.str());
  if (mechanism.window)
    fields.add("window", writeWindow(*mechanism.window));
  if (mechanism.lowRank)
    fields.add("low_rank", writeLowRank(*mechanism.lowRank));
  if (mechanism.lepe)
    fields.add("lepe", writeLepe(*mechanism.lepe));
  if (mechanism.softcap)
    fields.add("softcap", *mechanism.softcap);
  fields.add("alibi", mechanism.alibi, false);
  for (auto [name, per] : {std::pair("decay", mechanism.decay), {"erase", mechanism.erase}, {"write", mechanism.write}})
    if (per)
      fields.add(name, FlowMap().add("per", grammar::decays()[static_cast<unsigned>(*per)]).str());
  return fields.str();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static std::string writeProjection(const Projection &projection) {
  return FlowMap()
      .add("model_dim", projection.modelDim)
      .add("output", projection.output, true)
      .add("bias", projection.bias, false)
      .add("cross", projection.cross, false)
      .str();
}

static std::string writeRope(const Rope &rope) {
  FlowMap fields;
  fields.add("base", rope.base, 10000.0);
  if (rope.half)
    fields.add("layout", llvm::StringRef("half"));
  return fields.str();
}

static std::string writeNorm(const QkNorm &norm) {
  FlowMap fields;
  if (norm.l2)
    fields.add("kind", grammar::normKinds()[1]);
  return fields.add("epsilon", norm.epsilon, QkNorm::ofKind(norm.l2).epsilon).str();
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
  auto line = [&](llvm::StringRef name, const auto &value) { yaml += name.str() + ": " + text(value) + "\n"; };
  line("attention", writeName(spec.name));
  line("dtype", nameOf(spec.dtype));
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
    line("projection", writeProjection(*spec.projection));
  if (spec.rope)
    line("rope", writeRope(*spec.rope));
  if (spec.qkNorm)
    line("qk_norm", writeNorm(*spec.qkNorm));
  if (spec.lse)
    line("results", llvm::StringRef("[lse]"));
  if (!spec.allow.empty())
    line("allow", "[" + llvm::join(spec.allow, ", ") + "]");
  if (!spec.pin.empty())
    line("pin", writePins(spec.pin));
  if (!spec.hasParts)
    line("mechanism", writeMechanism(spec.parts.front().mechanism));
  else
    yaml += "parts:\n";
  for (const Part &part : spec.hasParts ? llvm::ArrayRef(spec.parts) : llvm::ArrayRef<Part>())
    yaml += "  - heads: " + text(part.heads) + "\n    mechanism: " + writeMechanism(part.mechanism) + "\n";
  return yaml;
}

} // namespace attune
