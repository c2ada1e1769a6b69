//===- Demands.cpp - Which rows of which values are needed ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Demands.h"

#include "attune/Attn/Attn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

using Values = SmallVector<Value, 4>;

/// Whether the third dimension of an operand of a contraction are queries.
static bool hasQueries(ArrayAttr roles) {
  return roles.size() > 2 && cast<attn::RoleAttr>(roles[2]).getValue() == attn::Role::Query;
}

static Values queriesOf(attn::ContractOp op) {
  Values values;
  if (!hasQueries(op.getResultRoles()))
    return values;
  if (hasQueries(op.getLhsRoles()))
    values.push_back(op.getLhs());
  if (hasQueries(op.getRhsRoles()))
    values.push_back(op.getRhs());
  return values;
}

/// The operands of which a row of the result reads the same row and no other.
static Values rowOperands(Operation &op) {
  return llvm::TypeSwitch<Operation *, Values>(&op)
      .Case<attn::SoftmaxOp, attn::KernelOp, attn::PolynomialOp, attn::PolysketchOp, attn::EffattOp,
            attn::SoftmaxPartialOp, attn::EvaMixOp>([](auto op) { return Values{op.getQuery()}; })
      .Case<attn::ProjectOp, attn::ProjectOutputOp, attn::RopeOp, attn::QkNormOp, attn::TakeHeadsOp, attn::RepeatHeadsOp, attn::LepeOp,
            attn::MapOp, attn::SketchOp>([](auto op) { return Values{op.getSource()}; })
      .Case<attn::VisibleOp, attn::DecayOp, attn::PowerOp, attn::RowSumOp, attn::RowMaximumOp>([](auto op) { return Values{op.getWeights()}; })
      .Case<attn::ConcatHeadsOp, attn::DiagonalBlocksOp, attn::SoftmaxMergeOp, attn::SoftmaxFinishOp,
            attn::NormalizeOp>([](auto op) { return Values(op->getOperands()); })
      .Case([](attn::ContractOp op) { return queriesOf(op); })
      .Case([](attn::ReadoutOp op) { return Values{op.getFeatures()}; })
      .Case([](attn::CausalReadoutOp op) { return Values{op.getQueryFeatures()}; })
      .Default([](Operation *) { return Values(); });
}

/// The results that have a row for each query.
static Values rowResults(Operation &op) {
  if (auto kernel = dyn_cast<attn::KernelOp>(op))
    return {kernel.getOutput()};
  if (auto readout = dyn_cast<attn::CausalReadoutOp>(op))
    return {readout.getNumerator(), readout.getDenominator()};
  return Values(op.getResults());
}

Demands::Demands(Block &body) {
  for (Value value : body.getTerminator()->getOperands())
    add(value, Demand::Rows);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    Demand demand = Demand::Nothing;
    Values results = rowResults(op), operands = rowOperands(op);
    for (Value result : results)
      demand = std::max(demand, demands.lookup(result));
    for (Value result : results) // an op computes the same rows of all its results
      add(result, demand);
    for (Value operand : op.getOperands()) {
      bool isRowsOnly = llvm::count(operands, operand) == llvm::count(op.getOperands(), operand); // q may be k as well
      add(operand, isRowsOnly ? demand : Demand::Everything);
    }
  }
}
