//===- FeatureMaps.cpp - Feature maps in kernels -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

int64_t kernel::parameterHeads(const Problem &problem, const FeatureMap &map) {
  if (map.keyFolded || map.keysMapped) // each head of the keys is ω·k of its own, or φ(k)
    return problem.key.heads;
  auto memory = map.parameter ? cast<MemRefType>(map.parameter.getType()) : MemRefType();
  return memory && memory.getDimSize(0) > 1 ? problem.heads() : problem.sharedHeads();
}

SmallVector<int64_t, 2> kernel::featureWidths(const FeatureMap &map) {
  if (map.map.getKind() == attn::FeatureKind::Cosformer)
    return {map.features / 2, map.features / 2};
  return {map.features};
}
