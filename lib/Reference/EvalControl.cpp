//===- EvalControl.cpp - Loops and branches ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileFrame.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// The values of `from` in `to`; all are read before one is written, for a yield may permute the carried values.
static void assign(Frame &frame, ValueRange to, ValueRange from) {
  SmallVector<reference::Value> held;
  for (mlir::Value value : from)
    held.push_back(frame.get(value));
  for (auto [value, kept] : llvm::zip_equal(to, held))
    frame.set(value, std::move(kept));
}

namespace {
/// What tile.loop and scf.for have in common.
struct Loop {
  int64_t lower, upper, step;
  mlir::Block &body; ///< its arguments are the induction variable and the carried values
  ValueRange inits, results;
  bool reverse = false; ///< from the last step down
};
} // namespace

static LogicalResult evalLoop(Frame &frame, const Loop &loop) {
  ValueRange carried = loop.body.getArguments().drop_front();
  assign(frame, carried, loop.inits);
  // Unsigned distances: lower + step may pass the largest integer.
  uint64_t distance = loop.lower < loop.upper ? uint64_t(loop.upper) - uint64_t(loop.lower) : 0;
  uint64_t step = loop.step, steps = distance / step + (distance % step != 0);
  for (uint64_t done = 0; done < steps; ++done) {
    uint64_t from = (loop.reverse ? steps - 1 - done : done) * step;
    frame.set(loop.body.getArgument(0), static_cast<int64_t>(uint64_t(loop.lower) + from));
    if (failed(evalBlock(frame, loop.body)))
      return failure();
    assign(frame, carried, loop.body.getTerminator()->getOperands());
  }
  assign(frame, loop.results, carried);
  return success();
}

static LogicalResult evalFor(Frame &frame, scf::ForOp op) {
  int64_t step = frame.integer(op.getStep());
  if (step < 1)
    return op.emitOpError() << "expected a positive step, but got " << step;
  return evalLoop(frame, {frame.integer(op.getLowerBound()), frame.integer(op.getUpperBound()), step, *op.getBody(),
                          op.getInitArgs(), op.getResults()});
}

static LogicalResult evalIf(Frame &frame, scf::IfOp op) {
  Region &region = frame.integer(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(evalBlock(frame, region.front())))
    return failure();
  assign(frame, op.getResults(), region.front().getTerminator()->getOperands());
  return success();
}

std::optional<LogicalResult> attune::reference::evalControl(Frame &frame, Operation &op) {
  if (auto loop = dyn_cast<tile::LoopOp>(op))
    return evalLoop(frame, {frame.integer(loop.getLower()), frame.integer(loop.getUpper()),
                            static_cast<int64_t>(loop.getStep()), loop.getBody().front(), loop.getInitArgs(),
                            loop.getResults(), loop.getReverse()});
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return evalFor(frame, loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return evalIf(frame, branch);
  return std::nullopt;
}
