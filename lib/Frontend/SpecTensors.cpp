//===- SpecTensors.cpp - Names and shapes of a spec's tensors ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecTensors.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace attune {

using Shape = llvm::SmallVector<Size, 4>;

/// The deviation of what a paper initialises with 0: a test should see it all the same.
static constexpr double fromZero = 0.1;

/// A bound (with `qk_norm`) or twice the mean (without) of |φ(k)|² for normal inputs: β in units of it contracts.
static double featureNorm(const Spec &spec, const Mechanism &mechanism) {
  auto d = static_cast<double>(spec.headDim);
  double squares = !spec.qkNorm ? 2 * d : spec.qkNorm->l2 ? 1 : d;
  double shifted = std::sqrt(squares) + std::sqrt(d); // elu(x) + 1
  return mechanism.featureMap.kind == FeatureMapKind::Elu1 ? shifted * shifted : squares;
}

/// What the tokens of a part leave, erase and write.
static void listGates(const Spec &spec, const Part &part, std::vector<SpecTensor> &out) {
  const Mechanism &m = part.mechanism;
  auto add = [&](llvm::StringRef name, std::optional<Per> per, int64_t entries, llvm::StringRef field, Elements elements,
                 double deviation) {
    if (!per || *per == Per::Head)
      return;
    Shape shape{spec.batch, part.heads / spec.headsPerKvHead(), spec.keys};
    if (*per == Per::Channel)
      shape.push_back(entries);
    // In f16 or bf16 what little a token erases of a decay near 1 would be lost.
    out.push_back({part.prefix + name.str(), ElementType::F32, std::move(shape), part.path + "mechanism." + field.str(), elements,
                   deviation});
  };
  int64_t features = m.featureMap.features ? m.featureMap.features : spec.headDim;
  add("g", m.decay, features, "decay", Elements::LogGate, 1);
  add("beta", m.erase, features, "erase", Elements::Gate, 1 / featureNorm(spec, m));
  add("w", m.write, spec.valueDim, "write", Elements::Gate, 1);
}

std::vector<SpecTensor> inputTensors(const Spec &spec) {
  std::vector<SpecTensor> result;
  if (spec.projection) {
    result.push_back({"x", spec.dtype, {spec.batch, spec.queries, spec.projection->modelDim}, "queries"});
    if (spec.projection->cross)
      result.push_back({"context", spec.dtype, {spec.batch, spec.keys, spec.projection->modelDim}, "keys"});
  } else {
    result.push_back({"q", spec.dtype, {spec.batch, spec.queryHeads(), spec.queries, spec.headDim}, "queries"});
    result.push_back({"k", spec.dtype, {spec.batch, spec.keyHeads(), spec.keys, spec.headDim}, "keys"});
    result.push_back({"v", spec.dtype, {spec.batch, spec.kvHeads, spec.keys, spec.valueDim}, "keys"});
  }
  if (spec.keyLengths) // 0 … N
    result.push_back({"key_lengths", ElementType::I32, {spec.batch}, "key_lengths", Elements::Index, 0,
                      spec.keys ? Size(*spec.keys + 1) : std::nullopt});
  for (const Part &part : spec.parts)
    listGates(spec, part, result);
  return result;
}

SpecTensor outputTensor(const Spec &spec) {
  if (spec.projection && spec.projection->output)
    return {"y", spec.dtype, {spec.batch, spec.queries, spec.projection->modelDim}, "projection"};
  return {"o", spec.dtype, {spec.batch, spec.heads, spec.queries, spec.valueDim}, "attention"};
}

SpecTensor lseTensor(const Spec &spec) {
  return {"lse", ElementType::F32, {spec.batch, spec.heads, spec.queries}, "results"};
}

namespace {

/// Lists the parameters of one part.
class PartParameters {
public:
  PartParameters(const Spec &spec, const Part &part, std::vector<SpecTensor> &out)
      : spec(spec), part(part), m(part.mechanism), out(out) {}
  void list() {
    listFeatureMap();
    listCompression();
    listLepe();
    if (m.kind == MechanismKind::Polysketch)
      listSketch();
    if (m.decay == Per::Head)
      add("log_decay", {part.heads / spec.headsPerKvHead()}, "decay", Elements::Retention);
    if (m.alibi) {
      add("slope", {part.heads}, "alibi", Elements::Slope);
      out.back().first = part.firstHead, out.back().heads = spec.heads;
    }
  }

private:
  void add(const std::string &name, Shape shape, llvm::StringRef field, Elements elements, double deviation = 1,
           Size bound = std::nullopt) {
    bool exact = elements == Elements::Retention || elements == Elements::Slope; // rounded to fewer bits, e^g would be 1
    ElementType type = elements == Elements::Index ? ElementType::I32 : exact ? ElementType::F32 : spec.dtype;
    out.push_back({part.prefix + name, type, std::move(shape), part.path + "mechanism." + field.str(), elements,
                   deviation, bound});
  }
  /// A random sign of each entry and an index of each entry that is kept.
  void addSketch(const std::string &sign, const std::string &index, int64_t width) {
    add(sign, {part.heads, width}, "size", Elements::Sign);
    add(index, {part.heads, m.sketchSize}, "size", Elements::Index, 0, width);
  }
  void listFeatureMap();
  void listCompression();
  void listLepe();
  void listSketch();

  const Spec &spec;
  const Part &part;
  const Mechanism &m;
  std::vector<SpecTensor> &out;
};

} // namespace

void PartParameters::listFeatureMap() {
  const FeatureMap &map = m.featureMap;
  if (m.isKernel(FeatureMapKind::Favor) || m.isKernel(FeatureMapKind::FavorRelu))
    add("omega", {map.perHead ? part.heads : 1, map.features, spec.headDim}, "feature_map", Elements::Orthogonal);
  if (m.isKernel(FeatureMapKind::Focused))
    add("focus", {part.heads, spec.headDim}, "feature_map", Elements::Normal, fromZero);
}

void PartParameters::listCompression() {
  if (!m.lowRank)
    return;
  Shape shape = {m.lowRank->perHead ? part.heads / spec.headsPerKvHead() : 1, m.lowRank->rank, spec.keys};
  double deviation = 1 / std::sqrt(static_cast<double>(m.lowRank->rank));
  add("e", shape, "low_rank", Elements::Normal, deviation);
  if (!m.lowRank->tied)
    add("f", shape, "low_rank", Elements::Normal, deviation);
}

void PartParameters::listLepe() {
  if (!m.lepe)
    return;
  bool windowGrid = m.window && m.kind != MechanismKind::Eva && m.window->grid;
  bool image = m.lepe->grid || windowGrid;
  Shape weight = {part.heads, spec.valueDim, 3};
  if (image)
    weight.push_back(3);
  add("lepe.weight", weight, "lepe", Elements::Normal, 1 / std::sqrt(image ? 9.0 : 3.0));
  if (m.lepe->bias)
    add("lepe.bias", {part.heads, spec.valueDim}, "lepe", Elements::Normal, fromZero);
}

void PartParameters::listSketch() {
  int64_t padded = llvm::PowerOf2Ceil(spec.headDim), leaves = m.degree / 2;
  for (int64_t i = 0; i < leaves; ++i) {
    std::string name = "sketch.leaf" + std::to_string(i);
    addSketch(name + ".sign", name + ".index", padded);
  }
  for (int64_t j = 0; j + 1 < leaves; ++j)
    for (const char *side : {"a", "b"}) {
      std::string name = "sketch.node" + std::to_string(j);
      addSketch(name + ".sign_" + side, name + ".index_" + side, m.sketchSize);
    }
}

static void listProjection(const Spec &spec, std::vector<SpecTensor> &out) {
  const Projection &projection = *spec.projection;
  int64_t model = projection.modelDim, query = spec.queryHeads() * spec.headDim, key = spec.keyHeads() * spec.headDim;
  int64_t value = spec.kvHeads * spec.valueDim;
  auto add = [&](const char *name, Shape shape) {
    // A weight's deviation is the root of one over its fan-in; a bias is learned from zero.
    double deviation = shape.size() == 1 ? fromZero : 1 / std::sqrt(static_cast<double>(*shape[0]));
    out.push_back({name, spec.dtype, std::move(shape), "projection", Elements::Normal, deviation});
  };
  add("wq", {model, query});
  add("wk", {model, key});
  add("wv", {model, value});
  if (projection.output)
    add("wo", {spec.heads * spec.valueDim, model});
  if (!projection.bias)
    return;
  add("bq", {query});
  add("bk", {key});
  add("bv", {value});
  if (projection.output)
    add("bo", {model});
}

std::vector<SpecTensor> parameterTensors(const Spec &spec) {
  std::vector<SpecTensor> result;
  if (spec.projection)
    listProjection(spec, result);
  for (const Part &part : spec.parts)
    PartParameters(spec, part, result).list();
  return result;
}

} // namespace attune
