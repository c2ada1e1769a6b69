//===- SpecTensors.cpp - Names and shapes of a spec's tensors ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecTensors.h"

#include "llvm/Support/MathExtras.h"

namespace attune {

using Shape = llvm::SmallVector<Size, 4>;

std::vector<SpecTensor> inputTensors(const Spec &spec) {
  std::vector<SpecTensor> result;
  if (spec.projection) {
    result.push_back({"x", spec.dtype, {spec.batch, spec.queries, spec.projection->modelDim}});
    if (spec.projection->cross)
      result.push_back({"context", spec.dtype, {spec.batch, spec.keys, spec.projection->modelDim}});
  } else {
    result.push_back({"q", spec.dtype, {spec.batch, spec.heads, spec.queries, spec.headDim}});
    result.push_back({"k", spec.dtype, {spec.batch, spec.kvHeads, spec.keys, spec.headDim}});
    result.push_back({"v", spec.dtype, {spec.batch, spec.kvHeads, spec.keys, spec.valueDim}});
  }
  if (spec.keyLengths)
    result.push_back({"key_lengths", ElementType::I32, {spec.batch}});
  return result;
}

SpecTensor outputTensor(const Spec &spec) {
  if (spec.projection && spec.projection->output)
    return {"y", spec.dtype, {spec.batch, spec.queries, spec.projection->modelDim}};
  return {"o", spec.dtype, {spec.batch, spec.heads, spec.queries, spec.valueDim}};
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
  }

private:
  void add(const std::string &name, Shape shape) { out.push_back({part.prefix + name, spec.dtype, std::move(shape)}); }
  void addIndex(const std::string &name, Shape shape) {
    out.push_back({part.prefix + name, ElementType::I32, std::move(shape)});
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
    add("omega", {map.perHead ? part.heads : 1, map.features, spec.headDim});
  if (m.isKernel(FeatureMapKind::Focused))
    add("focus", {part.heads, spec.headDim});
}

void PartParameters::listCompression() {
  if (!m.lowRank)
    return;
  Shape shape = {m.lowRank->perHead ? part.heads / spec.headsPerKvHead() : 1, m.lowRank->rank, spec.keys};
  add("e", shape);
  if (!m.lowRank->tied)
    add("f", shape);
}

void PartParameters::listLepe() {
  if (!m.lepe)
    return;
  bool windowGrid = m.window && m.kind != MechanismKind::Eva && m.window->grid;
  Shape weight = {part.heads, spec.valueDim, 3};
  if (m.lepe->grid || windowGrid)
    weight.push_back(3);
  add("lepe.weight", weight);
  if (m.lepe->bias)
    add("lepe.bias", {part.heads, spec.valueDim});
}

void PartParameters::listSketch() {
  int64_t padded = llvm::PowerOf2Ceil(spec.headDim), leaves = m.degree / 2;
  for (int64_t i = 0; i < leaves; ++i) {
    std::string name = "sketch.leaf" + std::to_string(i);
    add(name + ".sign", {part.heads, padded});
    addIndex(name + ".index", {part.heads, m.sketchSize});
  }
  for (int64_t j = 0; j + 1 < leaves; ++j)
    for (const char *side : {"a", "b"}) {
      std::string name = "sketch.node" + std::to_string(j);
      add(name + ".sign_" + side, {part.heads, m.sketchSize});
      addIndex(name + ".index_" + side, {part.heads, m.sketchSize});
    }
}

static void listProjection(const Spec &spec, std::vector<SpecTensor> &out) {
  const Projection &projection = *spec.projection;
  int64_t model = projection.modelDim, query = spec.heads * spec.headDim, key = spec.kvHeads * spec.headDim;
  int64_t value = spec.kvHeads * spec.valueDim;
  auto add = [&](const char *name, Shape shape) { out.push_back({name, spec.dtype, std::move(shape)}); };
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
