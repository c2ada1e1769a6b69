//===- Polynomial.cpp - Polynomial attention with all pair weights -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     for each key tile:  t = (scale q) kᵀ, 0 where the query does not see the key;  carry Σ_j t^p [v 1]
//
//===----------------------------------------------------------------------===//
#include "Power.h"
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// o [Tq, dv] of a block of queries.
static Value outputOf(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                      Value firstQuery, int64_t degree, double scale, attn::DenominatorAttr guard) {
  Type f32 = tiles.builder.getF32Type();
  int64_t rows = problem.queryTile(), keyTile = problem.keyTile();
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  TokenReader key = reader(problem.key), value = reader(problem.value);
  VisibleKeys visible = visibleKeys(frame, tiles, problem, point, firstQuery);
  Value q = tiles.cast(reader(problem.query).load(tiles, firstQuery, rows), f32);             // [Tq, d]
  if (scale != 1)
    q = tiles.times(q, tiles.constant(tiles.shape(q), scale));
  PowerCarry carry{rows, problem.valueWidth(), degree, guard, Value()};
  SmallVector<Value> carried = loopOverKeys(
      tiles, problem, visible, tiles.rescaledSums(carry.degree), carry.start(tiles),
      [&](TileBuilder &inner, Value firstKey, ValueRange before, bool masked) {
        Value limit = masked ? visible.limit : Value();
        Value k = inner.cast(key.load(inner, firstKey, keyTile, limit), f32);                 // [Tk, d]
        Value t = inner.dot(q, k, inner.constant({rows, keyTile}, 0), false, true);           // [Tq, Tk]
        if (masked)
          t = maskKeys(inner, visible, t, firstKey, 0);
        return carry.step(inner, before, t, value.load(inner, firstKey, keyTile, limit));
      });
  return carry.finish(tiles, carried);
}

void kernel::buildPolynomial(BuildSite &site, const Problem &problem, int64_t degree, double scale,
                             attn::DenominatorAttr guard) {
  buildQueryBlocks(site, problem, "polynomial", hostValues(problem),
                   [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
                     return outputOf(tiles, frame, problem, point, firstQuery, degree, scale, guard);
                   });
}
