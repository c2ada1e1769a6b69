//===- Together.h - Launches that run together -*- C++ -* -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch may be marked to run together with the one before it: neither reads what the other writes, and a target may hand
// out the points of both grids at once. Who runs them one after another computes the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_TOGETHER_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_TOGETHER_H

#include "attune/Tile/Tile.h"

namespace attune::tile {

/// The unit attribute of `tile.launch` that says so.
inline constexpr llvm::StringLiteral coLaunchedAttr = "tile.co_launched";

inline bool runsWithThePrevious(LaunchOp op) { return op->hasAttr(coLaunchedAttr); }
inline void runWithThePrevious(LaunchOp op) { op->setAttr(coLaunchedAttr, mlir::UnitAttr::get(op->getContext())); }

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_TOGETHER_H
