//===- FoldedRows.cpp - Rows of a window of an image, where they lie -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FoldedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

std::string Fold::name() const { return columns ? std::to_string(columns) + "r" + std::to_string(run) : ""; }

/// A number that divides the index; 0 of the constant 0.
static int64_t divisorOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    return matchPattern(product.getRhs(), m_ConstantInt(&constant)) ? std::abs(constant.getSExtValue()) : 1;
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<tile::LoopOp>(argument.getOwner()->getParentOp()) : tile::LoopOp();
  if (!loop || argument != loop.getInductionVar())
    return 1;
  return std::gcd(divisorOf(loop.getLower()), static_cast<int64_t>(loop.getStep()));
}

template <typename Op> static Fold foldOfAccess(Op op) {
  if (!op.getFold() || op.getColumns() == op.getStride())
    return {};
  return {static_cast<int64_t>(*op.getColumns()), std::gcd<int64_t>(*op.getColumns(), divisorOf(op.getFold()))};
}
Fold cpu::foldOf(tile::LoadOp load) { return foldOfAccess(load); }
Fold cpu::foldOf(tile::StoreOp store) { return foldOfAccess(store); }

Value cpu::foldedRow(Emit &emit, const Fold &fold, const FoldPlace &place, Value i) {
  if (!fold)
    return i;
  // In 32 bits a division by a constant is one product.
  Type i32 = emit.getI32Type(), i64 = emit.getI64Type();
  Value token = emit.add(place.first, i), narrow = arith::TruncIOp::create(emit, i32, token);
  Value above = arith::DivUIOp::create(emit, narrow, emit.number(static_cast<int32_t>(fold.columns)));
  return emit.add(token, emit.mul(arith::ExtUIOp::create(emit, i64, above), place.jump));
}

RowWalk::RowWalk(Emit &emit, const Fold &fold, const FoldPlace &place, Value step)
    : columns(fold.columns), step(step), stepAndJump(emit.add(step, emit.mul(step, place.jump))) {
  Value passed = arith::RemUIOp::create(emit, place.first, emit.constant(columns));
  Value start = emit.mul(foldedRow(emit, fold, place, emit.constant(0)), step);
  first = {start, emit.sub(emit.constant(columns), passed)};
}

SmallVector<Value, 2> RowWalk::next(Emit &emit, ValueRange now) const {
  Value last = arith::CmpIOp::create(emit, arith::CmpIPredicate::eq, now[1], emit.constant(1));
  Value left = emit.select(last, emit.constant(columns), emit.sub(now[1], emit.constant(1)));
  return {emit.add(now[0], emit.select(last, stepAndJump, step)), left};
}
