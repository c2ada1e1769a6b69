//===- SpecTensors.cpp - Names and shapes of a spec's tensors ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"

#include <cmath>
#include <limits>

namespace attune {

/// Where sequences begin among tokens, and where the last one ends.
static void addOffsets(const Spec &spec, std::vector<SpecTensor> &out) {
  Size count = spec.sequences ? Size(*spec.sequences + 1) : std::nullopt;
  auto add = [&](const char *name, Size tokens) {
    out.push_back({name, ElementType::I32, {count}, "packed", Elements::Offsets, 0, tokens});
  };
  add("offsets", spec.queries);
  if (spec.hasKeyOffsets())
    add("key_offsets", spec.keys);
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
  if (spec.packed)
    addOffsets(spec, result);
  for (const Part &part : spec.parts) {
    PartTensors tensors(spec, part, result);
    for (const MechanismField *field : mechanismFields())
      field->addInputs(tensors);
  }
  if (spec.initialState)
    for (SpecTensor &tensor : stateTensors(spec, initialPrefix)) {
      tensor.optional = true;
      result.push_back(std::move(tensor));
    }
  return result;
}

std::vector<SpecTensor> stateTensors(const Spec &spec, const Part &part, llvm::StringRef prefix) {
  std::vector<SpecTensor> result;
  auto add = [&](llvm::StringRef name, PartTensors::Shape shape, Elements elements) {
    result.push_back({part.prefix + prefix.str() + name.str(), ElementType::F32, std::move(shape), "state", elements});
    result.back().rescales = name == "scale";
    result.back().ofSequences = spec.packed;
  };
  part.mechanism.kind->addState({spec, part, part.mechanism, add});
  return result;
}

/// So many tokens may come before those of a run. How many those of a packed sequence are only its offsets say.
static Size positionBound(const Spec &spec) {
  Size bound = std::numeric_limits<int32_t>::max();
  for (const Part &part : spec.parts)
    if (part.mechanism.isKernel(FeatureMapKind::Cosformer) && spec.queries && *spec.queries)
      bound = std::min(*bound, part.mechanism.featureMap.maxPosition - (spec.packed ? 0 : *spec.queries) + 1);
  return bound;
}

SpecTensor positionTensor(const Spec &spec, llvm::StringRef prefix) {
  SpecTensor tensor{prefix.str() + "position", ElementType::I32, {spec.states()}, "state", Elements::Index, 0, positionBound(spec)};
  tensor.ofSequences = spec.packed;
  return tensor;
}

std::vector<SpecTensor> stateTensors(const Spec &spec, llvm::StringRef prefix) {
  std::vector<SpecTensor> result;
  for (const Part &part : spec.parts)
    for (SpecTensor &tensor : stateTensors(spec, part, prefix))
      result.push_back(std::move(tensor));
  result.push_back(positionTensor(spec, prefix));
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

std::vector<SpecTensor> outputTensors(const Spec &spec) {
  std::vector<SpecTensor> result{outputTensor(spec)};
  if (spec.lse)
    result.push_back(lseTensor(spec));
  if (spec.finalState)
    llvm::append_range(result, stateTensors(spec, finalPrefix));
  return result;
}

static void listProjection(const Spec &spec, std::vector<SpecTensor> &out) {
  const Projection &projection = *spec.projection;
  int64_t model = projection.modelDim, query = spec.queryHeads() * spec.headDim, key = spec.keyHeads() * spec.headDim;
  int64_t value = spec.kvHeads * spec.valueDim;
  auto add = [&](const char *name, PartTensors::Shape shape) {
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
  for (const Part &part : spec.parts) {
    PartTensors tensors(spec, part, result);
    for (const MechanismField *field : mechanismFields())
      field->addParameters(tensors);
    part.mechanism.kind->addParameters(tensors);
  }
  return result;
}

} // namespace attune
