//===- TermRules.cpp - Which rule an op has ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TermRules.h"

#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static bool isMapAlone(Operation *op) { return attn::isMappedAlone(cast<attn::MapOp>(op)); }

/// A state is made for its readers but where all of them have it made in their own kernel.
static bool isStateStored(Operation *op) {
  auto inItsKernel = [](Operation *user) { return attn::executionOf(user).values == attn::Values::Fused; };
  bool read = false, stored = false;
  for (Operation *user : op->getUsers())
    if (!user->hasTrait<OpTrait::IsTerminator>())
      read = true, stored |= !inItsKernel(user);
  return stored || !read;
}

static llvm::StringMap<TermRule> makeRules() {
  constexpr Side rows = Side::Rows, keys = Side::Keys, memory = Side::Memory;
  llvm::StringMap<TermRule> rules;
  auto add = [&](StringRef name, TermRule rule) { rules[name] = std::move(rule); };
  add(attn::MapOp::getOperationName(),
      {.sides = {rows}, .build = buildMap, .materialize = materializeMap, .isMaterialized = isMapAlone});
  add(attn::KeyMaximumOp::getOperationName(), {.sides = {keys}, .materialize = materializeKeyMaximum});
  add(attn::VisibleOp::getOperationName(), {.sides = {rows}, .build = buildVisible});
  add(attn::DecayOp::getOperationName(), {.sides = {rows}, .build = buildDecay});
  add(attn::GateOp::getOperationName(), {.sides = {rows}, .build = buildGate});
  add(attn::RowSumOp::getOperationName(),
      {.sides = {rows}, .frame = Frame::Rows, .kernel = "quadratic", .build = buildRowSum, .keys = keysOfSum});
  add(attn::SoftmaxOp::getOperationName(),
      {.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "softmax", .build = buildSoftmax, .keys = keysOfAttention<attn::SoftmaxOp>});
  add(attn::PolynomialOp::getOperationName(),
      {.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "polynomial", .build = buildPolynomial, .keys = keysOfAttention<attn::PolynomialOp>});
  add(attn::EffattOp::getOperationName(),
      {.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "readout", .build = buildEffatt, .materialize = materializeMeans});
  add(attn::StateOp::getOperationName(),
      {.sides = {keys, keys}, .build = buildState, .materialize = materializeState, .isMaterialized = isStateStored});
  add(attn::ReadoutOp::getOperationName(),
      {.sides = {rows, memory, memory}, .frame = Frame::Rows, .kernel = "readout", .build = buildReadout});
  add(attn::CausalReadoutOp::getOperationName(),
      {.sides = {rows, keys, keys}, .frame = Frame::Chunks, .kernel = "chunked", .materialize = materializeState,
       .isMaterialized = [](Operation *) { return false; }});
  add(attn::NormalizeOp::getOperationName(), {.sides = {rows, rows}, .isEpilogue = true, .build = buildNormalize});
  return rules;
}

const TermRule *kernel::ruleOf(Operation *op) {
  static const llvm::StringMap<TermRule> rules = makeRules();
  static const TermRule pairs{.sides = {Side::Rows, Side::Keys}, .build = buildContract};
  static const TermRule sums{.sides = {Side::Rows, Side::Keys}, .frame = Frame::Rows, .kernel = "quadratic", .build = buildContract,
                             .keys = keysOfSum};
  static const TermRule ofState{.sides = {Side::Rows, Side::Memory}, .frame = Frame::Rows, .kernel = "readout", .build = buildContract};
  if (auto contract = dyn_cast<attn::ContractOp>(op))
    return makesPairs(contract) ? &pairs : sumsKeys(contract) ? &sums : timesState(contract) ? &ofState : nullptr;
  auto found = rules.find(op->getName().getStringRef());
  return found == rules.end() ? nullptr : &found->second;
}

bool kernel::isMaterialized(Operation *op) {
  const TermRule *rule = ruleOf(op);
  return rule && rule->materialize && (!rule->isMaterialized || rule->isMaterialized(op));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Operation *kernel::reductionOf(Value value) {
  Operation *op = value.getDefiningOp();
  const TermRule *rule = op ? ruleOf(op) : nullptr;
  if (!rule || rule->frame != Frame::None)
    return rule ? op : nullptr;
  for (auto [operand, side] : llvm::zip(op->getOperands(), rule->sides))
    if (Operation *reduction = rule->isEpilogue && side == Side::Rows ? reductionOf(operand) : nullptr)
      return reduction;
  return nullptr;
}

Frame kernel::frameOf(Operation *reduction) {
  auto readout = dyn_cast<attn::ReadoutOp>(reduction);
  Operation *state = readout ? readout.getState().getDefiningOp() : nullptr;
  return state && isa<attn::StateOp>(state) && !isMaterialized(state) ? Frame::States : ruleOf(reduction)->frame;
}

const void *kernel::streamOf(Operation *reduction) {
  bool ofWeights = ruleOf(reduction)->keys == keysOfSum;
  return ofWeights ? reduction->getOperand(0).getAsOpaquePointer() : static_cast<const void *>(reduction);
}

attn::DenominatorAttr kernel::guardOf(Operation *sums) {
  for (Operation *user : sums->getUsers())
    if (auto quotient = dyn_cast<attn::NormalizeOp>(user))
      return quotient.getGuardAttr();
  llvm_unreachable("sums that stand in units are divided");
}
