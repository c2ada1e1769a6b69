//===- AttnVerifyTerms.cpp - Verifiers of contractions, weights and states -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"
#include "attune/Attn/Execution.h"

#include <map>

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

//===----------------------------------------------------------------------===//
// attn.contract (A13)
//===----------------------------------------------------------------------===//

namespace {
using Sizes = std::map<Role, int64_t>;
} // namespace

static LogicalResult collectSizes(ContractOp op, StringRef what, Value value, ArrayAttr roles, Sizes &sizes) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (roles.size() != shape.size())
    return op.emitOpError() << "expected a role for each of " << shape.size() << " dimensions of " << what
                            << ", but got " << roles.size();
  for (auto [role, size] : llvm::zip_equal(roles.getAsRange<RoleAttr>(), shape))
    if (!sizes.try_emplace(role.getValue(), size).second)
      return op.emitOpError() << "expected distinct roles of " << what << ", but got " << stringifyRole(role.getValue())
                              << " twice";
  return success();
}

static LogicalResult checkRole(ContractOp op, Role role, int64_t lhs, int64_t rhs) {
  auto divides = [](int64_t a, int64_t b) { return a > 0 && b > 0 && b % a == 0; };
  bool fits = agree(lhs, rhs) || (role == Role::Head && (divides(rhs, lhs) || divides(lhs, rhs)));
  if (fits)
    return success();
  return op.emitOpError() << "expected equal sizes of " << stringifyRole(role) << ", but got " << lhs << " and " << rhs;
}

LogicalResult ContractOp::verify() {
  Sizes lhs, rhs, result;
  if (failed(collectSizes(*this, "lhs", getLhs(), getLhsRoles(), lhs)) ||
      failed(collectSizes(*this, "rhs", getRhs(), getRhsRoles(), rhs)) ||
      failed(collectSizes(*this, "result", getResult(), getResultRoles(), result)))
    return failure();
  for (auto [role, size] : lhs)
    if (auto other = rhs.find(role); other != rhs.end() && failed(checkRole(*this, role, size, other->second)))
      return failure();
  for (auto [role, size] : result) {
    if (!lhs.count(role) && !rhs.count(role))
      return emitOpError() << "expected the role " << stringifyRole(role) << " of the result in an operand";
    int64_t operand = std::max(lhs.count(role) ? lhs[role] : 0, rhs.count(role) ? rhs[role] : 0);
    bool dynamic =
        (lhs.count(role) && ShapedType::isDynamic(lhs[role])) || (rhs.count(role) && ShapedType::isDynamic(rhs[role]));
    if (!dynamic && !agree(size, operand))
      return emitOpError() << "expected a size of " << operand << " for " << stringifyRole(role)
                           << " of the result, but got " << size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The other terms
//===----------------------------------------------------------------------===//

LogicalResult VisibleOp::verify() {
  ArrayRef<int64_t> w = shapeOf(getWeights());
  if (!getCausal() && !getLengths() && !getWindow()) // A14
    return emitOpError() << "expected causal, a window or lengths";
  if (failed(checkWindow(*this, getWindowAttr(), w[2], w[3])) ||                // A20
      failed(checkLast(*this, getLast(), getCausal(), getWindowAttr())))        // A62
    return failure();
  return checkLengths(*this, getLengths(), w[0]); // A3
}

LogicalResult DecayOp::verify() {
  ArrayRef<int64_t> w = shapeOf(getWeights());
  ArrayRef<int64_t> g = shapeOf(getDecay());
  int64_t heads = g.size() == 3 ? g[1] : g.empty() ? 0 : g[0];
  if (failed(checkHeads(*this, w[1], heads)) || failed(checkCausal(*this, w[2], w[3])) ||
      failed(checkGate(*this, "decay", getDecay(), {w[0], heads, w[3]}, /*entries=*/0, /*ofHeads=*/true))) // A50
    return failure();
  return checkLengths(*this, getLengths(), w[0]); // A3
}

LogicalResult GateOp::verify() { // A60
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (failed(checkGate(*this, "gate", getGate(), x, x[3])))
    return failure();
  return checkShape(*this, "result", getResult().getType(), x);
}

LogicalResult RowSumOp::verify() {
  return checkShape(*this, "result", getResult().getType(), shapeOf(getWeights()).drop_back()); // A15
}

LogicalResult RowMaximumOp::verify() {
  if (auto root = static_cast<int64_t>(getRoot()); root < 1 || !llvm::isPowerOf2_64(root)) // A110
    return emitOpError() << "expected a power of two as `root`, such as 8, but got " << root;
  return checkShape(*this, "result", getResult().getType(), shapeOf(getWeights()).drop_back()); // A15
}

LogicalResult StateOp::verify() {
  ArrayRef<int64_t> f = shapeOf(getFeatures()), v = shapeOf(getValue());
  if (failed(checkLengths(*this, getLengths(), f[0])) || // A3
      failed(checkShape(*this, "value", getValue().getType(), {f[0], v[1], f[2], v[3]})) ||
      failed(checkHeads(*this, f[1], v[1]))) // A16
    return failure();
  return checkState(*this, getState(), getSum(), {f[0], f[1], f[3], v[3]}); // A16
}

LogicalResult ReadoutOp::verify() {
  ArrayRef<int64_t> f = shapeOf(getFeatures()), s = shapeOf(getState());
  if (failed(checkState(*this, getState(), getSum(), {f[0], s[1], f[3], s[3]})) ||
      failed(checkHeads(*this, f[1], s[1])) ||
      failed(checkShape(*this, "numerator", getNumerator().getType(), {f[0], f[1], f[2], s[3]}))) // A17
    return failure();
  Execution execution = executionOf(*this);
  if (execution.values == Values::Fused && execution.ending == Ending::LastBlock) // A54
    return emitOpError() << "expected values = fused or ending = last_block, but got both: a state that is read where it is "
                            "made has one piece";
  return checkShape(*this, "denominator", getDenominator().getType(), {f[0], f[1], f[2]}); // A17
}

/// A68: what rows of states stand in.
static LogicalResult checkScales(CausalReadoutOp op) {
  if (op.getInitialScale() && (!op.getScale() || !op.getInitialSum()))
    return op.emitOpError() << "expected an initial scale with a state, its sum and the scale after them";
  ArrayRef<int64_t> sum = shapeOf(op.getSum());
  if (op.getInitialScale() && failed(checkShape(op, "initial scale", op.getInitialScale().getType(), sum)))
    return failure();
  return op.getScale() ? checkShape(op, "scale", op.getScale().getType(), sum) : success();
}

LogicalResult AdvanceOp::verify() {
  int64_t batch = shapeOf(getTokens())[0];
  if (failed(checkLengths(*this, getLengths(), batch)) || // A3
      (getPosition() && failed(checkShape(*this, "position", getPosition().getType(), {batch})))) // A69
    return failure();
  return checkShape(*this, "result", getResult().getType(), {batch}); // A69
}

LogicalResult CausalReadoutOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getQueryFeatures()), b = shapeOf(getKeyFeatures()), v = shapeOf(getValue());
  if (failed(checkLengths(*this, getLengths(), a[0])) || // A3
      failed(checkShape(*this, "key features", getKeyFeatures().getType(), {a[0], b[1], a[2], a[3]})) ||
      failed(checkShape(*this, "value", getValue().getType(), {a[0], v[1], a[2], v[3]})) ||
      failed(checkHeads(*this, a[1], b[1])) || failed(checkHeads(*this, b[1], v[1])) ||              // A9, A18
      (getDecay() && failed(checkGate(*this, "decay", getDecay(), b, b[3], /*ofHeads=*/true))) ||    // A51
      (getErase() && failed(checkGate(*this, "erase", getErase(), b, b[3]))) ||                      // A59
      failed(checkState(*this, getInitialState(), getInitialSum(), {a[0], b[1], a[3], v[3]}, /*divides=*/false)) ||
      failed(checkState(*this, getState(), getSum(), {a[0], b[1], a[3], v[3]})) || // A10
      failed(checkScales(*this)) ||                                                // A68
      failed(checkShape(*this, "numerator", getNumerator().getType(), {a[0], a[1], a[2], v[3]})))
    return failure();
  if (getErase() && executionOf(*this).grouped) // A59
    return emitOpError() << "expected erase not grouped: every head solves the chunk of its own";
  if (getWritten() && (!getErase() || a[1] != b[1])) // A108
    return emitOpError() << "expected what tokens have written only of keys that erase, each head of which one of queries reads, but got "
                         << (getErase() ? "several heads of queries for one of keys" : "no erase");
  if (getWritten() && failed(checkShape(*this, "written", getWritten().getType(), {a[0], b[1], a[2], v[3]}))) // A108
    return failure();
  return checkShape(*this, "denominator", getDenominator().getType(), {a[0], a[1], a[2]}); // A18
}

LogicalResult NormalizeOp::verify() {
  ArrayRef<int64_t> numerator = shapeOf(getNumerator());
  if (getDenominator() &&
      failed(checkShape(*this, "denominator", getDenominator().getType(), numerator.drop_back()))) // A19
    return failure();
  return checkShape(*this, "output", getOutput().getType(), numerator); // A19
}
