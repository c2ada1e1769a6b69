//===- Tile.h - The tile dialect -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_TILE_H
#define ATTUNE_TILE_TILE_H

#include "attune/Tile/OpenState.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace attune::tile {
/// The warps of a thread block as rows and columns of a tile's parts. Warp w is in row w mod rows, column w div rows.
struct WarpGrid {
  int64_t rows = 1, columns = 1;

  int64_t count() const { return rows * columns; }
  bool operator==(const WarpGrid &) const = default;
};
inline llvm::hash_code hash_value(const WarpGrid &grid) { return llvm::hash_combine(grid.rows, grid.columns); }
/// `[rows, columns]`.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const WarpGrid &grid);
/// A ranked tensor of rank 1 or 2 with a static shape of positive sizes and f32, f16, bf16, i32 or i1 elements.
bool isTile(mlir::Type type);
/// A memref of rank ≥ 1 whose innermost stride is 1, without an offset, of f32, f16, bf16 or i32.
bool isMemory(mlir::Type type);

/// A constant tile of one number: `#tile.exact` where f32 does not hold it, else `dense`.
mlir::TypedAttr constantTile(mlir::RankedTensorType type, double value);
/// The number that every element of a constant tile has, not yet rounded to the element type (i1: 0 and 1); none for a
/// tile that is computed or whose elements differ.
std::optional<double> splatValue(mlir::Value tile);

/// The results of another `tile.loop` with the steps of `loop` from `lower` to `upper`, which begins with `inits`.
mlir::ValueRange cloneSteps(mlir::OpBuilder &builder, mlir::Operation *loop, mlir::Value lower, mlir::Value upper,
                            mlir::ValueRange inits);
} // namespace attune::tile

template <> struct mlir::FieldParser<attune::tile::WarpGrid> {
  static mlir::FailureOr<attune::tile::WarpGrid> parse(mlir::AsmParser &parser);
};

#include "attune/Tile/TileDialect.h.inc"
#include "attune/Tile/TileEnums.h.inc"
#include "attune/Tile/TileCarryInterface.h.inc"
#include "attune/Tile/OpCount.h"
#include "attune/Tile/TileCostInterface.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attune/Tile/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "attune/Tile/TileOps.h.inc"

#endif // ATTUNE_TILE_TILE_H
