//===- Focused.cpp - Powers that keep the length of each token -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "MapFormulas.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct InverseSoftplus : Term {
  StringRef name() const override { return "inverse_softplus"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [d]
    return {tiles.over(tiles.constant(tiles.shape(x), 1), tiles.softplus(x))};
  }
};

struct FocusedExponents : Term {
  FocusedExponents(double power, double epsilon) : power(power), epsilon(epsilon) {}

  StringRef name() const override { return "focused_exponents"; }
  void printParameters(raw_ostream &os) const override {
    os << " {power = " << power << ", epsilon = " << epsilon << '}';
  }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type()), inverse = operands[1]->tile(site); // [T, d], [d]
    kernel::LogFeatures features = kernel::focusedExponents(tiles, x, inverse, power, epsilon);
    return {features.exponents, features.mantissas};
  }

  double power, epsilon;
};

struct Focused : Term {
  Focused(double power, double epsilon) : power(power), epsilon(epsilon) {}

  StringRef name() const override { return "focused"; }
  void printParameters(raw_ostream &os) const override {
    os << " {power = " << power << ", epsilon = " << epsilon << '}';
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type()), inverse = operands[1]->tile(site); // [T, d], [d]
    return {kernel::focused(tiles, x, inverse, power, epsilon)};
  }

  double power, epsilon;
};

/// x̄, or with `ofFocus` what each row adds to the cotangent of the focus.
struct FocusedGradient : Focused {
  FocusedGradient(double power, double epsilon, bool ofFocus, bool logarithms)
      : Focused(power, epsilon), ofFocus(ofFocus), logarithms(logarithms) {}

  StringRef name() const override {
    return logarithms ? (ofFocus ? "focus_log_gradient" : "focused_log_gradient") : ofFocus ? "focus_gradient" : "focused_gradient";
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), inverse = operands[1]->tile(site);                      // [T, d], [d]
    auto gradient = logarithms ? (ofFocus ? kernel::focusLogGradient : kernel::focusedLogGradient)
                               : (ofFocus ? kernel::focusGradient : kernel::focusedGradient);
    return {gradient(tiles, x, inverse, power, epsilon, operands[2]->tile(site, f32))};
  }

  bool ofFocus, logarithms;
};
} // namespace

terms::TermPtr terms::focusGradient(double power, double epsilon, bool logarithms) {
  return std::make_unique<FocusedGradient>(power, epsilon, /*ofFocus=*/true, logarithms);
}
terms::TermPtr terms::focusedGradient(double power, double epsilon, bool logarithms) {
  return std::make_unique<FocusedGradient>(power, epsilon, /*ofFocus=*/false, logarithms);
}
terms::TermPtr terms::inverseSoftplus() { return std::make_unique<InverseSoftplus>(); }
terms::TermPtr terms::focusedExponents(double power, double epsilon) {
  return std::make_unique<FocusedExponents>(power, epsilon);
}
terms::TermPtr terms::focused(double power, double epsilon) { return std::make_unique<Focused>(power, epsilon); }
