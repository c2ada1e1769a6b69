//===- GroupWork.cpp - What the query heads of a group share -*- C++ -*---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks of the `grouped` form map and read a key once for the H/G query heads that follow one another, and add it to one
// state. The grid has a point for each key-value head, so that fewer cores have work.
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

using namespace attune;
using namespace attune::cost;

void cost::shareGroups(WorkEstimate &work, const AttentionShape &shape, const Sizes &z, const MapCost &key) {
  double spared = z.batch * (z.heads - z.shared), rows = z.keyRows();
  work.products -= spared * rows * (z.m * z.dv + key.products);
  work.usefulProducts -= spared * z.n * z.m * (z.dv + 1);
  work.exps -= spared * rows * key.exps;
  // The map, the mask of the keys, their sum.
  work.elementwise -= spared * rows * (key.elementwise + 2 * z.m + readKeyOps(shape));
  if (shape.runningMaximum) {
    // The features' maxima, the state rescaled; roots and bands of the keys are made once as well, and stay counted.
    work.exps -= spared * z.keyTiles * z.m;
    work.elementwise -= spared * (rows * z.m + z.keyTiles * z.m * (z.dv + 1));
  }
  work.nearBytes -= spared * z.n * (z.kw + z.dv) * z.k;
  work.grain = z.batch * z.shared;
}
