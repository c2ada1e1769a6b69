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
  return tensor.getDimSize(1) > 0 && tensor.getDimSize(3) > 0 &&
         (element.isF32() || element.isF16() || element.isBF16());
}

int64_t attune::attn::mappedHeads(int64_t heads, Value parameter) {
  ArrayRef<int64_t> shape = parameter ? checks::shapeOf(parameter) : ArrayRef<int64_t>();
  return shape.empty() || shape[0] <= 1 ? heads : shape[0];
}

bool checks::agree(int64_t a, int64_t b) { return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b; }

bool checks::divides(int64_t divisor, int64_t size) {
  return divisor > 0 && (ShapedType::isDynamic(size) || size % divisor == 0);
}

LogicalResult checks::checkRank(Operation *op, StringRef what, Value value, int64_t rank) {
  if (static_cast<int64_t>(shapeOf(value).size()) == rank)
    return success();
  return op->emitOpError() << "expected " << what << " of rank " << rank << ", but got " << value.getType();
}

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
              llvm::all_of(llvm::zip_equal(shape, expected), [](auto pair) { return std::apply(checks::agree, pair); });
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

LogicalResult checks::checkGate(Operation *op, StringRef what, Value gate, ArrayRef<int64_t> tokens, int64_t entries, bool ofHeads) {
  int64_t rank = static_cast<int64_t>(shapeOf(gate).size());
  if (rank == 1 && ofHeads)
    return checkShape(op, what, gate.getType(), {tokens[1]});
  SmallVector<int64_t> expected(tokens.take_front(3));
  if (rank == 4 && entries != 0)
    expected.push_back(entries);
  return checkShape(op, what, gate.getType(), expected);
}

LogicalResult checks::checkTokens(Operation *op, Value query, Value key, Value value) {
  ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key), v = shapeOf(value);
  if (failed(checkShape(op, "key", key.getType(), {q[0], k[1], k[2], q[3]})) ||
      failed(checkShape(op, "value", value.getType(), {q[0], k[1], k[2], v[3]})))
    return failure();
  return checkHeads(op, q[1], k[1]);
}

LogicalResult checks::checkOutput(Operation *op, Value query, Value value, Value output) {
  ArrayRef<int64_t> q = shapeOf(query), v = shapeOf(value);
  return checkShape(op, "output", output.getType(), {q[0], q[1], q[2], v[3]});
}

LogicalResult checks::checkLengths(Operation *op, Value lengths, int64_t batch) {
  return lengths ? checkShape(op, "lengths", lengths.getType(), {batch}) : success();
}

LogicalResult checks::checkState(Operation *op, Value state, Value sum, ArrayRef<int64_t> shape, bool divides) {
  if (static_cast<bool>(state) != static_cast<bool>(sum) && (divides || sum))
    return op->emitOpError() << "expected both a state and its sum, or neither";
  if (!state)
    return success();
  if (failed(checkShape(op, "state", state.getType(), shape)))
    return failure();
  return sum ? checkShape(op, "sum", sum.getType(), shape.drop_back()) : success();
}

LogicalResult checks::checkPositive(Operation *op, StringRef what, const APFloat &value) {
  if (value.isFinite() && value.convertToDouble() > 0)
    return success();
  return op->emitOpError() << "expected a finite " << what << " above 0, but got " << value.convertToDouble();
}

LogicalResult checks::checkCausal(Operation *op, int64_t queries, int64_t keys) {
  if (agree(queries, keys))
    return success();
  return op->emitOpError() << "expected as many queries as keys with causal, but got " << queries << " and " << keys;
}

LogicalResult checks::checkWindow(Operation *op, WindowAttr window, int64_t queries, int64_t keys) {
  if (!window)
    return success();
  if (!agree(queries, keys))
    return op->emitOpError() << "expected as many queries as keys with a window, but got " << queries << " and "
                             << keys;
  // A condition on a length waits until that is known, also where it must be that of the keys.
  int64_t tokens = queries, grid = window.getGridRows() * window.getGridColumns();
  if (ShapedType::isDynamic(tokens))
    return success();
  if (window.isGrid() && grid != tokens)
    return op->emitOpError() << "expected a window of a grid of " << tokens << " tokens, but got " << grid;
  if (!window.isGrid() && tokens % window.getLength() != 0)
    return op->emitOpError() << "expected a window whose length divides " << tokens << ", but got "
                             << window.getLength();
  return success();
}

LogicalResult checks::checkLast(Operation *op, std::optional<int64_t> last, bool causal, WindowAttr window) {
  if (!last)
    return success();
  if (*last < 1)
    return op->emitOpError() << "expected `last` of at least 1, but got " << *last;
  if (!causal || window)
    return op->emitOpError() << "expected `last` with causal and without a window, but got it "
                             << (window ? "with a window" : "without causal");
  return success();
}

LogicalResult checks::checkParameter(Operation *op, FeatureMapAttr map, Value parameter, int64_t width, int64_t heads) {
  StringRef kind = stringifyFeatureKind(map.getKind());
  if (map.hasParameter() != static_cast<bool>(parameter))
    return op->emitOpError() << "expected " << (parameter ? "no parameter" : "a parameter") << " with " << kind
                             << ", but got " << (parameter ? "one" : "none");
  if (!parameter)
    return success();
  bool focused = map.getKind() == FeatureKind::Focused;
  ArrayRef<int64_t> shape = shapeOf(parameter);
  int64_t own = shape.empty() ? 0 : shape[0];
  bool shared = !focused && own == 1;
  SmallVector<int64_t, 3> expected{heads == 0 || shared ? own : heads};
  if (!focused)
    expected.push_back(map.getFeatures(width));
  expected.push_back(width);
  return checkShape(op, focused ? "focus" : "omega", parameter.getType(), expected);
}

LogicalResult checks::checkPlaces(Operation *op, FeatureMapAttr map, int64_t tokens) {
  if (map.getKind() != FeatureKind::Cosformer || ShapedType::isDynamic(tokens) || tokens <= map.getMaxPosition())
    return success();
  return op->emitOpError() << "expected a max_position of at least " << tokens << ", but got " << map.getMaxPosition();
}
