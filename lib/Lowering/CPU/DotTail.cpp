//===- DotTail.cpp - The few rows of a dot that fill no vector -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DotTail.h"

#include "DotForms.h"
#include "VectorOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Vectors of a row that are held in registers.
static constexpr int64_t mostVectors = 8;

/// Whether the tile's rows lie along the depth, one by one.
static bool hasRows(KernelState &state, Value tile) {
  std::optional<Buffer> buffer = isFree(tile) ? std::nullopt : state.find(tile, Order::Row);
  return buffer.has_value();
}

int64_t cpu::tailRows(KernelState &state, tile::DotOp dot) {
  Emit &emit = state.emit;
  int64_t lanes = emit.lanes(), left = dot.getM() % lanes, depth = dot.getK();
  // A row costs a few instructions for each product of rows, a padded vector `depth` of them.
  if (left == 0 || left > lanes / 4 || dot.getM() < lanes || depth % lanes != 0 || depth / lanes > mostVectors)
    return 0;
  bool plain = orderOf(dot.getResult()) == Order::Column && !dot.getTransposeA() && dot.getTransposeB() &&
               splatValue(dot.getAcc()) == 0.0 && !takesPairs(dot, emit.isa) && !resultDiagonal(dot) &&
               !operandDiagonal(dot) && !multipliedResult(dot, lanes);
  bool rows = plain && hasRows(state, dot.getA()) && hasRows(state, dot.getB());
  return rows && !state.find(dot.getA(), Order::Row)->fold ? left : 0;
}

void DotTail::emit(Emit &emit) const {
  Type f32 = emit.getF32Type();
  int64_t lanes = emit.lanes();
  auto at = [&](Value start, int64_t vector) {
    return emit.load(emit.offset(start, emit.constant(vector * lanes), f32), emit.floats());
  };
  SmallVector<Value, mostVectors> own;
  for (int64_t vector = 0; vector < depth / lanes; ++vector)
    own.push_back(at(row, vector));
  emit.loop(emit.constant(0), emit.constant(others), 1, [&](Value i) {
    Value start = otherRow(i), sum = emit.splat(0.0);
    for (auto [vector, mine] : llvm::enumerate(own))
      sum = LLVM::FMAOp::create(emit, mine, at(start, vector), sum);
    Value place = emit.offset(result, emit.mul(i, resultStep), f32);
    emit.store(acrossLanes(emit, tile::ReduceKind::Add, sum), place);
  });
}
