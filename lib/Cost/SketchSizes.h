//===- SketchSizes.h - Sizes of polysketch attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_SKETCHSIZES_H
#define ATTUNE_LIB_COST_SKETCHSIZES_H

#include "WorkSizes.h"

namespace attune::cost {

/// What the kernels of one attention share. Tiles of queries and keys have the same number of rows, a divisor of a
/// block of exact weights if there are some.
struct Sketches {
  Sketches(const AttentionShape &shape, const Sizes &z);

  double points, r, c, block, T;
  bool once;                                         ///< the state has each product of two entries once, as on a CPU
  double features, stateBytes;                       ///< of the state, for each value; of all of it
  double leaves, products, elementwise, matrixBytes; ///< of the sketch of one token: dense matrices, as `prepare` makes
  double passes;                                     ///< of its products; two where a tree has pairs
  double queryTiles, keyTiles, pairs, exactTiles;    ///< of one head; exact: pairs of tiles inside the blocks
  double exactPairs;                                 ///< (query, key) inside the blocks
};

/// The sizes of the kernels that sketch.
Sizes sizesOfSketch(const AttentionShape &shape, const Sizes &z);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_SKETCHSIZES_H
