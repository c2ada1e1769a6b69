//===- Carries.h - How entries enter what a loop carries -*- C++ -*- ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_CARRIES_H
#define ATTUNE_LIB_FUSION_CARRIES_H

#include "attune/Tile/TileBuilder.h"

namespace attune::fusion {

/// Carried tiles, ready for entries to be added.
struct OpenState {
  mlir::Value carried;                 ///< the unit with that of the entries joined; null where the carry has none
  mlir::Value unit;                    ///< the same as a number that sums can be divided by
  llvm::SmallVector<mlir::Value> sums; ///< in that unit
};

/// Joins the unit that entries need to that of a state, and rescales its sums. `maybeNone`: of a row with a state of
/// nothing there may be no entry.
OpenState join(tile::TileBuilder &tiles, tile::CarryAttrInterface carry, mlir::ValueRange state, mlir::Value unit,
               bool maybeNone);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_CARRIES_H
