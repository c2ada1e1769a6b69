//===- Orders.h - Row-major and column-major tiles -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_ORDERS_H
#define ATTUNE_LOWERING_CPU_ORDERS_H

#include "attune/Tile/Tile.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace attune::cpu {

using namespace mlir;

/// Which elements of a tile of rank 2 are adjacent: those of a row, or those of a column. Rank 1 counts as Row.
enum class Order { Row, Column };

inline constexpr llvm::StringLiteral columnAttr = "attune.column";   ///< on an op: its result is column-major
inline constexpr llvm::StringLiteral columnsAttr = "attune.columns"; ///< on a loop: a flag a carried tile

inline bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
inline RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }
inline ArrayRef<int64_t> shapeOf(Value value) { return tileType(value).getShape(); }
inline int64_t rankOf(Value value) { return tileType(value).getRank(); }

using tile::splatValue;

/// A tile that costs nothing to compute where it is used, in any order: a constant of equal elements, an expansion.
bool isFree(Value tile);
/// The order that `cpu-assign-orders` chose for a tile.
Order orderOf(Value tile);
/// The order in which a use reads its tile; the tile's own order if it does not matter to the use.
Order orderOfUse(OpOperand &use);
/// Size of the dimension whose elements are not adjacent, and of the one whose elements are.
int64_t outerSize(ArrayRef<int64_t> shape, Order order);
int64_t innerSize(ArrayRef<int64_t> shape, Order order);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_ORDERS_H
