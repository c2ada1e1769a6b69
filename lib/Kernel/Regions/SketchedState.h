//===- SketchedState.h - The state of sketched attention -*- C++ -*- --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of sketches s_j of r entries, S = Σ_j (s_j ⊗ s_j) [v_j 1], has r² rows: too many for registers. It lies in memory as
// slices, one after another read, rescaled and added to. On a GPU there are r slices S_f = Σ_j s_jf s_j [v_j 1]. On a CPU each
// product of two entries is there once, in slices of half the height:
//
//   S_f = Σ_j s_jf (s_jf, s_j(f+1), …, s_j(f+r/2-1)) ⊗ v_j    f = 0 … r-1, places modulo r
//   S_r = Σ_j (s_j0 s_j(r/2), …, s_j(r/2-1) s_j(r-1)) ⊗ v_j
//   Z   = Σ_j s_j ⊗ s_j
//
// r (r + 1) / 2 of the r² products of a sketch's entries differ, and these slices have just those. All but the squares stand for
// two, so the readout counts them twice. Entries f … f+r/2-1 are a window of a sketch in memory, where the first ones stand once
// more behind the last. Of a row whose root ⟨S(q), S(k)⟩ nearly cancels, the sum over a slice nearly cancels too, and leaves little
// to be rounded in the sum over slices: slices by the distance of the two entries have twice the error. A GPU would read rows that
// begin anywhere element by element.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDSTATE_H
#define ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDSTATE_H

#include "SketchedPairs.h"

namespace attune::kernel {

/// Whether the state has each product of two entries once.
bool productsOnce(const Problem &problem, const PolysketchOptions &options);

/// Memories [batch, H, slices, …] or, of parts or pieces of the sequence, [batch, H, part, slices, …]. Where tiles have slices of values
/// each of these has a state of its own, behind one another in the place of H: programs do not wait for one another.
struct SketchedState {
  mlir::Value matrix; ///< S_f [slices, height, width]
  mlir::Value sum;    ///< z_f [slices, r]
  mlir::Value unit;   ///< K [slices], the same for each
  int64_t size, width; ///< r, and columns of values
  int64_t slicesOfValues;
  bool once;
  std::optional<fusion::Axis> part = std::nullopt; ///< which counts parts or pieces

  static SketchedState allocate(BuildSite &site, const SketchedProblem &at, mlir::Value parts = mlir::Value());

  int64_t slices() const { return once && size > 1 ? size + 1 : size; }
  int64_t height() const { return once && size > 1 ? size / 2 : size; }
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes() const { return {{1}, {height(), width}, {size}}; }

  /// The slice at Axis::Slice: K, S_f, z_f. `written`: axes in whose steps slices are written.
  fusion::Source read(fusion::AxisSet written) const;
  llvm::SmallVector<fusion::RegionOutput, 1> write(fusion::Source slice) const;
  /// S_f of that slice, or of the one with this number.
  llvm::SmallVector<fusion::Dimension, 4> placeOfMatrix(std::optional<int64_t> slice = std::nullopt) const;
  /// One row of a slice; of no numbers the one at Axis::Slice, which counts the rows of all slices.
  llvm::SmallVector<fusion::Dimension, 4> placeOfRow(fusion::Index slice = {}, fusion::Index row = {}) const;
  /// The first rows of all z_f, and K of the first slices.
  llvm::SmallVector<fusion::Dimension, 4> placeOfSum() const;
  llvm::SmallVector<fusion::Dimension, 4> placeOfUnit(int64_t count) const;

private:
  llvm::SmallVector<fusion::Dimension, 4> entry() const;
};

/// The state of all keys into `result`, summed up in pieces side by side; if there are parts, of the pieces of the keys before the
/// last part, which `result` has a place for each.
fusion::KernelRegion sketchedStateRegion(const SketchedProblem &at, const SketchedState &result);
/// Outputs from the state of all keys.
fusion::KernelRegion sketchedReadoutRegion(const SketchedProblem &at, const SketchedState &state);
/// Block after block: every query tile reads the state of the blocks before and pairs with the keys of its own; then the block's
/// keys enter the state. Parts of the sequence begin with what the pieces before them sum up to; `begun`: a kernel before has stored what
/// the state begins with. `left`: where the state of full blocks is kept, if rows past them read more; null: nowhere.
fusion::KernelRegion sketchedBlocksRegion(const SketchedProblem &at, const SketchedState &state, const SketchedState *pieces,
                                          bool begun = false, const SketchedState *left = nullptr);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDSTATE_H
