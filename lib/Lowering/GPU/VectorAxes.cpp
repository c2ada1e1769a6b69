//===- VectorAxes.cpp - Along which axis rank-1 tiles lie ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "VectorAxes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;
using namespace attune::tile;

bool device::isVector(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 1;
}

static bool isConstant(Value value) { return value.getDefiningOp<arith::ConstantOp>() != nullptr; }

VectorAxes::VectorAxes(KernelOp kernel) {
  kernel.walk([&](Operation *op) { visit(op); });
  for (auto [value, axis] : votes)
    balance[leader(value)] += axis == 1 ? 1 : -1;
}

int64_t VectorAxes::axisOf(Value value) const { return balance.lookup(leader(value)) < 0 ? 0 : 1; }

void VectorAxes::join(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isVector(value) || isConstant(value))
      continue;
    classes.insert(value.getAsOpaquePointer());
    if (first)
      classes.unionSets(first.getAsOpaquePointer(), value.getAsOpaquePointer());
    first = value;
  }
}

void VectorAxes::vote(Value value, int64_t axis) {
  if (!isConstant(value))
    votes.emplace_back(value, axis);
}

void VectorAxes::visit(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return vote(reduce.getResult(), reduce.getAxis());
  if (auto expand = dyn_cast<ExpandOp>(op))
    return vote(expand.getSource(), expand.getAxis());
  if (auto permute = dyn_cast<PermuteColumnsOp>(op); permute && isVector(permute.getSource()))
    return vote(permute.getSource(), 0), vote(permute.getResult(), 0);
  if (auto loop = dyn_cast<LoopOp>(op)) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      join({loop.getInitArgs()[i], loop.getCarried()[i], loop.getYield()->getOperand(i), loop.getResult(i)});
    return;
  }
  if (isa<LoadOp, StoreOp, YieldOp, DotOp>(op))
    return;
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  join(values);
}
