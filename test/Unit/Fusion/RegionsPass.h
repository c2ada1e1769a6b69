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

/// What attn-to-tile does, canonicalized; where `regions` is given, attention that has a region is built from it, and
/// the regions are printed one after another. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> toTile(mlir::ModuleOp source, tile::TargetKind target,
                                         std::vector<std::string> *regions);

/// Moves what does not change in a loop out of it, reads from memory too where the loop writes none.
void hoist(mlir::ModuleOp module);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_FUSION_REGIONSPASS_H
