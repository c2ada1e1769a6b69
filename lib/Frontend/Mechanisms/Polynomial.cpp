//===- Polynomial.cpp - Powers of the logits -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

static constexpr llvm::StringRef polynomialFields[] = {"kind", "degree", "denominator", "window", "lepe"};

namespace {
struct Polynomial : MechanismKind {
  constexpr Polynomial() : MechanismKind("polynomial", polynomialFields) {}
  bool hasPacked() const override { return true; }
  void visit(FieldIO &fields, Mechanism &m) const override {
    fields.sizeThat("degree", m.degree, [](int64_t x) { return x + x % 2; }, "an even integer >= 2");
  }
  double defaultScale(int64_t) const override { return 1; }
  bool seesLastKeys() const override { return true; }
  mlir::Value build(PartBuilder &of) const override {
    return attn::PolynomialOp::create(of.b.builder, of.place, of.output, of.q, of.k, of.v, of.lengths, of.b.integer(of.m.degree),
                                      of.scale(), of.guard(), of.causal(), of.window(), of.last())
        .getOutput();
  }
};
} // namespace

static constexpr Polynomial polynomial;
const MechanismKind &polynomialKind = polynomial;

} // namespace attune
