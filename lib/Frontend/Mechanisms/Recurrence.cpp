//===- Recurrence.cpp - What tokens leave, erase and write ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureMap.h"

#include "../MechanismKind.h"

#include "llvm/ADT/StringExtras.h"

namespace attune {

/// In the order of `Per`.
static constexpr llvm::StringRef owners[] = {"head", "token", "channel"};

namespace {
/// `FIELD: {per: …}`: a number between 0 and 1 that changes the state, of its own for each head, token or channel.
struct Gate : MechanismField {
  using Number = std::optional<Per> Mechanism::*;
  /// `per` is one of `owners`, from `first` on.
  constexpr Gate(llvm::StringRef name, Number number, unsigned first) : MechanismField(name), number(number), first(first) {}

  void visit(FieldIO &mechanism, Mechanism &m) const override;
  void check(PartRules &of) const override;

protected:
  /// Rules of this field alone, of a map that is known.
  virtual void checkGate(PartRules &of) const = 0;
  /// For each token, with `entries` channels. In f16 or bf16 what little it erases of a decay near 1 would be lost.
  void addTokens(PartTensors &tensors, llvm::StringRef tensor, int64_t entries, Elements elements, double deviation) const;
  void requireMap(PartRules &of, Names maps) const;
  static int64_t features(const PartTensors &tensors) {
    return tensors.m.featureMap.features ? tensors.m.featureMap.features : tensors.spec.headDim;
  }

  const Number number;
  const unsigned first;
};

struct Decay : Gate {
  constexpr Decay() : Gate("decay", &Mechanism::decay, 0) {}
  void checkGate(PartRules &of) const override { requireMap(of, mapsThatDecay()); } // S58
  void addInputs(PartTensors &tensors) const override {
    addTokens(tensors, "g", features(tensors), Elements::LogGate, 1);
  }
  void addParameters(PartTensors &tensors) const override;
};

struct Erase : Gate {
  constexpr Erase() : Gate("erase", &Mechanism::erase, 1) {}
  void checkGate(PartRules &of) const override;
  void addInputs(PartTensors &tensors) const override;
};

struct Write : Gate {
  constexpr Write() : Gate("write", &Mechanism::write, 1) {}
  void checkGate(PartRules &of) const override;
  void addInputs(PartTensors &tensors) const override {
    addTokens(tensors, "w", tensors.spec.valueDim, Elements::Gate, 1);
  }
};
} // namespace

void Gate::visit(FieldIO &mechanism, Mechanism &m) const {
  std::optional<Per> &owner = m.*number;
  if (mechanism.in && mechanism.in->has(name)) {
    Fields fields = mechanism.in->submap(name, name.str());
    fields.allowOnly({"per"}, name);
    Names names = Names(owners).drop_front(first);
    owner = static_cast<Per>(first + (fields.require("per") ? fields.choice("per", names).value_or(0) : 0));
  } else if (mechanism.out && owner) {
    mechanism.out->add(name, FlowMap().add("per", owners[static_cast<unsigned>(*owner)].str()).str());
  }
}

void Gate::requireMap(PartRules &of, Names maps) const {
  llvm::StringRef map = attn::stringifyFeatureKind(of.m.featureMap.kind);
  if (of.good({name}) && of.m.isKernel() && !llvm::is_contained(maps, map))
    of.atKey(name, "one of " + llvm::join(maps, ", ") + " with " + name.str(), map.str(),
                   "remove `" + name.str() + "`, or take one of these maps");
}

/// S56, S57, S59: what a state that tokens change in their order forbids.
void Gate::check(PartRules &of) const {
  const Mechanism &m = of.m;
  if (!(m.*number) || !of.good({"kind"}))
    return;
  if (of.good({name}) && of.notCausal()) // S56
    of.atKey(name, "causal: true with " + name.str(), "causal: false",
                   "the state of all keys has no order: add `causal: true`");
  std::pair<llvm::StringRef, bool> others[] = {{"window", m.window.has_value()}, {"lepe", m.lepe.has_value()}};
  for (auto [other, isThere] : others) // S57
    if (isThere && of.good({name}))
      of.atKey(other, "either " + other.str() + " or " + name.str(), "both", "remove one of the two");
  if (!of.good({"feature_map.kind"}))
    return;
  refuseSharedHeads(of); // S59
  checkGate(of);
}

/// S60, S61.
void Erase::checkGate(PartRules &of) const {
  requireMap(of, mapsThatErase()); // S60
  if (of.good({"denominator", name}) && !of.m.denominator.none) // S61
    of.atKey(name, "denominator: none with erase", "a denominator", "write `denominator: none`");
}

/// S62: a denominator counts a token once.
void Write::checkGate(PartRules &of) const {
  if (of.m.write == Per::Channel && of.good({"denominator", name, "write.per"}) && !of.m.denominator.none)
    of.atValue("write.per", "token for 'per' (a denominator counts a token once)", "'channel'",
                     "write `per: token` or `denominator: none`");
}

void Gate::addTokens(PartTensors &tensors, llvm::StringRef tensor, int64_t entries, Elements elements, double deviation) const {
  std::optional<Per> owner = tensors.m.*number;
  if (!owner || *owner == Per::Head)
    return;
  PartTensors::Shape shape{tensors.spec.batch, tensors.sharedHeads(), tensors.spec.keys};
  if (*owner == Per::Channel)
    shape.push_back(entries);
  tensors.add(tensor, std::move(shape), name, elements, deviation, ElementType::F32);
}

/// In f32: rounded to fewer bits, e^g would be 1.
void Decay::addParameters(PartTensors &tensors) const {
  if (tensors.m.decay == Per::Head)
    tensors.add("log_decay", {tensors.sharedHeads()}, name, Elements::Retention, 1, ElementType::F32);
}

/// In units of a bound (with `qk_norm`) or of twice the mean (without) of |φ(k)|² for normal inputs, β contracts.
void Erase::addInputs(PartTensors &tensors) const {
  const Spec &spec = tensors.spec;
  auto d = static_cast<double>(spec.headDim);
  double squares = !spec.qkNorm ? 2 * d : spec.qkNorm->l2 ? 1 : d;
  double unit = boundOfFeatures(tensors.m.featureMap.kind, squares, d);
  addTokens(tensors, "beta", features(tensors), Elements::Gate, 1 / unit);
}

static constexpr Decay decay;
const MechanismField &decayField = decay;
static constexpr Erase erase;
const MechanismField &eraseField = erase;
static constexpr Write write;
const MechanismField &writeField = write;

} // namespace attune
