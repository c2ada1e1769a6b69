//===- RegionsPass.h - Functions of attention as kernels of regions -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_FUSION_REGIONSPASS_H
#define ATTUNE_TEST_UNIT_FUSION_REGIONSPASS_H

#include "attune/Tile/Tile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune::test {

/// The regions of a module.
struct BuiltRegions {
  std::vector<std::string> printed; ///< one after another
  unsigned onTrial = 0;             ///< how many of them attn-to-tile does not build from regions yet
};

/// What attn-to-tile does, canonicalized; where `regions` is given, attention that has a region on trial
/// (RegionOfProblem.h) is built from it. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> toTile(mlir::ModuleOp source, tile::TargetKind target, BuiltRegions *regions);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_FUSION_REGIONSPASS_H
