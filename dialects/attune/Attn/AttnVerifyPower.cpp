//===- AttnVerifyPower.cpp - Verifiers of polynomial attention and sketches of it -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"
#include "attune/Attn/Execution.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

static bool isPowerOf2(int64_t value) { return value > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(value)); }

LogicalResult PolynomialOp::verify() {
  auto degree = static_cast<int64_t>(getDegree());
  if (failed(checkMechanism(*this)) || failed(checkPositive(*this, "scale", getScale())) ||      // A1 … A4
      failed(checkWindow(*this, getWindowAttr(), shapeOf(getQuery())[2], shapeOf(getKey())[2])) || // A20
      failed(checkLast(*this, getLast(), getCausal(), getWindowAttr())))                            // A62
    return failure();
  if (degree < 2 || degree % 2 != 0) // A28
    return emitOpError() << "expected an even degree of at least 2, but got " << degree;
  return success();
}

//===----------------------------------------------------------------------===//
// Sketches
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of a sketch of `leaves` leaves: its signs and indices, of leaves and then of the nodes' two sides.
struct SketchParameters {
  Operation *op;
  OperandRange signs, indices;
  int64_t leaves, heads, width, size;

  /// A29 of the size, A30.
  LogicalResult check() const;

private:
  LogicalResult checkCount(StringRef what, OperandRange values) const;
};
} // namespace

LogicalResult SketchParameters::checkCount(StringRef what, OperandRange values) const {
  auto expected = static_cast<size_t>(3 * leaves - 2);
  if (values.size() == expected)
    return success();
  return op->emitOpError() << "expected " << expected << " " << what << " of " << leaves << " leaves and " << leaves - 1
                           << " nodes, but got " << values.size();
}

LogicalResult SketchParameters::check() const {
  if (!isPowerOf2(size)) // A29
    return op->emitOpError() << "expected a size that is a power of two, but got " << size;
  if (failed(checkCount("signs", signs)) || failed(checkCount("indices", indices))) // A30
    return failure();
  auto padded = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(width)));
  for (auto [place, pair] : llvm::enumerate(llvm::zip_equal(signs, indices))) { // A30
    auto [sign, index] = pair;
    bool leaf = static_cast<int64_t>(place) < leaves;
    if (failed(checkShape(op, leaf ? "signs of a leaf" : "signs of a node", sign.getType(),
                          {heads, leaf ? padded : size})) ||
        failed(checkShape(op, "indices", index.getType(), {heads, size})))
      return failure();
  }
  return success();
}

/// A75 of one side: S, z and what they stand in.
static LogicalResult checkSketched(PolysketchOp op, Value state, Value sum, Value scale) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery());
  auto size = static_cast<int64_t>(op.getSize());
  if (static_cast<bool>(state) != static_cast<bool>(sum) || static_cast<bool>(sum) != static_cast<bool>(scale))
    return op.emitOpError() << "expected a state, its sum and its scale, or none of them";
  if (!state)
    return success();
  if (!op.getCausal())
    return op.emitOpError() << "expected causal with a state";
  int64_t batch = q[0], heads = q[1];
  if (failed(checkState(op, state, sum, {batch, heads, size * size, shapeOf(op.getValue())[3]})))
    return failure();
  return checkShape(op, "scale", scale.getType(), {batch, heads});
}

/// A76 of one side: what is held of a block that is not full.
static LogicalResult checkHeld(PolysketchOp op, Value state, Value key, Value value) {
  bool held = state && op.getLocalExact();
  if (static_cast<bool>(key) != held || static_cast<bool>(value) != held)
    return op.emitOpError() << "expected held keys and values with local_exact and a state on their side, and else none";
  if (!held)
    return success();
  ArrayRef<int64_t> k = shapeOf(op.getKey()), v = shapeOf(op.getValue());
  auto block = static_cast<int64_t>(*op.getLocalExact());
  if (failed(checkShape(op, "held keys", key.getType(), {k[0], k[1], block, k[3]})))
    return failure();
  return checkShape(op, "held values", value.getType(), {v[0], v[1], block, v[3]});
}

static LogicalResult checkStates(PolysketchOp op) {
  if (failed(checkSketched(op, op.getInitialState(), op.getInitialSum(), op.getInitialScale())) ||
      failed(checkSketched(op, op.getFinalState(), op.getFinalSum(), op.getFinalScale())) || // A75
      failed(checkHeld(op, op.getInitialState(), op.getHeldKey(), op.getHeldValue())) ||
      failed(checkHeld(op, op.getFinalState(), op.getFinalKey(), op.getFinalValue()))) // A76
    return failure();
  if (!op.getPosition())
    return success();
  if (!op.getLocalExact() || !op.getInitialState()) // A77
    return op.emitOpError() << "expected local_exact and an initial state with a position";
  return checkShape(op, "position", op.getPosition().getType(), {shapeOf(op.getQuery())[0]});
}

LogicalResult PolysketchOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey());
  auto degree = static_cast<int64_t>(getDegree()), size = static_cast<int64_t>(getSize());
  if (failed(checkMechanism(*this)) || failed(checkPositive(*this, "scale", getScale())) || // A1 … A4
      (getCausal() && failed(checkCausal(*this, q[2], k[2]))))                              // A9
    return failure();
  if (degree < 4 || !isPowerOf2(degree)) // A29
    return emitOpError() << "expected a degree of 4, 8, 16, ..., but got " << degree;
  if (failed(SketchParameters{*this, getSigns(), getIndices(), degree / 2, q[1], q[3], size}.check()))
    return failure();
  if (getLocalExact() && !getCausal()) // A31
    return emitOpError() << "expected causal with local_exact";
  if (failed(checkStates(*this)))
    return failure();
  if (getLocalExact() && !hasStates() && !divides(static_cast<int64_t>(*getLocalExact()), q[2])) // A31
    return emitOpError() << "expected a local_exact that divides " << q[2] << ", but got "
                         << static_cast<int64_t>(*getLocalExact());
  Execution execution = executionOf(*this);
  if ((execution.form == TermForm::State && getCausal()) || (execution.form == TermForm::Chunked && !getCausal())) // A56
    return emitOpError() << "expected " << (getCausal() ? "chunks" : "one state of all keys") << " of "
                         << (getCausal() ? "a causal" : "an") << " attention" << (getCausal() ? "" : " that is not causal")
                         << ", but got " << *getExecution();
  if (execution.split && execution.form != TermForm::Chunked) // A56
    return emitOpError() << "expected form = chunked with split = true, but got " << *getExecution();
  return success();
}

/// A sketch and its gradient: A4, A29, A30. `sketched` has a row for each of the signs' heads.
template <typename Op> static LogicalResult checkSketch(Op op, Value sketched, StringRef what) {
  ArrayRef<int64_t> x = shapeOf(op.getSource());
  auto count = static_cast<int64_t>(op.getSigns().size()), size = static_cast<int64_t>(op.getSize());
  int64_t leaves = (count + 2) / 3;
  if (failed(checkPositive(op, "scale", op.getScale()))) // A4
    return failure();
  if (3 * leaves - 2 != count || !isPowerOf2(leaves)) // A29, A30
    return op.emitOpError() << "expected 1, 4, 10, 22, ... signs (of 1, 2, 4, 8, ... leaves), but got " << count;
  if (failed(checkRank(op, "signs", op.getSigns().front(), 2)))
    return failure();
  int64_t heads = shapeOf(op.getSigns().front())[0];
  if (failed(SketchParameters{op, op.getSigns(), op.getIndices(), leaves, heads, x[3], size}.check()) ||
      failed(checkHeads(op, heads, x[1])))
    return failure();
  return checkShape(op, what, sketched.getType(), {x[0], heads, x[2], size}); // A30
}

LogicalResult SketchOp::verify() { return checkSketch(*this, getResult(), "result"); }

LogicalResult SketchGradientOp::verify() { // A91
  ArrayRef<int64_t> c = shapeOf(getCotangent());
  if (failed(checkSketch(*this, getCotangent(), "cotangent")))
    return failure();
  return checkShape(*this, "result", getResult().getType(), {c[0], c[1], c[2], shapeOf(getSource())[3]});
}

//===----------------------------------------------------------------------===//
// The other terms
//===----------------------------------------------------------------------===//

LogicalResult PowerOp::verify() {
  auto degree = static_cast<int64_t>(getDegree());
  if (degree < 1) // A32
    return emitOpError() << "expected a degree of at least 1, but got " << degree;
  return checkPositive(*this, "scale", getScale()); // A4
}

LogicalResult DiagonalBlocksOp::verify() {
  auto block = static_cast<int64_t>(getBlock());
  if (block < 1) // A33
    return emitOpError() << "expected a block of at least 1, but got " << block;
  return success();
}

LogicalResult OnlyBlocksOp::verify() {
  if (getBlock() >= 1) // A33
    return success();
  return emitOpError() << "expected a block of at least one token, but got " << getBlock();
}
