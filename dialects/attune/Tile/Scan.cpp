//===- Scan.cpp - Causal products token by token --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"
#include "attune/VersionedBytecode.h"

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
    bool hasRank = type.getRank() == 2 || (getDecay() && operand.getOperandNumber() == decay && type.getRank() == 1);
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
      failed(expect("a state", getState(), a.getShape()[1], v.getShape()[1])) ||
      (getErase() && failed(expect("rows that erase", getErase(), a.getShape()[0], a.getShape()[1]))))
    return failure();
  if (static_cast<bool>(getErase()) != static_cast<bool>(getWritten()))
    return emitOpError() << "expected rows that erase together with what they write, but got " << (getErase() ? "no result for it" : "a result without them");
  if (getWritten() && getWritten().getType() != getV().getType())
    return emitOpError() << "expected what is written of " << getV().getType() << ", but got " << getWritten().getType();
  if (getErase() && (getExclusive() || getReverse()))
    return emitOpError() << "expected rows that erase to be read behind themselves, from the first on, but got "
                         << (getReverse() ? "`reverse`" : "`exclusive`");
  int64_t fades = (getDecayColumns() ? v : a).getShape()[1];
  if (getDecay() && typeOf(getDecay()).getRank() == 2)
    return expect("a decay", getDecay(), a.getShape()[0], fades);
  if (getDecay() && typeOf(getDecay()).getShape()[0] != fades)
    return emitOpError() << "expected a decay of " << fades << ", but got " << typeOf(getDecay()).getShape()[0];
  if (!getDecay() && getDecayColumns())
    return emitOpError() << "expected a decay of columns, but got none";
  return success();
}

/// What decays costs a product more for each element of S, what erases a multiply-add.
OpCount ScanOp::getCount() {
  double elements = double(getRows()) * double(getFeatures()) * double(getColumns());
  OpCount count = OpCount::of(Counted::MacsF32, (getErase() ? 3 : 2) * elements);
  if (getDecay())
    count.add(OpCount::of(Counted::Elementwise, decaysOnce() ? elements / double(getRows()) : elements));
  return count;
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

namespace {
enum Optional : uint64_t { Decays = 1, Erases = 2 };
} // namespace

LogicalResult ScanOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.decay_columns)) || failed(reader.readOptionalAttribute(properties.exclusive)) ||
      failed(reader.readOptionalAttribute(properties.reverse)))
    return failure();
  constexpr uint64_t withErasing = 4;
  if (versionRead(reader, TileDialect::getDialectNamespace()) < withErasing)
    return success(); // its upgrade counts the operands
  uint64_t has = 0;
  if (failed(reader.readVarInt(has)))
    return failure();
  properties.operandSegmentSizes = {1, 1, 1, 1, 1, (has & Decays) != 0, (has & Erases) != 0};
  return success();
}

void ScanOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeOptionalAttribute(getProperties().decay_columns);
  writer.writeOptionalAttribute(getProperties().exclusive);
  writer.writeOptionalAttribute(getProperties().reverse);
  writer.writeVarInt((getDecay() ? Decays : 0) | (getErase() ? Erases : 0));
}
