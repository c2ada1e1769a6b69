//===- TokenSteps.cpp - RoPE and the normalisation of q and k in the load ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// (x − mean) / sqrt(variance + ε) of each row of x [rows, width].
static Value normalizeRows(TileBuilder &tiles, Value x, double epsilon) {
  SmallVector<int64_t> shape(tiles.shape(x)), rows{shape[0]};
  Value each = tiles.constant(rows, 1.0 / shape[1]);
  Value mean = tiles.times(tiles.reduceAdd(x, 1), each);                                 // [rows]
  Value centred = tiles.minus(x, tiles.expand(mean, 1, shape));                          // [rows, width]
  Value variance = tiles.times(tiles.reduceAdd(tiles.times(centred, centred), 1), each); // [rows]
  Value log = tiles.log2(tiles.plus(variance, tiles.constant(rows, epsilon)));
  Value inverse = tiles.exp2(tiles.times(log, tiles.constant(rows, -0.5)));              // [rows]
  return tiles.times(centred, tiles.expand(inverse, 1, shape));
}

Value kernel::applySteps(TileBuilder &tiles, const KernelFrame &frame, const Tokens &tokens, Value x,
                         llvm::function_ref<Value()> positions) {
  for (const TokenStep &step : tokens.steps) {
    x = tiles.cast(x, tiles.builder.getF32Type());
    if (step.kind == TokenStep::Kind::Norm)
      x = normalizeRows(tiles, x, step.number);
  }
  return x;
}

Value kernel::positions(TileBuilder &, const Problem &, const Point &, Value, int64_t) { return Value(); }
