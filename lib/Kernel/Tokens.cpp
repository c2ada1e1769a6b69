//===- Tokens.cpp - Tokens as kernels read them ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tokens.h"

#include "KernelFrame.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using tile::modelTile;

TokenReader::TokenReader(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Tokens &tokens,
                         const Point &point, int64_t headsOfGrid)
    : frame(frame), problem(problem), tokens(tokens), point(point), head(tiles.div(point.head, headsOfGrid / tokens.heads)) {
  if (tokens.firstHead)
    head = tiles.add(head, tiles.index(tokens.firstHead));
}

Value kernel::tokenCount(TileBuilder &tiles, Value memory) {
  return tiles.dim(memory, cast<MemRefType>(memory.getType()).getRank() - 2);
}

/// The projection's kernel, row by row: x [rows, D] · W [D, width of the head] + bias. Rows at or past `limit` are 0.
Value TokenReader::project(TileBuilder &tiles, Value first, int64_t rows, Value limit) const {
  Value input = frame[tokens.memory], weight = frame[tokens.projection->weight], bias = frame[tokens.projection->bias];
  Value x = projectTile(tiles, problem.schedule.getOperand(), tiles.dim(input, 2), rows, weight, head, tokens.width,
                        [&](TileBuilder &inner, Value column) {
                          return loadInputRows(inner, problem, point, input, first, column, {rows, modelTile}, limit);
                        });
  if (!bias)
    return x;
  x = addBias(tiles, x, bias, tiles.mul(head, tokens.width));
  return limit ? tiles.mask(x, 0, tiles.sub(limit, first), Value(), Value()) : x;
}

Value TokenReader::load(TileBuilder &tiles, Value first, int64_t rows, Value limit, Value lower) const {
  assert((!tokens.projection || !lower) && "rows below a bound are read by lepe alone, whose values lie in memory");
  Value x = tokens.projection
                ? project(tiles, first, rows, limit)
                : loadRows(tiles, problem, point, frame[tokens.memory], head, first, {rows, tokens.width}, limit, lower);
  return applySteps(tiles, frame, tokens, x, [&](Value offset) {
    return positions(tiles, problem, point, offset ? tiles.add(first, offset) : first, rows);
  });
}

Value TokenReader::loadColumns(TileBuilder &tiles, Value first, int64_t rows, int64_t column, int64_t columns,
                               Value limit) const {
  assert(!tokens.projection && tokens.steps.empty() && "columns are those of memory");
  return loadRows(tiles, problem, point, frame[tokens.memory], head, first, {rows, columns}, limit, Value(), column);
}
