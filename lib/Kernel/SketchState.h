//===- SketchState.h - The state of sketched attention in memory -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of polysketch, S = Σ_j (s_j ⊗ s_j) [v_j 1] for sketches s_j of r entries, has r² rows: too many for registers. It
// lies in memory as slices, one after another read, rescaled and added to. Its unit is K², where K is the largest |entry| of
// the sketches so far: powers of long keys would overflow. What is read of S cancels, so products drop nothing of it or of
// s_j ⊗ s_j, whatever the storage (docs/Rationale/Sketches.md).
//
// On a GPU there are r slices S_f = Σ_j s_jf s_j [v_j 1]. On a CPU each product of two entries is there once, in slices of
// half the height (SketchProducts.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCHSTATE_H
#define ATTUNE_LIB_KERNEL_SKETCHSTATE_H

#include "Power.h"
#include "SketchUnit.h"

namespace attune::kernel {

/// Entries of sketched rows in memory, which are in their own unit.
struct SketchEntries {
  llvm::function_ref<mlir::Value(TileBuilder &tiles, mlir::Value f)> column; ///< entry f of each row [T]
  llvm::function_ref<mlir::Value(TileBuilder &tiles, mlir::Value f)> window; ///< entries f … f+r/2-1, modulo r [T, r/2]
};

/// Memories: state [batch, H, slices, height, dv], sum [batch, H, slices, r], unit [batch, H, slices]: K, the same for each
/// slice. Those of the pieces of a sequence have the piece after H.
struct SketchState {
  mlir::Value state, sum, unit;
  int64_t size;       ///< r
  int64_t valueWidth; ///< dv
  bool once;          ///< each product once
  mlir::Value piece = mlir::Value(); ///< which of the pieces; null if there are none

  int64_t slices() const { return once && size > 1 ? size + 1 : size; }
  int64_t height() const { return once && size > 1 ? size / 2 : size; }

  /// S = 0, z = 0, K the least unit.
  void clear(TileBuilder &tiles, const Point &point) const;

  /// What slice `f` carries over keys: K [1], S_f [height, dv], z_f [r].
  llvm::SmallVector<mlir::Value> load(TileBuilder &tiles, const Point &point, mlir::Value f) const;
  void store(TileBuilder &tiles, const Point &point, mlir::Value f, mlir::ValueRange slice) const;

  /// The slice after a tile of sketches s [T, r], their column f [T] and values v [T, dv].
  llvm::SmallVector<mlir::Value> add(TileBuilder &tiles, mlir::ValueRange slice, mlir::Value s, mlir::Value column,
                                     mlir::Value v) const;

  /// Of slices: sums of products of two entries, in the square of a unit.
  static tile::CarryAttrInterface carry(TileBuilder &tiles) { return tiles.rescaledSums(2, tile::Unit::Scalar); }

  /// What a slice of no keys carries.
  llvm::SmallVector<mlir::Value> empty(TileBuilder &tiles) const;

  /// A slice whose unit K shrinks by a factor [1]: its entries were in a smaller unit of keys.
  llvm::SmallVector<mlir::Value> rescaled(TileBuilder &tiles, mlir::ValueRange slice, mlir::Value factor) const;

  /// Each product once: all slices after a tile of sketches s [T, r] and values v [T, dv].
  void addProducts(TileBuilder &tiles, const Point &point, mlir::Value s, mlir::Value v,
                   const SketchEntries &entries) const;

  /// `rescaled` there: K alone, which may then be below the range of units.
  void shrink(TileBuilder &tiles, const Point &point, mlir::Value factor) const;

  /// `read` there.
  llvm::SmallVector<mlir::Value> readProducts(TileBuilder &tiles, const Point &point, const PowerCarry &power,
                                              mlir::Value s, const SketchEntries &entries,
                                              mlir::Value factor = mlir::Value()) const;

  /// The sums of queries with sketches s [Tq, r] over all slices, as a carry of `power`: `column(f)` is column f of s [Tq].
  /// `factor` [Tq] takes the state's unit of keys to the queries'; null: it is theirs.
  llvm::SmallVector<mlir::Value> read(TileBuilder &tiles, const Point &point, const PowerCarry &power, mlir::Value s,
                                      llvm::function_ref<mlir::Value(TileBuilder &, mlir::Value f)> column,
                                      mlir::Value factor = mlir::Value()) const;

private:
  mlir::Value loadUnit(TileBuilder &tiles, const Point &point) const;
  void storeUnit(TileBuilder &tiles, const Point &point, mlir::Value k) const;

  /// Sums of queries relative to their row's unit, in the unit of the state, as a carry of `power`.
  llvm::SmallVector<mlir::Value> carryOf(TileBuilder &tiles, const Point &point, const PowerCarry &power,
                                         mlir::Value rowUnit, mlir::Value den, mlir::Value num,
                                         mlir::Value factor) const;

  /// {batch, head, piece, f} and further zeros.
  llvm::SmallVector<mlir::Value, 6> indices(TileBuilder &tiles, const Point &point, mlir::Value f,
                                            unsigned zeros) const;
};

/// The largest |entry| of s [T, r] and of before [1]: [1].
mlir::Value largestEntry(TileBuilder &tiles, mlir::Value s, mlir::Value before);

/// Column `f` of rows first … of sketches in memory [batch, H, tokens, r]: [rows].
mlir::Value sketchColumn(TileBuilder &tiles, const Point &point, mlir::Value memory, mlir::Value first, mlir::Value f,
                         int64_t rows, mlir::Value limit = mlir::Value());

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCHSTATE_H
