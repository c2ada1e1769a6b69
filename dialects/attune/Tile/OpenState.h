//===- OpenState.h - Carried tiles that entries are added to -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_OPENSTATE_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_OPENSTATE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace attune::tile {

/// Carried tiles, ready for entries to be added.
struct OpenState {
  mlir::Value carried;                 ///< the unit with that of the entries joined; null where the carry has none
  mlir::Value unit;                    ///< the same as a number that sums can be divided by
  llvm::SmallVector<mlir::Value> sums; ///< in that unit
};

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_OPENSTATE_H
