//===- ParseMechanism.cpp - Mechanisms, parts and what modifies them -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Grammar.h"
#include "ParseFields.h"

#include "llvm/Support/MathExtras.h"

namespace attune {

namespace {
/// The kinds that a mapping may be of, and the fields of each.
struct KindTable {
  grammar::Names names;
  llvm::SmallVector<llvm::StringRef> allFields;
  grammar::Names (*fieldsOf)(unsigned kind);
  std::string (*owners)(llvm::StringRef field); ///< the kinds that have it, as a list; empty: none
};
} // namespace

/// Reports fields that this kind does not have. Of a wrong kind, only fields that no kind has.
static void allowFieldsOf(Fields &fields, std::optional<unsigned> kind, const KindTable &table, llvm::StringRef what) {
  if (!kind)
    return fields.allowOnly(table.allFields, what);
  std::string name = (what + " " + table.names[*kind]).str();
  fields.allowOnly(table.fieldsOf(*kind), name, [&](llvm::StringRef key) -> std::string {
    std::string list = table.owners(key);
    return list.empty() ? grammar::remarkOnField(key) : quoted(key) + " is a field of " + list;
  });
}

/// The index of `kind`; absent if it is missing or wrong. A misspelt key `kind` is found by `allowFieldsOf`, which
/// therefore comes before the report of a missing one.
static std::optional<unsigned> parseKind(Fields &fields, const KindTable &table, llvm::StringRef what) {
  std::optional<unsigned> kind;
  if (fields.has("kind"))
    kind = fields.choice("kind", table.names);
  allowFieldsOf(fields, kind, table, what);
  fields.require("kind");
  return kind;
}

FeatureMap parseFeatureMap(const Fields &mechanism) {
  Fields fields = mechanism.submap("feature_map", "feature_map");
  FeatureMap map;
  if (!fields.isMapping())
    return map;
  KindTable table{grammar::featureMapKinds(), grammar::allFeatureMapFields(),
                  [](unsigned kind) { return grammar::featureMaps()[kind].fields; }, grammar::mapsWithField};
  std::optional<unsigned> kind = parseKind(fields, table, "feature_map");
  if (!kind)
    return map;
  const grammar::FeatureMapRow &row = grammar::featureMaps()[*kind];
  map = row.defaults;
  auto takes = [&](llvm::StringRef field) { return llvm::is_contained(row.fields, field); };
  if (takes("features"))
    map.features = fields.size("features");
  if (takes("per_head"))
    map.perHead = fields.boolean("per_head", map.perHead);
  if (takes("max_position"))
    map.maxPosition = fields.size("max_position");
  if (takes("power"))
    map.power = fields.positive("power", map.power);
  if (takes("epsilon")) // a focused map divides by the norm of y^p, which is above 0 only if ε is
    map.epsilon = takes("power") ? fields.positive("epsilon", map.epsilon) : fields.atLeastZero("epsilon", map.epsilon);
  if (takes("normalize"))
    map.normalize = fields.boolean("normalize", map.normalize);
  if (takes("stabilizer") && fields.has("stabilizer"))
    map.stabilizer = static_cast<Stabilizer>(fields.choice("stabilizer", grammar::stabilizers()).value_or(0));
  return map;
}

/// S35: `none`, a mapping, or something wrong. Whether `none` is allowed depends on `low_rank.order` and on `causal`; where one of
/// them is wrong itself, nothing is reported of `none`.
static void parseDenominator(Fields &fields, Mechanism &mechanism) {
  ParseState &state = fields.parseState();
  bool orderKnown = state.isGood(fields.pathOf("low_rank.order"));
  bool naive = mechanism.kind == MechanismKind::Kernel && mechanism.lowRank &&
               mechanism.lowRank->order == CompressionOrder::AfterMap;
  const YamlNode *node = fields.valueOf("denominator");
  mechanism.denominator.none = node && scalarOf(*node).type == ScalarValue::String && node->text == "none";
  if (!orderKnown && (!node || node->kind != YamlNode::Mapping))
    return state.markBad(fields.pathOf("denominator"));
  if (naive && orderKnown) {
    if (!node)
      fields.missing("denominator");
    else if (!mechanism.denominator.none)
      fields.wrongValue("denominator", "none with order: after_map (a signed E makes the row sum change sign)",
                        "write `denominator: none`");
    return;
  }
  if (mechanism.denominator.none) {
    bool mayBeNone = mechanism.kind == MechanismKind::Kernel && (state.spec.causal || !state.isGood("causal"));
    if (!mayBeNone)
      fields.wrongValue("denominator", "a mapping (none only with order: after_map or a causal kernel)",
                        "write {bias: 0, floor: 0} or remove it");
    return;
  }
  if (!node) {
    mechanism.denominator.none = mechanism.kind == MechanismKind::Kernel && !mechanism.featureMap.divides;
    return;
  }
  Fields guard = fields.submap("denominator", "denominator");
  guard.allowOnly({"bias", "floor"}, "denominator");
  mechanism.denominator.bias = guard.atLeastZero("bias", 0);
  mechanism.denominator.floor = guard.atLeastZero("floor", mechanism.denominator.floor);
}

/// `{per: …}`, one of the last of `grammar::decays()`.
static Per parsePer(const Fields &mechanism, llvm::StringRef field, grammar::Names names) {
  Fields fields = mechanism.submap(field, field.str());
  fields.allowOnly({"per"}, field.str());
  std::optional<unsigned> per;
  if (fields.require("per"))
    per = fields.choice("per", names);
  return static_cast<Per>(grammar::decays().size() - names.size() + per.value_or(0));
}

static void parseKindFields(Fields &fields, Mechanism &mechanism) {
  auto powerOfTwo = [](int64_t x) { return static_cast<int64_t>(llvm::PowerOf2Ceil(x)); };
  switch (mechanism.kind) {
  case MechanismKind::Polynomial:
    mechanism.degree = fields.sizeThat("degree", [](int64_t x) { return x + x % 2; }, "an even integer >= 2");
    break;
  case MechanismKind::Polysketch:
    mechanism.degree = fields.sizeThat(
        "degree", [&](int64_t x) { return std::max<int64_t>(4, powerOfTwo(x)); }, "4, 8, 16, ... (2 times a power of two)");
    mechanism.sketchSize = fields.sizeThat("size", powerOfTwo, "a power of two");
    if (fields.has("local_exact"))
      mechanism.localExact = fields.size("local_exact");
    break;
  case MechanismKind::Agent:
    mechanism.agents = fields.size("agents");
    break;
  case MechanismKind::Eva:
    mechanism.chunk = fields.size("chunk");
    mechanism.muWeight = fields.finite("mu_weight", 0.5);
    mechanism.excludeLocal = fields.boolean("exclude_local", false);
    mechanism.mass = fields.boolean("mass", false);
    break;
  case MechanismKind::Kernel:
    if (fields.require("feature_map"))
      mechanism.featureMap = parseFeatureMap(fields);
    mechanism.denominator.floor = mechanism.featureMap.floor;
    break;
  case MechanismKind::Softmax:
  case MechanismKind::Effatt:
    break;
  }
}

Mechanism parseMechanism(Fields &owner) {
  Fields fields = owner.submap("mechanism", "mechanism");
  Mechanism mechanism;
  if (!fields.isMapping())
    return mechanism;
  KindTable table{grammar::mechanismKinds(), grammar::allMechanismFields(),
                  [](unsigned kind) { return grammar::fieldsOf(static_cast<MechanismKind>(kind)); },
                  grammar::kindsWithField};
  std::optional<unsigned> kind = parseKind(fields, table, "mechanism");
  if (kind) {
    mechanism.kind = static_cast<MechanismKind>(*kind);
    parseKindFields(fields, mechanism);
  }
  auto allowed = [&](llvm::StringRef name) {
    return fields.has(name) && (!kind || llvm::is_contained(grammar::fieldsOf(mechanism.kind), name));
  };
  if (!kind && allowed("feature_map")) // for the mistakes in it alone
    parseFeatureMap(fields);
  if (allowed("window"))
    mechanism.window = parseWindow(fields, mechanism.kind == MechanismKind::Eva);
  if (allowed("low_rank"))
    mechanism.lowRank = parseLowRank(fields);
  if (kind && llvm::is_contained(grammar::fieldsOf(mechanism.kind), "denominator"))
    parseDenominator(fields, mechanism);
  if (allowed("lepe"))
    mechanism.lepe = parseLepe(fields);
  if (allowed("softcap"))
    mechanism.softcap = fields.positive("softcap", 1);
  if (allowed("alibi"))
    mechanism.alibi = fields.boolean("alibi", false);
  if (allowed("decay"))
    mechanism.decay = parsePer(fields, "decay", grammar::decays());
  if (allowed("erase"))
    mechanism.erase = parsePer(fields, "erase", grammar::gates());
  if (allowed("write"))
    mechanism.write = parsePer(fields, "write", grammar::gates());
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
