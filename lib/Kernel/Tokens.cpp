//===- Tokens.cpp - Tokens as kernels read them ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tokens.h"

#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

TokenReader::TokenReader(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Tokens &tokens,
                         const Point &point, int64_t headsOfGrid)
    : frame(frame), problem(problem), tokens(tokens), point(point), head(tiles.div(point.head, headsOfGrid / tokens.heads)) {
  if (tokens.firstHead)
    head = tiles.add(head, tiles.index(tokens.firstHead));
}

Value TokenReader::load(TileBuilder &tiles, Value first, int64_t rows, Value limit, Value lower) const {
  Value x = loadRows(tiles, problem, point, frame[tokens.memory], head, first, {rows, tokens.width}, limit, lower);
  return applySteps(tiles, frame, tokens, x, [&](Value offset) {
    return positions(tiles, problem, point, offset ? tiles.add(first, offset) : first, rows);
  });
}
