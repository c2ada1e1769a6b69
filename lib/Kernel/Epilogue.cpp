//===- Epilogue.cpp - What happens to an output before it is stored ----===//
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

void kernel::storeOutput(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                         Value first, Value o, Value limit) {
  Value head = point.head;
  if (problem.output.firstHead)
    head = tiles.add(head, tiles.index(problem.output.firstHead));
  storeRows(tiles, problem, point, o, frame[problem.output.memory], head, first, limit);
}
