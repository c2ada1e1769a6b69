//===- EvalArrive.cpp - Programs that tell each other that they are done ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrivals.h"
#include "TileFrame.h"

#include "attune/Tile/Arrive.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static LogicalResult evalArrive(Frame &frame, tile::ArriveOp op) {
  const Array &counters = frame.memory(op.getCounters());
  SmallVector<int64_t, 4> indices;
  for (auto [dimension, operand] : llvm::enumerate(op.getIndices())) {
    indices.push_back(frame.integer(operand));
    if (indices.back() < 0 || indices.back() >= counters.size(dimension))
      return op.emitOpError() << "expected an index of dimension " << dimension << " from 0 and below "
                              << counters.size(dimension) << ", but got " << indices.back();
  }
  indices.push_back(0);
  Arrivals::Group &group = frame.arrivals->at(counters, counters.place(indices));
  int64_t count = frame.integer(op.getCount()), came = static_cast<int64_t>(group.here.size());
  if (count < 1 || count > static_cast<int64_t>(tile::mostArrivals) || (came && count != group.count) || came == count)
    return op.emitOpError() << "expected a group of 1 to " << tile::mostArrivals << " programs, each of which arrives "
                            << "once and names its size, but got arrival " << came + 1 << " of " << count;
  group.count = count;
  group.here.push_back(frame.pointNumber);
  bool last = came + 1 == count;
  if (last && frame.races)
    frame.races->sees(group.here);
  frame.set(op, int64_t(last));
  return success();
}

std::optional<LogicalResult> attune::reference::evalArriveOp(Frame &frame, Operation &op) {
  if (auto arrive = dyn_cast<tile::ArriveOp>(op))
    return evalArrive(frame, arrive);
  return std::nullopt;
}
