//===- FeatureMapGradient.cpp - What reaches the tokens and the parameters of feature maps ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/FeatureMap.h"

#include "Matrix.h"

#include <cmath>
#include <numbers>

using namespace attune;
using namespace attune::reference;
using attn::FeatureKind;

/// x̄ += √s Σ_f x̄'_f ω_f and ω̄_f += x̄'_f x', for what reaches the products ⟨ω_f, x'⟩.
static void addProducts(const std::vector<double> &cotangents, const std::vector<double> &omega, const std::vector<double> &scaledToken,
                        double root, double *tokens, double *parameter) {
  auto width = static_cast<int64_t>(scaledToken.size());
  for (size_t f = 0; f < cotangents.size(); ++f) {
    addScaled(root * cotangents[f], omega.data() + f * width, width, tokens);
    if (parameter)
      addScaled(cotangents[f], scaledToken.data(), width, parameter + f * width);
  }
}

/// L̄ = φ̄ ⊙ m^{−½} e^{L − c}; c is a constant, and so is ε.
void HeadMap::favorGradient(const double *x, Shift shift, const double *cotangent, double *tokens, double *parameter) const {
  std::vector<double> exponent(count), own = scaled(x);
  double largest = exponents(x, exponent.data()), c = shift.ofRow ? largest : shift.value;
  double factor = 1 / std::sqrt(static_cast<double>(count)), total = 0, root = map.scale == 0 ? 1 : std::sqrt(map.scale);
  for (int64_t f = 0; f < count; ++f)
    total += exponent[f] = cotangent[f] * factor * std::exp(exponent[f] - c);
  addProducts(exponent, omega, own, root, tokens, parameter);
  addScaled(-root * total, own.data(), width, tokens); // of −|x'|²/2
}

/// The sign is that of ⟨ω, x⟩: rounding √s x could turn it.
void HeadMap::favorReluGradient(const double *x, const double *cotangent, double *tokens, double *parameter) const {
  std::vector<double> passed(count);
  for (int64_t f = 0; f < count; ++f)
    passed[f] = dot(omega.data() + f * width, x, width) > 0 ? cotangent[f] : 0;
  addProducts(passed, omega, scaled(x), map.scale == 0 ? 1 : std::sqrt(map.scale), tokens, parameter);
}

/// With u = y^p / |y^p|: ȳ = ⟨g, u⟩ y / |y| + |y| p y^{p−1} / |y^p| ⊙ (g − ⟨g, u⟩ u), y in units of its largest entry where that cancels.
void HeadMap::focusGradient(const double *x, const double *cotangent, double *tokens, double *parameter) const {
  std::vector<double> y(width), u(width);
  double largest = 0, norm = 0, normOfPower = 0, along = 0;
  for (int64_t c = 0; c < width; ++c)
    largest = std::max(largest, y[c] = (std::max(x[c], 0.0) + map.epsilon) / divisors[c]);
  for (int64_t c = 0; c < width; ++c) {
    double ratio = y[c] / largest;
    u[c] = std::pow(ratio, map.power);
    norm += ratio * ratio, normOfPower += u[c] * u[c];
  }
  norm = std::sqrt(norm), normOfPower = std::sqrt(normOfPower);
  for (int64_t c = 0; c < width; ++c)
    along += cotangent[c] * (u[c] /= normOfPower);
  for (int64_t c = 0; c < width; ++c) {
    double ratio = y[c] / largest;
    double gradient = along * ratio / norm +
                      norm * map.power * std::pow(ratio, map.power - 1) / normOfPower * (cotangent[c] - along * u[c]);
    tokens[c] += x[c] > 0 ? gradient / divisors[c] : 0;
    if (parameter) // σ(f) = 1 − e^{−softplus(f)}
      parameter[c] += y[c] * gradient * std::expm1(-divisors[c]) / divisors[c];
  }
}

void HeadMap::softmaxGradient(const double *x, const double *cotangent, double *tokens) const {
  std::vector<double> phi(width);
  apply(x, 0, Shift(), phi.data());
  double mean = dot(phi.data(), cotangent, width);
  for (int64_t c = 0; c < width; ++c)
    tokens[c] += phi[c] * (cotangent[c] - mean);
}

void HeadMap::pullBack(const double *x, int64_t position, Shift shift, const double *cotangent, double *tokens, double *parameter) const {
  switch (map.kind) {
  case FeatureKind::Elu1:
    for (int64_t c = 0; c < width; ++c)
      tokens[c] += cotangent[c] * (x[c] > 0 ? 1 : std::exp(x[c]));
    return;
  case FeatureKind::Relu:
    for (int64_t c = 0; c < width; ++c)
      tokens[c] += x[c] > 0 ? cotangent[c] : 0;
    return;
  case FeatureKind::Identity:
    return addScaled(shift.scale, cotangent, width, tokens);
  case FeatureKind::Cosformer: {
    double angle = std::numbers::pi * static_cast<double>(position + 1) / (2 * static_cast<double>(map.maxPosition));
    for (int64_t c = 0; c < width; ++c)
      tokens[c] += x[c] > 0 ? cotangent[c] * std::sin(angle) + cotangent[width + c] * std::cos(angle) : 0;
    return;
  }
  case FeatureKind::Focused:
    return focusGradient(x, cotangent, tokens, parameter);
  case FeatureKind::Favor:
    return favorGradient(x, shift, cotangent, tokens, parameter);
  case FeatureKind::FavorRelu:
    return favorReluGradient(x, cotangent, tokens, parameter);
  case FeatureKind::Softmax:
    return softmaxGradient(x, cotangent, tokens);
  case FeatureKind::TensorSquare:
    for (int64_t a = 0; a < width; ++a)
      for (int64_t b = 0; b < width; ++b)
        tokens[a] += (cotangent[a * width + b] + cotangent[b * width + a]) * x[b];
    return;
  case FeatureKind::SymmetricSquare:
    for (int64_t shift = 0; shift <= width / 2; ++shift)
      for (int64_t a = 0, b = shift; a < width; ++a, b = (b + 1) % width) {
        double reaching = attn::FeatureMapAttr::weightOfShift(shift, width) * cotangent[shift * width + a];
        tokens[a] += reaching * x[b], tokens[b] += reaching * x[a];
      }
    return;
  }
}
