//===- GradientPairs.cpp - Cotangents of contractions and of weights of pairs -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnGradients.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::gradients;

//===----------------------------------------------------------------------===//
// What cotangents share
//===----------------------------------------------------------------------===//

ArrayAttr gradients::attributeOf(OpBuilder &builder, Roles roles) {
  return builder.getArrayAttr(llvm::map_to_vector(roles, [&](Role role) -> Attribute { return RoleAttr::get(builder.getContext(), role); }));
}

Value gradients::spread(OpBuilder &builder, Location loc, Value source, Roles sourceRoles, Value like, Roles likeRoles) {
  return SpreadOp::create(builder, loc, typeLike(builder, like), source, like, attributeOf(builder, sourceRoles), attributeOf(builder, likeRoles));
}

/// The sizes of each operand's roles: of heads, the larger number.
static SmallVector<int64_t> sizesOf(Value lhs, Roles lhsRoles, Value rhs, Roles rhsRoles, Roles resultRoles) {
  SmallVector<int64_t> sizes(resultRoles.size(), 0);
  for (auto [operand, roles] : {std::pair(lhs, lhsRoles), std::pair(rhs, rhsRoles)})
    for (auto [role, size] : llvm::zip_equal(roles, shapeOf(operand)))
      if (const Role *place = llvm::find(resultRoles, role); place != resultRoles.end()) {
        int64_t &known = sizes[place - resultRoles.begin()];
        known = known == 0 || ShapedType::isDynamic(known) ? size : std::max(known, size);
      }
  return sizes;
}

Value gradients::contract(OpBuilder &builder, Location loc, Value lhs, Roles lhsRoles, Value rhs, Roles rhsRoles, Roles resultRoles) {
  ArrayAttr ofLhs = attributeOf(builder, lhsRoles), ofRhs = attributeOf(builder, rhsRoles), ofResult = attributeOf(builder, resultRoles);
  for (Operation *user : lhs.getUsers())
    if (auto known = dyn_cast<ContractOp>(user); known && known.getLhs() == lhs && known.getRhs() == rhs && known.getLhsRoles() == ofLhs &&
                                                 known.getRhsRoles() == ofRhs && known.getResultRoles() == ofResult &&
                                                 known->getBlock() == builder.getInsertionBlock())
      return known;
  return ContractOp::create(builder, loc, f32Of(builder, sizesOf(lhs, lhsRoles, rhs, rhsRoles, resultRoles)), lhs, rhs, ofLhs, ofRhs, ofResult);
}

Value gradients::sumHeads(OpBuilder &builder, Location loc, Value source, int64_t heads, bool parameter) {
  size_t dimension = parameter ? 0 : 1;
  SmallVector<int64_t> shape(shapeOf(source));
  if (shape[dimension] == heads)
    return source;
  shape[dimension] = heads;
  return SumHeadsOp::create(builder, loc, f32Of(builder, shape), source, parameter ? builder.getUnitAttr() : UnitAttr());
}

Value gradients::scaled(OpBuilder &builder, Location loc, Value source, double factor) {
  return ScaleOp::create(builder, loc, typeLike(builder, source), source, builder.getF64FloatAttr(factor));
}

Value gradients::sum(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return AddOp::create(builder, loc, lhs.getType(), lhs, rhs);
}

Value gradients::existing(OpBuilder &builder, Location loc, Value tokens, Value lengths) {
  if (!lengths)
    return tokens;
  return ExistingOp::create(builder, loc, typeLike(builder, tokens), tokens, lengths);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static SmallVector<Role> rolesIn(ArrayAttr roles) {
  return llvm::map_to_vector(roles.getAsRange<RoleAttr>(), [](RoleAttr role) { return role.getValue(); });
}

/// Ā = ȳ B over the roles that A lacks; heads that share one of A are summed.
static Value operandGradient(OpBuilder &builder, ContractOp op, Value cotangent, Value other, ArrayAttr otherRoles, Value operand,
                             ArrayAttr operandRoles) {
  SmallVector<Role> roles = rolesIn(operandRoles), given = rolesIn(op.getResultRoles()), others = rolesIn(otherRoles);
  if (llvm::is_contained(others, Role::Query) && llvm::is_contained(others, Role::Key)) { // weights of pairs stand first
    std::swap(cotangent, other);
    std::swap(given, others);
  }
  Value result = contract(builder, op.getLoc(), cotangent, given, other, others, roles);
  const Role *head = llvm::find(roles, Role::Head);
  size_t dimension = head - roles.begin();
  if (head == roles.end() || dimension > 1)
    return result;
  return sumHeads(builder, op.getLoc(), result, shapeOf(operand)[dimension], /*parameter=*/dimension == 0);
}

SmallVector<Value> ContractOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  return {operandGradient(builder, *this, cotangents[0], getRhs(), getRhsRoles(), getLhs(), getLhsRoles()),
          operandGradient(builder, *this, cotangents[0], getLhs(), getLhsRoles(), getRhs(), getRhsRoles())};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

SmallVector<Value> VisibleOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  gradients[0] = VisibleOp::create(builder, getLoc(), cotangents[0].getType(), cotangents[0], getLengths(), getCausalAttr(), getWindowAttr(),
                                   getLastAttr());
  return gradients;
}

/// w̄ = decay(ȳ); of the exponents, every pair's share ȳ ⊙ y for each token that lies within it.
SmallVector<Value> DecayOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  gradients[0] = DecayOp::create(builder, getLoc(), cotangents[0].getType(), cotangents[0], getDecay(), getLengths());
  Value shares = MultiplyOp::create(builder, getLoc(), typeLike(builder, getResult()), cotangents[0], getResult());
  gradients[1] = DecaySumsOp::create(builder, getLoc(), typeLike(builder, getDecay()), shares, getLengths());
  return gradients;
}

/// What reaches logarithms of a product reaches those of its factors, and the readout has the cotangent of the shares.
SmallVector<Value> GateOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  if (auto readout = cotangents[0].getDefiningOp<CausalReadoutGradientOp>(); readout && readout.getWriteGradient())
    return {cotangents[0], readout.getWriteGradient()};
  Value source = GateOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getGate());
  const Role entries[] = {Role::Batch, Role::Head, Role::Key, Role::Value};
  bool ofTokens = shapeOf(getGate()).size() == 3;
  Value gate = ofTokens ? contract(builder, getLoc(), cotangents[0], entries, getSource(), entries, Roles(entries).drop_back())
                        : MultiplyOp::create(builder, getLoc(), typeLike(builder, getGate()), cotangents[0], getSource()).getResult();
  return {source, gate};
}

SmallVector<Value> AddOp::buildGradients(OpBuilder &, ValueRange cotangents) { return {cotangents[0], cotangents[0]}; }

/// What is multiplied with 0 is a constant.
SmallVector<Value> ScaleOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  if (getFactor().isZero())
    return {Value()};
  return {ScaleOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getFactorAttr())};
}

SmallVector<Value> MultiplyOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  auto times = [&](Value like, Value x, Value y) -> Value { return MultiplyOp::create(builder, getLoc(), typeLike(builder, like), x, y); };
  return {times(getLhs(), cotangents[0], getRhs()), times(getRhs(), getLhs(), cotangents[0])};
}

SmallVector<Value> RowSumOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  const Role pairs[] = {Role::Batch, Role::Head, Role::Query, Role::Key};
  return {spread(builder, getLoc(), cotangents[0], Roles(pairs).drop_back(), getWeights(), pairs)};
}

/// A unit is a constant.
SmallVector<Value> RowMaximumOp::buildGradients(OpBuilder &, ValueRange) { return {Value()}; }

/// d (s w)^p / dw = p s (s w)^{p − 1}.
SmallVector<Value> PowerOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  auto degree = static_cast<int64_t>(getDegree());
  double factor = static_cast<double>(degree) * getScale().convertToDouble();
  if (degree == 1)
    return {scaled(builder, getLoc(), cotangents[0], factor)};
  Value lower = PowerOp::create(builder, getLoc(), getWeights().getType(), getWeights(), builder.getI64IntegerAttr(degree - 1), getScaleAttr());
  Value slope = scaled(builder, getLoc(), lower, factor);
  return {MultiplyOp::create(builder, getLoc(), typeLike(builder, getWeights()), cotangents[0], slope)};
}

SmallVector<Value> DiagonalBlocksOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  auto only = [&](bool outside) -> Value {
    return OnlyBlocksOp::create(builder, getLoc(), cotangents[0].getType(), cotangents[0], getBlockAttr(),
                                outside ? builder.getUnitAttr() : UnitAttr());
  };
  return {only(/*outside=*/false), only(/*outside=*/true)};
}
