//===- MapAloneWork.cpp - The work of features that are written for their readers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each key is mapped once for each head that has features of its own, and 4 m bytes of it are written. Who reads them finds
// rows of m numbers in the place of d; where those are exponents, they become features there.
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

double cost::writtenWidth(const AttentionShape &shape) {
  bool pairs = shape.runningMaximum && shape.map.getKind() == attn::FeatureKind::Focused;
  return static_cast<double>(pairs ? 2 * shape.features : shape.features);
}

SplitMap cost::splitMap(const AttentionShape &shape, const MapCost &key, double features) {
  if (!shape.runningMaximum)
    return {key, MapCost()};
  // Of exponents: keys that do not exist cleared, the maximum subtracted, the factor; the exponential.
  MapCost read{0, 3 * features, features};
  return {{key.products, key.elementwise - read.elementwise, key.exps - read.exps}, read};
}

WorkEstimate cost::featuresWork(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  // A window is a view of them: blocks of keys are those of the whole sequence.
  double points = z.batch * z.features, keys = z.windows * z.N, T = static_cast<double>(z.schedule.getKeyTile());
  double tiles = std::ceil(keys / T), read = keys * z.k * (shape.keyFolded ? z.m : z.d);
  double parameters = 4 * map.products * (shape.featureHeads > shape.sharedHeads ? z.features : 1);
  WorkEstimate work;
  work.products = points * tiles * T * map.products;
  work.usefulProducts = points * keys * map.products;
  work.exps = points * tiles * T * map.exps;
  work.elementwise = points * tiles * T * (map.elementwise + keyOps(shape));
  work.workspaceBytes = points * keys * 4 * writtenWidth(shape);
  work.mainBytes = z.batch * z.shared * read + work.workspaceBytes + parameters;
  work.nearBytes = points * read + work.workspaceBytes;
  work.liveBytes = 4 * (T * (z.d + z.m) + map.products);
  work.grain = points * tiles;
  return work;
}
