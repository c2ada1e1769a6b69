//===- Effatt.cpp - Efficient attention ----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

static constexpr llvm::StringRef effattFields[] = {"kind", "lepe"};

namespace {
struct Effatt : MechanismKind {
  constexpr Effatt() : MechanismKind("effatt", effattFields) {}
  bool hasPacked() const override { return true; }
  bool isScaled(const Mechanism &) const override { return false; }
  void check(PartRules &of) const override { of.refuseCausal(); } // S52
  mlir::Value build(PartBuilder &of) const override {
    return attn::EffattOp::create(of.b.builder, of.place, of.output, /*left=*/mlir::TypeRange(), of.q, of.k, of.v, of.lengths).getOutput();
  }
};
} // namespace

static constexpr Effatt effatt;
const MechanismKind &effattKind = effatt;

} // namespace attune
