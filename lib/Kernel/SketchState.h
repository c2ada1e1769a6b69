//===- SketchState.h - The state of sketched attention in memory -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of polysketch, S = Σ_j (s_j ⊗ s_j) [v_j 1] for sketches s_j of r entries, has r² rows: too many for registers. It
// lies in memory as r slices S_f = Σ_j s_jf s_j [v_j 1], one after another read, rescaled and added to. Its unit is K², where
// K is the largest |entry| of the sketches so far: powers of long keys would overflow.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCHSTATE_H
#define ATTUNE_LIB_KERNEL_SKETCHSTATE_H

#include "Power.h"
#include "SketchUnit.h"

namespace attune::kernel {

/// Memories: state [batch, H, r, r, dv], sum [batch, H, r, r], unit [batch, H, r]: K, the same for each slice. Those of the
/// pieces of a sequence have the piece after H.
struct SketchState {
  mlir::Value state, sum, unit;
  int64_t size;       ///< r
  int64_t valueWidth; ///< dv
  mlir::Value piece = mlir::Value(); ///< which of the pieces; null if there are none

  /// S = 0, z = 0, K the least unit.
  void clear(TileBuilder &tiles, const Point &point) const;

  /// What slice `f` carries over keys: K [1], S_f [r, dv], z_f [r].
  llvm::SmallVector<mlir::Value> load(TileBuilder &tiles, const Point &point, mlir::Value f) const;
  void store(TileBuilder &tiles, const Point &point, mlir::Value f, mlir::ValueRange slice) const;

  /// The slice after a tile of sketches s [T, r], their column f [T] and values v [T, dv].
  llvm::SmallVector<mlir::Value> add(TileBuilder &tiles, mlir::ValueRange slice, mlir::Value s, mlir::Value column,
                                     mlir::Value v) const;

  /// The slice of the keys of two slices, in the larger of their units.
  llvm::SmallVector<mlir::Value> merge(TileBuilder &tiles, mlir::ValueRange a, mlir::ValueRange b) const;

  /// What a slice of no keys carries.
  llvm::SmallVector<mlir::Value> empty(TileBuilder &tiles) const;

  /// A slice whose unit K shrinks by a factor [1]: its entries were in a smaller unit of keys.
  llvm::SmallVector<mlir::Value> rescaled(TileBuilder &tiles, mlir::ValueRange slice, mlir::Value factor) const;

  /// The sums of queries with sketches s [Tq, r] over all slices, as a carry of `power`: `column(f)` is column f of s [Tq].
  /// `factor` [Tq] takes the state's unit of keys to the queries'; null: it is theirs.
  llvm::SmallVector<mlir::Value> read(TileBuilder &tiles, const Point &point, const PowerCarry &power, mlir::Value s,
                                      llvm::function_ref<mlir::Value(TileBuilder &, mlir::Value f)> column,
                                      mlir::Value factor = mlir::Value()) const;

private:
  /// {batch, head, piece, f} and further zeros.
  llvm::SmallVector<mlir::Value, 6> indices(TileBuilder &tiles, const Point &point, mlir::Value f,
                                            unsigned zeros) const;
};

/// Column `f` of rows first … of sketches in memory [batch, H, tokens, r]: [rows].
mlir::Value sketchColumn(TileBuilder &tiles, const Point &point, mlir::Value memory, mlir::Value first, mlir::Value f,
                         int64_t rows, mlir::Value limit = mlir::Value());

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCHSTATE_H
