//===- RunningSums.cpp - Products with a triangle of ones ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums over spans of tokens are products with a triangle in tile IR, for that is what a matrix unit does in no time. Here they are
// as many additions as there are numbers: of [T, m] T m, not T² m multiply-adds.
//
//===----------------------------------------------------------------------===//
#include "RunningSums.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Sums that are carried at once: so many chains hide how long an addition takes.
static constexpr int64_t mostVectors = 8;

std::optional<RunningSums> cpu::runningSums(tile::DotOp dot) {
  auto triangle = dot.getA().getDefiningOp<tile::MaskOp>();
  APInt diagonal;
  if (!triangle || splatValue(triangle.getSource()) != 1.0 || !triangle.getFill().isZero() || triangle.getRows() || triangle.getCols() ||
      !matchPattern(triangle.getDiagonal(), m_ConstantInt(&diagonal)))
    return std::nullopt;
  int64_t offset = diagonal.getSExtValue();
  bool plain = dot.getM() == dot.getK() && !dot.getTransposeB() && splatValue(dot.getAcc()) == 0.0;
  if (!plain || (offset != 0 && offset != -1) || !tileType(dot.getB()).getElementType().isF32())
    return std::nullopt;
  return RunningSums{dot.getTransposeA(), offset == 0};
}

void cpu::emitRunningSums(KernelState &state, tile::DotOp dot, RunningSums sums) {
  Emit &emit = state.emit;
  Buffer rows = state.require(dot.getB(), Order::Row), result = state.destination(dot.getResult(), Order::Row);
  int64_t lanes = emit.lanes(), count = dot.getM(), vectors = roundUp(dot.getN(), lanes) / lanes;
  for (int64_t first = 0; first < vectors; first += mostVectors) {
    SmallVector<Value> none(std::min(mostVectors, vectors - first), emit.splat(0.0));
    emit.loop(emit.constant(0), emit.constant(count), 1, none, [&](Value step, ValueRange before) {
      Value row = sums.fromEnd ? emit.sub(emit.constant(count - 1), step) : step;
      SmallVector<Value> after;
      for (auto [vector, sum] : llvm::enumerate(before)) {
        Value column = emit.constant((first + static_cast<int64_t>(vector)) * lanes);
        auto place = [&](Buffer buffer) {
          return emit.offset(buffer.pointer, emit.add(emit.mul(row, buffer.stride), column), emit.getF32Type());
        };
        after.push_back(arith::AddFOp::create(emit, sum, emit.load(place(rows), emit.floats())));
        emit.store(sums.own ? after.back() : sum, place(result));
      }
      return after;
    });
  }
}
