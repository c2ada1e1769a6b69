//===- MapDefinition.h - Feature maps and kernel attention in plain loops ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every map as ATTENTION writes it, token by token in float64. FAVOR whose stabilizer cancels is summed from logarithms,
// row by row, so that the definition itself loses nothing.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_KERNEL_MAPDEFINITION_H
#define ATTUNE_TEST_UNIT_KERNEL_MAPDEFINITION_H

#include "attune/Attn/Attn.h"
#include "attune/Reference/Array.h"

#include <cmath>
#include <optional>

namespace attune::test {

struct MapShape {
  int64_t batch = 1, heads = 1, sharedHeads = 1, queries = 1, keys = 1, width = 1, valueWidth = 1;
};

struct MapInputs {
  MapShape shape;
  attn::FeatureMapAttr map;
  reference::Array query, key, value;
  std::optional<reference::Array> parameter, lengths;
  bool causal = false;
  int64_t window = 0; ///< tokens of a window; 0: none
  double bias = 0, floor = 0;

  bool exists(int64_t b, int64_t j) const { return !lengths || j < static_cast<int64_t>((*lengths)({b})); }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    return exists(b, j) && (!causal || j <= i + shape.keys - shape.queries) && (!window || i / window == j / window);
  }
  int64_t shared(int64_t head) const { return head * shape.sharedHeads / shape.heads; }
  int64_t parameterHead(int64_t head) const { return parameter->size(0) > 1 ? head : 0; }
};

using Row = std::vector<double>;

inline Row tokenOf(const reference::Array &array, int64_t b, int64_t h, int64_t t, int64_t width) {
  Row row(width);
  for (int64_t c = 0; c < width; ++c)
    row[c] = array({b, h, t, c});
  return row;
}

/// ⟨ω_f, √s x⟩ for all f, and |√s x|²/2.
inline Row projections(const MapInputs &in, int64_t head, const Row &x, double *half = nullptr) {
  double s = in.map.getScale() == 0 ? 1 : std::sqrt(in.map.getScale()), squares = 0;
  Row result(in.map.getFeatureCount(), 0);
  for (size_t c = 0; c < x.size(); ++c) {
    squares += s * x[c] * s * x[c];
    for (size_t f = 0; f < result.size(); ++f)
      result[f] += (*in.parameter)({in.parameterHead(head), int64_t(f), int64_t(c)}) * s * x[c];
  }
  if (half)
    *half = squares / 2;
  return result;
}

/// L of FAVOR.
inline Row favorLogarithms(const MapInputs &in, int64_t head, const Row &x) {
  double half = 0;
  Row result = projections(in, head, x, &half);
  for (double &entry : result)
    entry -= half;
  return result;
}

/// c of FAVOR for the keys of a head.
inline double keyShift(const MapInputs &in, int64_t b, int64_t head) {
  double c = -INFINITY;
  if (in.map.getStabilizer() == attn::Stabilizer::None)
    return 0;
  if (in.map.getStabilizer() == attn::Stabilizer::Constant) {
    for (int64_t f = 0; f < in.map.getFeatureCount(); ++f) {
      double squares = 0;
      for (int64_t i = 0; i < in.shape.width; ++i)
        squares += std::pow((*in.parameter)({in.parameterHead(head), f, i}), 2);
      c = std::max(c, squares / 2);
    }
    return c;
  }
  for (int64_t j = 0; j < in.shape.keys; ++j)
    if (in.exists(b, j)) {
      Row x = tokenOf(in.key, b, in.shared(head), j, in.shape.width);
      for (double l : in.map.getStabilizer() == attn::Stabilizer::Max ? favorLogarithms(in, head, x)
                                                                      : projections(in, head, x))
        c = std::max(c, l);
    }
  return c;
}

inline Row favorFeatures(const MapInputs &in, int64_t head, const Row &x, std::optional<double> keyShift) {
  Row l = favorLogarithms(in, head, x), result;
  attn::Stabilizer stabilizer = in.map.getStabilizer();
  double c = 0;
  if (keyShift) {
    c = *keyShift;
  } else if (stabilizer != attn::Stabilizer::None) {
    Row over = stabilizer == attn::Stabilizer::Projection ? projections(in, head, x) : l;
    c = *std::max_element(over.begin(), over.end());
  }
  for (double entry : l)
    result.push_back((std::exp(entry - c) + in.map.getEpsilon()) / std::sqrt(double(l.size())));
  return result;
}

inline Row focusedFeatures(const MapInputs &in, int64_t head, const Row &x) {
  Row y, powers;
  double norm = 0, powerNorm = 0;
  for (size_t c = 0; c < x.size(); ++c) {
    y.push_back((std::max(x[c], 0.0) + in.map.getEpsilon()) /
                std::log1p(std::exp((*in.parameter)({in.parameterHead(head), int64_t(c)}))));
    norm += y[c] * y[c];
    powers.push_back(std::pow(y[c], in.map.getPower()));
    powerNorm += powers[c] * powers[c];
  }
  for (double &entry : powers)
    entry *= std::sqrt(norm / powerNorm);
  return powers;
}

/// φ of token t; `keyShift` is given for keys.
inline Row features(const MapInputs &in, int64_t head, const Row &x, int64_t t, std::optional<double> keyShift) {
  Row result;
  switch (in.map.getKind()) {
  case attn::FeatureKind::Elu1:
    for (double entry : x)
      result.push_back(entry > 0 ? entry + 1 : std::exp(entry));
    return result;
  case attn::FeatureKind::Relu:
    for (double entry : x)
      result.push_back(std::max(entry, 0.0));
    return result;
  case attn::FeatureKind::Cosformer:
    for (bool cosine : {false, true})
      for (double entry : x) {
        double angle = M_PI * double(t + 1) / (2 * double(in.map.getMaxPosition()));
        result.push_back(std::max(entry, 0.0) * (cosine ? std::cos(angle) : std::sin(angle)));
      }
    return result;
  case attn::FeatureKind::Focused:
    return focusedFeatures(in, head, x);
  case attn::FeatureKind::FavorRelu:
    for (double entry : projections(in, head, x))
      result.push_back(std::max(entry, 0.0) + in.map.getEpsilon());
    return result;
  default:
    return favorFeatures(in, head, x, keyShift);
  }
}

/// The logarithm of the weight of each key for a query; −∞ if it is not seen or weighs nothing.
inline Row logWeights(const MapInputs &in, int64_t b, int64_t h, int64_t i, double shift) {
  Row q = tokenOf(in.query, b, h, i, in.shape.width), result(in.shape.keys, -INFINITY);
  bool logs = in.map.stabilizerCancels(attn::DenominatorAttr::get(in.map.getContext(), in.bias, in.floor));
  Row a = logs ? projections(in, h, q) : features(in, h, q, i, std::nullopt);
  for (int64_t j = 0; j < in.shape.keys; ++j) {
    if (!in.sees(b, i, j))
      continue;
    Row k = tokenOf(in.key, b, in.shared(h), j, in.shape.width);
    Row l = logs ? favorLogarithms(in, h, k) : features(in, h, k, j, shift);
    double largest = -INFINITY, sum = 0;
    for (size_t f = 0; f < l.size(); ++f)
      largest = std::max(largest, logs ? a[f] + l[f] : 0);
    for (size_t f = 0; f < l.size(); ++f)
      sum += logs ? std::exp(a[f] + l[f] - largest) : a[f] * l[f];
    result[j] = largest + std::log(sum);
  }
  return result;
}

/// One output row of kernel attention.
inline Row kernelRow(const MapInputs &in, int64_t b, int64_t h, int64_t i, double shift) {
  Row weights = logWeights(in, b, h, i, shift), row(in.shape.valueWidth, 0);
  // Without a guard a factor of the row cancels.
  bool scaled = in.bias == 0 && in.floor == 0;
  double largest = scaled ? *std::max_element(weights.begin(), weights.end()) : 0, denominator = 0;
  for (int64_t j = 0; j < in.shape.keys; ++j) {
    if (weights[j] == -INFINITY)
      continue;
    double weight = std::exp(weights[j] - largest);
    denominator += weight;
    for (int64_t c = 0; c < in.shape.valueWidth; ++c)
      row[c] += weight * in.value({b, in.shared(h), j, c});
  }
  denominator = std::max(denominator + in.bias, in.floor);
  for (double &entry : row)
    entry = denominator == 0 ? 0 : entry / denominator;
  return row;
}

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_KERNEL_MAPDEFINITION_H
