//===- Softmax.cpp - Softmax of the logits -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

static constexpr llvm::StringRef softmaxFields[] = {"kind", "low_rank", "window", "lepe", "softcap", "alibi"};

namespace {

struct Softmax : MechanismKind {
  constexpr Softmax() : MechanismKind("softmax", softmaxFields) {}
  bool hasPacked() const override { return true; }
  bool seesLastKeys() const override { return true; }
  mlir::Value build(PartBuilder &of) const override {
    AttnBuilder &b = of.b;
    mlir::Type lse = b.spec.lse ? b.typeOf(lseTensor(b.spec)) : mlir::Type();
    auto softmax = attn::SoftmaxOp::create(b.builder, of.place, of.output, lse, of.q, of.k, of.v, of.lengths, of.parameter("slope"),
                                           of.scale(), of.causal(), of.window(), of.last(),
                                           of.m.softcap ? b.number(*of.m.softcap) : mlir::FloatAttr(), /*execution=*/{});
    b.lse = softmax.getLse();
    return softmax.getOutput();
  }
};

/// c tanh(logit / c) in place of the logit.
struct Softcap : MechanismField {
  constexpr Softcap() : MechanismField("softcap") {}
  void visit(FieldIO &fields, Mechanism &m) const override { fields.optional(name, m.softcap); }
};

/// A slope a head times the distance of the tokens.
struct Alibi : MechanismField {
  constexpr Alibi() : MechanismField("alibi") {}
  void visit(FieldIO &fields, Mechanism &m) const override { fields.boolean(name, m.alibi); }
  /// S72: compressed keys have no place.
  void check(PartRules &of) const override {
    if (of.m.alibi && of.m.lowRank && of.good({name, "low_rank"}))
      of.atKey(name, "either alibi or low_rank", "both", "remove one of the two");
  }
  /// In f32: rounded to fewer bits, e^g would be 1.
  void addParameters(PartTensors &tensors) const override {
    if (!tensors.m.alibi)
      return;
    SpecTensor &slope = tensors.add("slope", {tensors.part.heads}, name, Elements::Slope, 1, ElementType::F32);
    slope.first = tensors.part.firstHead, slope.heads = tensors.spec.heads;
  }
};

} // namespace

static constexpr Softmax softmax;
const MechanismKind &softmaxKind = softmax;
static constexpr Softcap softcap;
const MechanismField &softcapField = softcap;
static constexpr Alibi alibi;
const MechanismField &alibiField = alibi;

} // namespace attune
