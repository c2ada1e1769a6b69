//===- Scan.cpp - Causal products token by token --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

using namespace mlir;
using namespace attune::tile;

static RankedTensorType typeOf(Value tile) { return llvm::cast<RankedTensorType>(tile.getType()); }

int64_t ScanOp::getRows() { return typeOf(getA()).getShape()[0]; }
int64_t ScanOp::getFeatures() { return typeOf(getState()).getShape()[0]; }
int64_t ScanOp::getColumns() { return typeOf(getState()).getShape()[1]; }
bool ScanOp::decaysOnce() { return getDecay() && typeOf(getDecay()).getRank() == 1; }

LogicalResult ScanOp::verify() {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    constexpr unsigned decay = 5;
    RankedTensorType type = typeOf(operand.get());
    bool hasRank = type.getRank() == 2 || (operand.getOperandNumber() == decay && type.getRank() == 1);
    if (!hasRank || !type.hasStaticShape() || !type.getElementType().isF32())
      return emitOpError() << "expected operands of f32 with static sizes and rank 2, or a decay of rank 1, but got " << type;
  }
  RankedTensorType a = typeOf(getA()), v = typeOf(getV());
  auto expect = [&](StringRef what, Value operand, int64_t rows, int64_t columns) -> LogicalResult {
    ArrayRef<int64_t> shape = typeOf(operand).getShape();
    if (shape == ArrayRef<int64_t>{rows, columns})
      return success();
    return emitOpError() << "expected " << what << " of " << rows << "x" << columns << ", but got " << shape[0] << "x" << shape[1];
  };
  if (failed(expect("v", getV(), a.getShape()[0], v.getShape()[1])) ||
      failed(expect("a state", getState(), a.getShape()[1], v.getShape()[1])))
    return failure();
  int64_t fades = (getDecayColumns() ? v : a).getShape()[1];
  if (getDecay() && typeOf(getDecay()).getRank() == 2)
    return expect("a decay", getDecay(), a.getShape()[0], fades);
  if (getDecay() && typeOf(getDecay()).getShape()[0] != fades)
    return emitOpError() << "expected a decay of " << fades << ", but got " << typeOf(getDecay()).getShape()[0];
  if (!getDecay() && getDecayColumns())
    return emitOpError() << "expected a decay of columns, but got none";
  return success();
}

/// What decays costs a product more for each element of S.
OpCount ScanOp::getCount() {
  double elements = double(getRows()) * double(getFeatures()) * double(getColumns());
  OpCount count = OpCount::of(Counted::MacsF32, 2 * elements);
  if (getDecay())
    count.add(OpCount::of(Counted::Elementwise, decaysOnce() ? elements / double(getRows()) : elements));
  return count;
}
