//===- FeatureMap.cpp - Feature maps by their definition -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/FeatureMap.h"

#include "Matrix.h"
#include "Shapes.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace attune;
using namespace attune::reference;
using attn::FeatureKind;
using attn::Stabilizer;

FeatureMap FeatureMap::of(attn::FeatureMapAttr attribute) {
  return {attribute.getKind(),    attribute.getFeatureCount(), attribute.getMaxPosition(), attribute.getEpsilon(),
          attribute.getScale(),   attribute.getPower(),        attribute.getStabilizer()};
}

int64_t FeatureMap::featuresOf(int64_t width) const {
  bool says = isFavor() || kind == FeatureKind::FavorRelu;
  return says ? features : attn::FeatureMapAttr::featuresOf(kind, width);
}

std::string FeatureMap::problem(const Array *parameter, int64_t heads, int64_t width) const {
  std::string name = attn::stringifyFeatureKind(kind).str();
  if (!hasParameter())
    return parameter ? "expected no parameter of " + name + ", but got one" : "";
  if (!parameter)
    return "expected a parameter of " + name + ", but got none";
  if (kind == FeatureKind::Focused)
    return differs("focus", *parameter, {heads, width});
  bool shared = parameter->rank() == 3 && parameter->size(0) == 1;
  return differs("omega", *parameter, {shared ? 1 : heads, features, width});
}

HeadMap::HeadMap(const FeatureMap &map, const Array *parameter, int64_t head, int64_t width)
    : map(map), width(width), count(map.featuresOf(width)) {
  if (!parameter)
    return;
  if (map.kind == FeatureKind::Focused) {
    for (int64_t c = 0; c < width; ++c) {
      double x = (*parameter)({head, c});
      divisors.push_back(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    }
    return;
  }
  Matrix rows = parameterOf(*parameter, head);
  omega.assign(rows[0], rows[0] + count * width);
}

//===----------------------------------------------------------------------===//
// FAVOR
//===----------------------------------------------------------------------===//

/// x' = √s·x.
std::vector<double> HeadMap::scaled(const double *x) const {
  double root = map.scale == 0 ? 1 : std::sqrt(map.scale);
  std::vector<double> result(x, x + width);
  for (double &entry : result)
    entry *= root;
  return result;
}

double HeadMap::exponents(const double *x, double *exponent) const {
  std::vector<double> own = scaled(x);
  double half = 0.5 * dot(own.data(), own.data(), width);
  bool isProjection = map.stabilizer == Stabilizer::Projection;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t f = 0; f < count; ++f) {
    double projection = dot(omega.data() + f * width, own.data(), width);
    exponent[f] = projection - half;
    largest = std::max(largest, isProjection ? projection : exponent[f]);
  }
  return largest;
}

void HeadMap::favor(const double *x, Shift shift, double *phi) const {
  double largest = exponents(x, phi), c = shift.ofRow ? largest : shift.value;
  double factor = 1 / std::sqrt(static_cast<double>(count));
  for (int64_t f = 0; f < count; ++f)
    phi[f] = factor * (std::exp(phi[f] - c) + map.epsilon);
}

void HeadMap::favorRelu(const double *x, double *phi) const {
  std::vector<double> own = scaled(x);
  for (int64_t f = 0; f < count; ++f)
    phi[f] = std::max(dot(omega.data() + f * width, own.data(), width), 0.0) + map.epsilon;
}

void HeadMap::applyToProjections(const double *projections, double *phi) const {
  double root = map.scale == 0 ? 1 : std::sqrt(map.scale), factor = 1 / std::sqrt(static_cast<double>(count));
  double largest = *std::max_element(projections, projections + count);
  for (int64_t f = 0; f < count; ++f)
    phi[f] = map.isFavor() ? factor * (std::exp(root * (projections[f] - largest)) + map.epsilon)
                           : std::max(root * projections[f], 0.0) + map.epsilon;
}

Shift HeadMap::queryShift() const {
  return {map.stabilizer != Stabilizer::None, 0, map.kind == FeatureKind::Identity ? map.scale : 1};
}

bool HeadMap::shiftNeedsKeys() const {
  return map.isFavor() && (map.stabilizer == Stabilizer::Max || map.stabilizer == Stabilizer::Projection);
}

Shift HeadMap::keyShift(double largest) const {
  if (shiftNeedsKeys())
    return {false, largest};
  double square = 0;
  if (map.isFavor() && map.stabilizer == Stabilizer::Constant)
    for (int64_t f = 0; f < count; ++f)
      square = std::max(square, dot(omega.data() + f * width, omega.data() + f * width, width));
  return {false, square / 2};
}

//===----------------------------------------------------------------------===//
// Maps without randomness
//===----------------------------------------------------------------------===//

void HeadMap::positions(const double *x, int64_t position, double *phi) const {
  double angle = std::numbers::pi * static_cast<double>(position + 1) / (2 * static_cast<double>(map.maxPosition));
  for (int64_t c = 0; c < width; ++c) {
    double positive = std::max(x[c], 0.0);
    phi[c] = positive * std::sin(angle);
    phi[width + c] = positive * std::cos(angle);
  }
}

/// (|y| / |y^p|) y^p; y is divided by its largest entry before the power, which cancels.
void HeadMap::focus(const double *x, double *phi) const {
  double largest = 0, norm = 0, norm_of_power = 0;
  std::vector<double> y(width);
  for (int64_t c = 0; c < width; ++c) {
    y[c] = (std::max(x[c], 0.0) + map.epsilon) / divisors[c];
    largest = std::max(largest, y[c]);
  }
  for (int64_t c = 0; c < width; ++c) {
    double ratio = y[c] / largest;
    phi[c] = std::pow(ratio, map.power);
    norm += ratio * ratio;
    norm_of_power += phi[c] * phi[c];
  }
  double factor = largest * std::sqrt(norm) / std::sqrt(norm_of_power);
  for (int64_t c = 0; c < width; ++c)
    phi[c] *= factor;
}

static void softmaxOfRow(const double *x, int64_t width, double *phi) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t c = 0; c < width; ++c)
    largest = std::max(largest, x[c]);
  for (int64_t c = 0; c < width; ++c)
    sum += phi[c] = std::exp(x[c] - largest);
  for (int64_t c = 0; c < width; ++c)
    phi[c] /= sum;
}

void HeadMap::apply(const double *x, int64_t position, Shift shift, double *phi) const {
  switch (map.kind) {
  case FeatureKind::Elu1:
    for (int64_t c = 0; c < width; ++c)
      phi[c] = x[c] > 0 ? x[c] + 1 : std::exp(x[c]);
    return;
  case FeatureKind::Relu:
    for (int64_t c = 0; c < width; ++c)
      phi[c] = std::max(x[c], 0.0);
    return;
  case FeatureKind::Identity:
    for (int64_t c = 0; c < width; ++c)
      phi[c] = shift.scale * x[c];
    return;
  case FeatureKind::Cosformer:
    return positions(x, position, phi);
  case FeatureKind::Focused:
    return focus(x, phi);
  case FeatureKind::Favor:
    return favor(x, shift, phi);
  case FeatureKind::FavorRelu:
    return favorRelu(x, phi);
  case FeatureKind::Softmax:
    return softmaxOfRow(x, width, phi);
  case FeatureKind::TensorSquare:
    for (int64_t a = 0; a < width; ++a)
      for (int64_t b = 0; b < width; ++b)
        phi[a * width + b] = x[a] * x[b];
    return;
  case FeatureKind::SymmetricSquare:
    for (int64_t shift = 0; shift <= width / 2; ++shift)
      for (int64_t a = 0; a < width; ++a)
        phi[shift * width + a] = attn::FeatureMapAttr::weightOfShift(shift, width) * x[a] * x[(a + shift) % width];
    return;
  }
}
