//===- AttnVerifyShared.cpp - Checks that several ops share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

using namespace mlir;
using namespace attune::attn;

bool attune::attn::isTokens(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 4 || tensor.isDynamicDim(1) || tensor.isDynamicDim(3))
    return false;
  Type element = tensor.getElementType();
  return tensor.getDimSize(1) > 0 && tensor.getDimSize(3) > 0 && (element.isF32() || element.isF16() || element.isBF16());
}

bool checks::agree(int64_t a, int64_t b) { return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b; }

LogicalResult checks::checkShape(Operation *op, StringRef what, Type type, ArrayRef<int64_t> expected) {
  auto print = [](ArrayRef<int64_t> shape) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleave(
        shape, stream, [&](int64_t size) { ShapedType::isDynamic(size) ? (stream << '?') : (stream << size); }, "x");
    return text;
  };
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  bool fits = shape.size() == expected.size() &&
              llvm::all_of(llvm::zip(shape, expected), [](auto pair) { return std::apply(checks::agree, pair); });
  if (fits)
    return success();
  return op->emitOpError() << "expected " << what << " of " << print(expected) << ", but got " << print(shape);
}

LogicalResult checks::checkHeads(Operation *op, int64_t heads, int64_t sharedHeads) {
  if (agree(heads, sharedHeads) || (sharedHeads > 0 && heads % sharedHeads == 0))
    return success();
  return op->emitOpError() << "expected a number of key-value heads that divides " << heads << ", but got "
                           << sharedHeads;
}

LogicalResult checks::checkTokens(Operation *op, Value query, Value key, Value value) {
  ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key), v = shapeOf(value);
  auto element = [](Value tokens) { return cast<RankedTensorType>(tokens.getType()).getElementType(); };
  if (element(query) != element(key) || element(query) != element(value))
    return op->emitOpError() << "expected query, key and value of one element type, but got " << element(query) << ", "
                             << element(key) << " and " << element(value);
  if (failed(checkShape(op, "key", key.getType(), {q[0], k[1], k[2], q[3]})) ||
      failed(checkShape(op, "value", value.getType(), {q[0], k[1], k[2], v[3]})))
    return failure();
  return checkHeads(op, q[1], k[1]);
}

LogicalResult checks::checkOutput(Operation *op, Value query, Value value, Value output) {
  ArrayRef<int64_t> q = shapeOf(query), v = shapeOf(value);
  if (failed(checkShape(op, "output", output.getType(), {q[0], q[1], q[2], v[3]})))
    return failure();
  auto element = [](Value tokens) { return cast<RankedTensorType>(tokens.getType()).getElementType(); };
  if (element(output) == element(query))
    return success();
  return op->emitOpError() << "expected an output of the query's element type, but got " << element(output);
}

LogicalResult checks::checkLengths(Operation *op, Value lengths, int64_t batch) {
  return lengths ? checkShape(op, "lengths", lengths.getType(), {batch}) : success();
}

LogicalResult checks::checkState(Operation *op, Value state, Value sum, int64_t batch, int64_t heads, int64_t features,
                                 int64_t width) {
  if (static_cast<bool>(state) != static_cast<bool>(sum))
    return op->emitOpError() << "expected both a state and its sum, or neither";
  if (!state)
    return success();
  if (failed(checkShape(op, "state", state.getType(), {batch, heads, features, width})))
    return failure();
  return checkShape(op, "sum", sum.getType(), {batch, heads, features});
}
