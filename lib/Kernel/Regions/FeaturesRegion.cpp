//===- FeaturesRegion.cpp - Kernels that map keys and nothing else -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   features:     parallel over (batch, head of the features, block of keys)     B = φ(k), or the exponents of φ(k) and their factors
//   key_maximum:  parallel over (batch, head)
//                   for each key tile:  M_j = max(M_j, max_f L_jf) of the tile's j-th key        ⟨ω, x'⟩ alone for `projection`
//                   c = max_j M_j
//
// Readers of features find rows of f32 in the place of keys, the blocks of features side by side, and nothing to do to them. The maximum
// is in units of log 2, as the map takes it.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "KeyState.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::featuresRegion(const Problem &problem, const FeatureMap &map, bool exponents, const Tokens &result) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Axis head = result.heads == problem.heads() ? Axis::Head : Axis::SharedHead;
  FeatureSources features(plan, map, head, result.heads);
  bool powers = map.map.getKind() == attn::FeatureKind::Focused;
  Source blocks = exponents ? features.rawKeyExponents() : features.keys();
  SmallVector<int64_t, 2> widths = exponents ? SmallVector<int64_t, 2>(powers ? 2 : 1, map.features) : featureWidths(map);
  KernelRegion region = stateKernel(plan, "features", head);
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  int64_t column = 0;
  for (auto [number, width] : llvm::enumerate(widths)) {
    Dimension columns = columnsOf(width);
    columns.add = column, column += width;
    region.outputs.push_back({blocks, result.memory, {entryOf(Axis::Batch), entryOf(head), rowsOf(Axis::Key), columns},
                              static_cast<unsigned>(number)});
  }
  return region;
}

KernelRegion kernel::keyMaximumRegion(const Problem &problem, const FeatureMap &map, Value result) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  int64_t heads = cast<MemRefType>(result.getType()).getDimSize(1);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = heads;
  plan.extents = extents;
  FeatureSources features(plan, map, Axis::Head, heads);
  // |x'|² is left out of the queries' logarithms, which is what `projection` wants.
  Source l = features.rawKeyExponents(/*squares=*/map.map.getStabilizer() != attn::Stabilizer::Projection);
  Source rows = term(terms::existing(Axis::Key), {term(terms::rowMaximum(), {l})});
  Source maxima = stream(existingKeys(plan), {terms::maximum(problem.keyTile()), {rows}});
  KernelRegion region = stateKernel(plan, "key_maximum", Axis::Head);
  Dimension one{Axis::Head, 1, 0, 1, 1};
  region.outputs = {{term(terms::largestRow(), {maxima}), result, {entryOf(Axis::Batch), one}}};
  return region;
}
