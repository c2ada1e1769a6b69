//===- Agent.cpp - Attention by way of agents ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

static constexpr llvm::StringRef agentFields[] = {"kind", "agents", "lepe"};

namespace {
struct Agent : MechanismKind {
  constexpr Agent() : MechanismKind("agent", agentFields) {}
  void visit(FieldIO &fields, Mechanism &m) const override { fields.size("agents", m.agents); }
  void check(PartRules &of) const override { of.refuseCausal(); } // S52
  void checkSizes(PartSizes &of) const override {
    if (of.good({"kind"}))
      of.checkDivisor("agents", of.m.agents);
  }
  mlir::Value build(PartBuilder &of) const override {
    return attn::AgentOp::create(of.b.builder, of.place, of.output, /*lse=*/mlir::Type(), of.q, of.k, of.v, of.lengths, of.b.integer(of.m.agents), of.scale())
        .getOutput();
  }
};
} // namespace

static constexpr Agent agent;
const MechanismKind &agentKind = agent;

} // namespace attune
