//===- ProjectionInLoad.cpp - The need of projections in the loads of their readers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a tile of T tokens of width d: a piece of x, and one of W. What is executed and moved is counted from the kernels' IR, as
// a CPU alone projects in loads.
//
//===----------------------------------------------------------------------===//
#include "ProjectionInLoad.h"

#include "attune/Tile/KernelSizes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace attune;
using namespace attune::cost;

namespace {
/// The tokens that a kernel reads.
struct Reads {
  bool query = false, key = false;
};
} // namespace

static Reads readsOf(llvm::StringRef kernel) {
  return llvm::StringSwitch<Reads>(kernel)
      .Cases({"softmax", "polynomial", "quadratic", "chunked", "fused_state"}, {true, true})
      .Cases({"compress", "state", "merged_state", "key_maximum", "features"}, {false, true})
      .Case("readout", {true, false})
      .Default({});
}

/// Tiles of T rows of tokens that are projected to `width`.
static void addTiles(WorkEstimate &work, double rows, double width) {
  work.liveBytes += 4 * (rows + width) * tile::modelTile;
}

void cost::addProjectionsInLoad(KernelWorks &kernels, const AttentionShape &shape, const Sizes &z) {
  double n = z.windows * z.n, N = z.windows * z.N, keyWidth = shape.keyFolded ? z.m : z.d;
  bool first = true;
  for (KernelWork &kernel : kernels) {
    Reads reads = readsOf(kernel.kernel);
    if (shape.queryModel > 0 && reads.query) {
      addTiles(kernel.work, z.Tq, z.qw);
      kernel.work.usefulProducts += z.batch * z.heads * n * shape.queryModel * z.qw; // §3: n D · H d
    }
    if (!reads.key)
      continue;
    bool isFeatures = kernel.kernel == "features", isMaximum = kernel.kernel == "key_maximum";
    if (shape.keyModel > 0 && (!shape.keysMapped || isFeatures || isMaximum))
      addTiles(kernel.work, z.Tk, keyWidth);
    if (shape.valueModel > 0 && !isFeatures && !isMaximum)
      addTiles(kernel.work, z.Tk, z.dv);
    // The formula projects a token once, whichever kernels read it.
    if (first)
      kernel.work.usefulProducts += z.batch * z.shared * N * (shape.keyModel * keyWidth + shape.valueModel * z.dv);
    first = false;
  }
}
