//===- Eva.cpp - Softmax in windows, chunks beyond them ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

static constexpr llvm::StringRef evaFields[] = {"kind", "window", "chunk", "mu_weight", "exclude_local", "mass", "low_rank", "lepe"};

/// S36, S37: block i of the queries goes with block i of the keys (of the slots, with low_rank).
static void checkBlocks(PartSizes &of, llvm::StringRef field, llvm::StringRef place, int64_t block) {
  const std::optional<LowRank> &lowRank = of.m.lowRank;
  Size slots = lowRank ? (of.good({"low_rank.rank"}) ? Size(lowRank->rank) : std::nullopt) : of.keys;
  std::string what = lowRank ? "low_rank.rank" : "keys";
  if (!slots || !of.good({place, "low_rank"}))
    return;
  if (*slots % block != 0)
    return of.atValue(place, "a divisor of " + what + " = " + std::to_string(*slots), shown(block),
                      "the keys must be cut into equal blocks");
  // Without keys there are no blocks, and every output is 0.
  if (of.queries && *slots > 0 && *of.queries % (*slots / block) != 0)
    of.atValue(place, "a number of blocks (" + what + " / " + field.str() + ") that divides queries = " + std::to_string(*of.queries),
               std::to_string(*slots / block) + " blocks", "block i of the queries goes with block i of the keys");
}

namespace {
struct Eva : MechanismKind {
  constexpr Eva() : MechanismKind("eva", evaFields) {}
  bool hasOwnWindow() const override { return true; }
  void visit(FieldIO &fields, Mechanism &m) const override {
    fields.size("chunk", m.chunk), fields.finite("mu_weight", m.muWeight, 0.5);
    fields.boolean("exclude_local", m.excludeLocal), fields.boolean("mass", m.mass);
  }
  /// S53: a decoder's chunks lie inside its windows.
  void check(PartRules &of) const override {
    const Mechanism &m = of.m;
    if (!of.causal() || !of.good({"kind", "window"}))
      return;
    if (!m.window)
      of.rules.state.error(of.spec.placeOf(of.part.path + "mechanism").value, "key 'window' in mechanism eva (causal)", "none",
                           "add `window: {length: …}`");
    else if (m.window->length && of.good({"window.length", "chunk"}) && *m.window->length % m.chunk != 0)
      of.atValue("chunk", "a divisor of window.length = " + std::to_string(*m.window->length) + " (causal)", shown(m.chunk),
                 "a window of a causal eva is made of whole chunks");
  }
  void checkSizes(PartSizes &of) const override {
    of.checkCausal();
    if (!of.good({"kind"}))
      return;
    checkBlocks(of, "chunk", "chunk", of.m.chunk);
    if (of.m.window && of.m.window->length)
      checkBlocks(of, "length", "window.length", *of.m.window->length);
  }
  mlir::Value build(PartBuilder &of) const override {
    AttnBuilder &b = of.b;
    mlir::IntegerAttr local = of.m.window ? b.integer(*of.m.window->length) : mlir::IntegerAttr();
    return attn::EvaOp::create(b.builder, of.place, of.output, /*lse=*/mlir::Type(), of.q, of.k, of.v, of.lengths, b.integer(of.m.chunk), local,
                               b.number(of.m.muWeight), of.scale(), b.unitIf(of.m.excludeLocal), b.unitIf(of.m.mass), of.causal())
        .getOutput();
  }
};
} // namespace

static constexpr Eva eva;
const MechanismKind &evaKind = eva;

} // namespace attune
