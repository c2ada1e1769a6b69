//===- UsualDecay.h - Chunks that decay little, and the others -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_USUALDECAY_H
#define ATTUNE_LIB_TERMS_USUALDECAY_H

#include "attune/Tile/Tile.h"
#include "attune/Tile/TileBuilder.h"

namespace attune::terms {

/// Makes tiles of what was there before.
using DecayWay = llvm::function_ref<llvm::SmallVector<mlir::Value, 3>(tile::TileBuilder &inner, llvm::SmallVector<mlir::Value, 3> before)>;

/// The usual way unless an index `rare` is 1, else the other one. Of both `begin` is what was there before, and `carry` says what they do to it.
llvm::SmallVector<mlir::Value, 3> eitherWay(tile::TileBuilder &tiles, mlir::Value rare, llvm::SmallVector<mlir::Value, 3> begin, DecayWay usual,
                                            DecayWay always, tile::CarryAttrInterface carry);
/// The usual way where nothing decays to less than 2^−60 over a chunk, whose rows have decayed by 2^since [T] or [T, m] from one end of it on; else the other
/// way, which is right always.
llvm::SmallVector<mlir::Value, 3> usuallyAtOnce(tile::TileBuilder &tiles, mlir::Value since, llvm::SmallVector<mlir::Value, 3> begin, DecayWay usual, DecayWay always,
                                              tile::CarryAttrInterface carry);

} // namespace attune::terms

#endif // ATTUNE_LIB_TERMS_USUALDECAY_H
