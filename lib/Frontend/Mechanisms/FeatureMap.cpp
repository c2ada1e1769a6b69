//===- FeatureMap.cpp - What queries and keys become ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureMap.h"

#include "../MechanismKind.h"

namespace attune {

//===----------------------------------------------------------------------===//
// The maps
//===----------------------------------------------------------------------===//

namespace {
/// A map that a spec may name, in the order in which messages list them. One without fields of its own takes no more than its row.
struct Row {
  FeatureMap defaults;
  Names fields; // `kind` first
};
} // namespace

static llvm::ArrayRef<Row> rows() {
  static constexpr llvm::StringRef favor[] = {"kind", "features", "per_head", "epsilon", "stabilizer"};
  static constexpr llvm::StringRef favorRelu[] = {"kind", "features", "per_head", "epsilon", "normalize"};
  static constexpr llvm::StringRef plain[] = {"kind"};
  static constexpr llvm::StringRef cosformer[] = {"kind", "max_position"};
  static constexpr llvm::StringRef focused[] = {"kind", "power", "epsilon"};
  static constexpr Row all[] = {
      {{.kind = FeatureMapKind::Favor, .normalize = true}, favor},
      {{.kind = FeatureMapKind::FavorRelu, .epsilon = 1e-3}, favorRelu},
      {{.kind = FeatureMapKind::Elu1}, plain},
      {{.kind = FeatureMapKind::Relu, .floor = 1e-6}, plain},
      {{.kind = FeatureMapKind::Cosformer, .floor = 1e-6}, cosformer},
      {{.kind = FeatureMapKind::Focused, .epsilon = 1e-6, .power = 3}, focused},
      {{.kind = FeatureMapKind::Identity, .normalize = true, .divides = false}, plain},
  };
  return all;
}

Names mapsThatDecay() {
  static constexpr llvm::StringRef names[] = {"identity", "elu1", "relu", "favor_relu", "focused"};
  return names;
}

Names mapsThatErase() { return mapsThatDecay().take_front(3); }

double boundOfFeatures(FeatureMapKind map, double squares, double width) {
  double shifted = std::sqrt(squares) + std::sqrt(width); // elu(x) + 1
  return map == FeatureMapKind::Elu1 ? shifted * shifted : squares;
}

static const Row &rowOf(FeatureMapKind kind) {
  return *llvm::find_if(rows(), [&](const Row &row) { return row.defaults.kind == kind; });
}

FeatureMap featureMapOf(FeatureMapKind kind) { return rowOf(kind).defaults; }

/// Whether a mechanism's map has the field.
static bool takes(const Mechanism &m, llvm::StringRef field) {
  return m.isKernel() && llvm::is_contained(rowOf(m.featureMap.kind).fields, field);
}

bool hasPlaces(const Mechanism &m) { return takes(m, "max_position"); }

bool hasFeaturesOfHeads(const Mechanism &m) { return m.featureMap.perHead || takes(m, "power"); }

const KindTable &featureMapTable() {
  static const KindTable table = [] {
    KindTable maps("feature_map");
    for (const Row &row : rows())
      maps.add(attn::stringifyFeatureKind(row.defaults.kind), row.fields);
    return maps;
  }();
  return table;
}

Names stabilizers() {
  static constexpr llvm::StringRef names[] = {"constant", "max", "projection", "none"};
  return names;
}

//===----------------------------------------------------------------------===//
// The field
//===----------------------------------------------------------------------===//

namespace {
struct FeatureMapField : MechanismField {
  constexpr FeatureMapField() : MechanismField("feature_map") {}
  void visit(FieldIO &mechanism, Mechanism &m) const override;
  void check(PartRules &rules) const override;
  void checkSizes(PartSizes &sizes) const override;
  void addParameters(PartTensors &tensors) const override;
};
} // namespace

static void visitFields(FieldIO &fields, FeatureMap &map) {
  const Row &row = rowOf(map.kind);
  const FeatureMap &standard = row.defaults;
  auto takes = [&](llvm::StringRef field) { return llvm::is_contained(row.fields, field); };
  if (takes("features"))
    fields.size("features", map.features);
  if (takes("per_head"))
    fields.boolean("per_head", map.perHead, standard.perHead);
  if (takes("max_position"))
    fields.size("max_position", map.maxPosition);
  if (takes("power"))
    fields.positive("power", map.power, standard.power);
  if (takes("power")) // a focused map divides by the norm of y^p, which is above 0 only if ε is
    fields.positive("epsilon", map.epsilon, standard.epsilon);
  else if (takes("epsilon"))
    fields.atLeastZero("epsilon", map.epsilon, standard.epsilon);
  if (takes("normalize"))
    fields.boolean("normalize", map.normalize, standard.normalize);
  if (takes("stabilizer"))
    fields.choice("stabilizer", map.stabilizer, stabilizers());
}

void FeatureMapField::visit(FieldIO &mechanism, Mechanism &m) const {
  if (mechanism.in && mechanism.in->has(name)) {
    Fields fields = mechanism.in->submap(name, "feature_map");
    std::optional<unsigned> kind = fields.isMapping() ? featureMapTable().parse(fields) : std::nullopt;
    if (!kind)
      return;
    m.featureMap = rows()[*kind].defaults;
    m.denominator.floor = m.featureMap.floor;
    FieldIO io(fields);
    visitFields(io, m.featureMap);
  } else if (mechanism.out && m.isKernel()) {
    FlowMap text;
    FieldIO io(text.add("kind", attn::stringifyFeatureKind(m.featureMap.kind).str()));
    visitFields(io, m.featureMap);
    mechanism.out->add(name, text.str());
  }
}

/// S38: what makes FAVOR's key maximum part of the function.
static void checkStabilizer(PartRules &rules) {
  const FeatureMap &map = rules.m.featureMap;
  const Denominator &denominator = rules.m.denominator;
  bool overKeys = map.stabilizer == Stabilizer::Max || map.stabilizer == Stabilizer::Projection;
  if (!takes(rules.m, "stabilizer") || !overKeys || !rules.good({"feature_map.stabilizer"}) || !rules.causal() ||
      !rules.good({"denominator", "denominator.bias", "denominator.floor", "feature_map.epsilon"}))
    return;
  bool guarded = map.epsilon > 0 || denominator.bias > 0 || denominator.floor > 0;
  if (guarded && !denominator.none)
    rules.atValue("feature_map.stabilizer",
                        "constant or none (a maximum over the keys leaks the future when epsilon or the denominator's guard "
                        "is not 0)",
                        map.stabilizer == Stabilizer::Max ? "'max'" : "'projection'",
                        "write `stabilizer: constant`, or make epsilon and the guard 0");
}

/// S55: without a mask, keys and values of any sign would meet as one product that nothing divides.
static void checkDivision(PartRules &rules) {
  if (rules.m.isKernel() && !rules.m.featureMap.divides && rules.notCausal())
    rules.atValue("feature_map.kind", "causal: true with identity", "causal: false",
                        "add `causal: true`, or take another map");
}

void refuseSharedHeads(PartRules &rules) {
  if (hasFeaturesOfHeads(rules.m) && rules.rules.good({"heads", "kv_heads"}) && rules.spec.headsPerKvHead() > 1)
    rules.atValue("feature_map.kind", "kv_heads = heads for a feature map with parameters of each query head",
                  std::to_string(rules.spec.kvHeads) + " and " + std::to_string(rules.spec.heads),
                  "query heads that share a key-value head share its state");
}

void FeatureMapField::check(PartRules &rules) const {
  if (!rules.good({"kind", "feature_map.kind"}))
    return;
  checkStabilizer(rules);
  checkDivision(rules);
  bool gated = rules.m.decay || rules.m.erase || rules.m.write; // which asks the same
  if (rules.spec.hasState() && rules.m.isKernel() && !gated)
    refuseSharedHeads(rules);
}

/// S39: every position of cosFormer has an angle. Places begin with each packed sequence: what a run gives says how long they are.
void FeatureMapField::checkSizes(PartSizes &of) const {
  int64_t most = of.m.featureMap.maxPosition;
  if (!hasPlaces(of.m) || of.spec.packed || !of.good({"kind", "feature_map", "feature_map.kind", "feature_map.max_position"}))
    return;
  std::pair<Size, const char *> sizes[] = {{of.queries, "queries"}, {of.keys, "keys"}};
  for (auto [size, what] : sizes)
    if (size && *size > most)
      of.atValue("feature_map.max_position", "at least " + std::string(what) + " = " + std::to_string(*size),
                       shown(most), "positions beyond it have no angle");
}

void FeatureMapField::addParameters(PartTensors &tensors) const {
  const FeatureMap &map = tensors.m.featureMap;
  int64_t heads = tensors.part.heads, d = tensors.spec.headDim;
  if (takes(tensors.m, "features"))
    tensors.add("omega", {map.perHead ? heads : 1, map.features, d}, name, Elements::Orthogonal);
  if (takes(tensors.m, "power"))
    tensors.add("focus", {heads, d}, name, Elements::Normal, fromZero);
}

attn::FeatureMapAttr PartBuilder::featureMap() const {
  const FeatureMap &map = m.featureMap;
  double logits = map.normalize ? b.spec.logitScale(part) : 0;
  // Without a normaliser nothing would undo the stabilizer, so there is none.
  bool unstabilized = takes(m, "stabilizer") && m.denominator.none;
  return attn::FeatureMapAttr::get(b.builder.getContext(), map.kind, map.features, map.epsilon, logits, map.power, map.maxPosition,
                                   unstabilized ? Stabilizer::None : map.stabilizer);
}

static constexpr FeatureMapField featureMap;
const MechanismField &featureMapField = featureMap;

} // namespace attune
