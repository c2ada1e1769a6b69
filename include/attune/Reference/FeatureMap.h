//===- FeatureMap.h - Feature maps by their definition -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// φ(x) of one token of one head, as `#attn.feature_map` defines it (ATTENTION_MATH §5).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_FEATUREMAP_H
#define ATTUNE_REFERENCE_FEATUREMAP_H

#include "attune/Attn/Attn.h"
#include "attune/Reference/Array.h"

#include <string>

namespace attune::reference {

/// The values of the attribute of the same name.
struct FeatureMap {
  attn::FeatureKind kind = attn::FeatureKind::Elu1;
  int64_t features = 0, maxPosition = 0;
  double epsilon = 0, scale = 0, power = 0;
  attn::Stabilizer stabilizer = attn::Stabilizer::Constant;

  static FeatureMap of(attn::FeatureMapAttr attribute);

  /// The number of features m of rows of `width` entries.
  int64_t featuresOf(int64_t width) const;
  bool isFavor() const { return kind == attn::FeatureKind::Favor; }
  bool hasParameter() const {
    return isFavor() || kind == attn::FeatureKind::FavorRelu || kind == attn::FeatureKind::Focused;
  }
  /// What is wrong with a parameter (absent: null) for `heads` heads of `width` entries; empty if nothing is.
  std::string problem(const Array *parameter, int64_t heads, int64_t width) const;
};

/// What differs between the features of queries and keys. What is subtracted from FAVOR's exponents: of a row its own largest, of
/// keys one number for all of them; and the scale of queries that are their own features.
struct Shift {
  bool ofRow = false;
  double value = 0, scale = 1;
};

/// A feature map with the parameter of one head.
class HeadMap {
public:
  /// The parameter is [heads or 1, m, d] or [heads, d], and has passed `FeatureMap::problem`.
  HeadMap(const FeatureMap &map, const Array *parameter, int64_t head, int64_t width);

  int64_t features() const { return count; }
  /// φ(x) of a token at `position` (from 0).
  void apply(const double *x, int64_t position, Shift shift, double *phi) const;
  /// φ(x) of a query of favor with a stabilizer of its own row, or of any token of favor_relu, from ⟨ω_f, x⟩.
  void applyToProjections(const double *projections, double *phi) const;
  /// L_f = ⟨ω_f, x'⟩ − |x'|²/2 of favor; returns the largest ⟨ω_f, x'⟩ for the stabilizer `projection`, else the
  /// largest L_f.
  double exponents(const double *x, double *exponent) const;

  /// Adds to `tokens` [d] what reaches the token whose features have this cotangent [m], and, unless that is null, to `parameter` [m, d] or
  /// [d] what reaches the parameter of the head. Shifts are constants.
  void pullBack(const double *x, int64_t position, Shift shift, const double *cotangent, double *tokens, double *parameter) const;

  /// The shift of queries, and of keys whose largest exponent (as `exponents` returns it) is `largest`.
  Shift queryShift() const;
  Shift keyShift(double largest) const;
  /// Whether `keyShift` depends on the keys.
  bool shiftNeedsKeys() const;

private:
  void positions(const double *x, int64_t position, double *phi) const;
  void focus(const double *x, double *phi) const;
  void favor(const double *x, Shift shift, double *phi) const;
  void favorRelu(const double *x, double *phi) const;
  void favorGradient(const double *x, Shift shift, const double *cotangent, double *tokens, double *parameter) const;
  void favorReluGradient(const double *x, const double *cotangent, double *tokens, double *parameter) const;
  void focusGradient(const double *x, const double *cotangent, double *tokens, double *parameter) const;
  void softmaxGradient(const double *x, const double *cotangent, double *tokens) const;
  std::vector<double> scaled(const double *x) const;

  FeatureMap map;
  int64_t width, count;
  std::vector<double> omega; ///< [m, d]
  std::vector<double> divisors; ///< softplus(focus)
};

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_FEATUREMAP_H
