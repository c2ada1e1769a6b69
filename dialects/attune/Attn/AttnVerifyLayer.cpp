//===- AttnVerifyLayer.cpp - Verifiers of what stands around a mechanism -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

LogicalResult ProjectOp::verify() { // A40
  ArrayRef<int64_t> x = shapeOf(getSource()), r = shapeOf(getResult());
  int64_t width = r[1] * r[3];
  if (failed(checkShape(*this, "weight", getWeight().getType(), {x[2], width})) ||
      (getBias() && failed(checkShape(*this, "bias", getBias().getType(), {width}))))
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], r[1], x[1], r[3]});
}

LogicalResult ProjectOutputOp::verify() { // A41
  ArrayRef<int64_t> o = shapeOf(getSource()), y = shapeOf(getResult());
  if (failed(checkShape(*this, "weight", getWeight().getType(), {o[1] * o[3], y[2]})) ||
      (getBias() && failed(checkShape(*this, "bias", getBias().getType(), {y[2]}))))
    return failure();
  return checkShape(*this, "result", getResult().getType(), {o[0], o[2], y[2]});
}

LogicalResult RopeOp::verify() { // A42
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (x[3] % 2 != 0)
    return emitOpError() << "expected an even width, but got " << x[3];
  if (getAligned() && !agree(shapeOf(getAligned())[0], x[0]))
    return emitOpError() << "expected what tokens are aligned to for " << x[0] << " batch entries, but got "
                         << shapeOf(getAligned())[0];
  return checkPositive(*this, "base", getBase());
}

LogicalResult QkNormOp::verify() { return checkPositive(*this, "epsilon", getEpsilon()); } // A43

LogicalResult CompressOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (failed(checkLengths(*this, getLengths(), x[0])) || failed(checkRank(*this, "weight", getWeight(), 3))) // A3
    return failure();
  ArrayRef<int64_t> w = shapeOf(getWeight());
  if (!divides(w[0], x[1])) // A44
    return emitOpError() << "expected a number of heads of the weight that divides " << x[1] << ", but got " << w[0];
  if (failed(checkShape(*this, "weight", getWeight().getType(), {w[0], w[1], x[2]}))) // A44
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], x[1], w[1], x[3]}); // A44
}

/// A45: the image of two-dimensional LePE.
static LogicalResult checkGrid(LepeOp op, ArrayRef<int64_t> grid, int64_t tokens) {
  if (op.getWindow())
    return op.emitOpError() << "expected a grid or a window, but got both";
  if (grid.size() != 2 || grid[0] < 1 || grid[1] < 1)
    return op.emitOpError() << "expected a grid of two sizes of at least 1";
  if (agree(tokens, grid[0] * grid[1]))
    return success();
  return op.emitOpError() << "expected a grid of " << tokens << " tokens, but got " << grid[0] << "x" << grid[1];
}

LogicalResult LepeOp::verify() {
  ArrayRef<int64_t> o = shapeOf(getSource()), v = shapeOf(getValue());
  if (failed(checkLengths(*this, getLengths(), o[0])) ||                                                // A3
      failed(checkShape(*this, "value", getValue().getType(), {o[0], v[1], o[2], o[3]})) ||             // A45
      failed(checkHeads(*this, o[1], v[1])) || failed(checkWindow(*this, getWindowAttr(), o[2], v[2]))) // A45, A20
    return failure();
  if (getGrid() && failed(checkGrid(*this, *getGrid(), o[2])))
    return failure();
  SmallVector<int64_t, 4> taps{o[1], o[3], 3};
  if (getGrid() || (getWindow() && getWindow()->isGrid()))
    taps.push_back(3);
  if (failed(checkShape(*this, "weight", getWeight().getType(), taps))) // A45
    return failure();
  return getBias() ? checkShape(*this, "bias", getBias().getType(), {o[1], o[3]}) : success(); // A45
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

static LogicalResult checkElement(Operation *op, Value part, Value whole) {
  Type a = cast<RankedTensorType>(part.getType()).getElementType();
  Type b = cast<RankedTensorType>(whole.getType()).getElementType();
  if (a == b)
    return success();
  return op->emitOpError() << "expected heads of one element type, but got " << a << " and " << b;
}

LogicalResult TakeHeadsOp::verify() { // A46
  ArrayRef<int64_t> x = shapeOf(getSource()), r = shapeOf(getResult());
  auto first = static_cast<int64_t>(getFirst());
  if (first < 0 || first > x[1] - r[1])
    return emitOpError() << "expected " << r[1] << " heads from " << first << " on within " << x[1] << " heads";
  if (failed(checkElement(*this, getResult(), getSource())))
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], r[1], x[2], x[3]});
}

LogicalResult RepeatHeadsOp::verify() { // A61
  ArrayRef<int64_t> x = shapeOf(getSource()), r = shapeOf(getResult());
  if (failed(checkHeads(*this, r[1], x[1])) || failed(checkElement(*this, getResult(), getSource())))
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], r[1], x[2], x[3]});
}

LogicalResult ConcatHeadsOp::verify() { // A47
  if (getParts().empty())
    return emitOpError() << "expected at least one part";
  ArrayRef<int64_t> r = shapeOf(getResult());
  int64_t heads = 0;
  for (Value part : getParts()) {
    heads += shapeOf(part)[1];
    if (failed(checkElement(*this, part, getResult())) ||
        failed(checkShape(*this, "part", part.getType(), {r[0], shapeOf(part)[1], r[2], r[3]})))
      return failure();
  }
  if (heads == r[1])
    return success();
  return emitOpError() << "expected parts of " << r[1] << " heads together, but got " << heads;
}
