//===- IssuedWork.h - What the warps of a GPU do -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU it is known which instruction moves or multiplies what: lib/Lowering/GPU pads products to what one
// instruction computes, splits f32 into tf32, and loads only what exists. So there products and near bytes are counts of
// instructions, which the emulator counts as well.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_ISSUEDWORK_H
#define ATTUNE_LIB_COST_ISSUEDWORK_H

#include "WorkSizes.h"

namespace attune::cost {

/// In which type the operands of a product reach a matrix unit.
enum class Operands {
  Storage,  ///< that of the schedule
  Features, ///< the same, but f32 in place of f16: unnormalized weights pass its range
  F32,      ///< f32; where storage has 16 bits it is rounded to tf32
  Exact,    ///< f32 with all its bits
};

/// The work of one kernel over its whole grid.
class IssuedWork {
public:
  explicit IssuedWork(const Sizes &z) : schedule(z.schedule) {}

  /// Rows of rank-2 tiles that exist in memory, `width` elements each, loaded or stored; each element by one lane.
  /// Where a row is whole pieces of 16 bytes, they come and go as such.
  void move(double rows, double width, double bytesEach = 4);
  /// `rows` rows of `heads` tiles side by side, of which each comes by itself through shared memory: in pieces of 16
  /// bytes if it begins at a multiple of them, as the first one does.
  void moveHeads(double rows, double width, double heads, double bytesEach);
  /// Elements of rank-1 tiles that are stored, each by one lane.
  void storeVector(double elements, double bytesEach = 4) { bytes += elements * bytesEach; }
  /// Loads of rank-1 tiles: those along the rows of the tiles that they meet are the same in every column of the grid
  /// of warps, those along the columns in every row of it.
  void loadAlongRows(double elements, double bytesEach = 4);
  void loadAlongColumns(double elements, double bytesEach = 4);
  /// `times` products of [rows, depth] and [depth, columns]. `narrow`: the second operand is stored in 16 bits.
  void multiply(double times, double rows, double columns, double depth, Operands operands, bool narrow = false);

  double bytes = 0;
  double wideBytes = 0; ///< of them those that are asked for by 16 a lane
  double products = 0; ///< multiply-adds of the matrix units, those of tf32 included
  double tf32Products = 0;

private:
  tile::ScheduleAttr schedule;
};

using IssuedWorks = llvm::SmallVector<IssuedWork, 6>;

/// The kernels of `attentionWork`, in its order.
IssuedWorks issuedWork(const AttentionShape &shape, const Sizes &z);

//===----------------------------------------------------------------------===//
// What the families share
//===----------------------------------------------------------------------===//

/// Of an element of the parameters: that of the storage, which on a GPU is the type of the schedule's operands.
double storageBytes(const Sizes &z);

void loadQueries(IssuedWork &work, const Sizes &z, double rows);
void loadKeys(IssuedWork &work, const Sizes &z, double rows);
inline bool hasRope(const AttentionShape &shape) { return shape.queryRope || shape.keyRope; }
/// RoPE's tables, the frequencies as two f32 each and the signs: each grid point keeps them.
void loadTurns(IssuedWork &work, const Sizes &z, double blocks, bool rope);

/// o of every query, and what the convolution before the store reads.
void storeOutput(IssuedWork &work, const AttentionShape &shape, const Sizes &z);

/// The parameters of the map, by `blocks` grid points.
void loadMap(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double blocks);
/// Products of the map on `times` tiles of `rows` queries, or keys.
void mapQueries(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows);
void mapKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows);
/// Features come in blocks of these widths.
llvm::SmallVector<double, 2> featureBlocks(const AttentionShape &shape);

/// Tiles of all pieces of the keys of one head.
double tilesOfPieces(const Sizes &z);

IssuedWorks issuedPairs(const AttentionShape &shape, const Sizes &z); ///< softmax, polynomial
IssuedWorks issuedKernelAttention(const AttentionShape &shape, const Sizes &z);
IssuedWorks issuedPolysketch(const AttentionShape &shape, const Sizes &z);
IssuedWorks issuedEffatt(const AttentionShape &shape, const Sizes &z);
IssuedWorks issuedEva(const AttentionShape &shape, const Sizes &z);
IssuedWorks issuedAgent(const AttentionShape &shape, const Sizes &z);
IssuedWorks issuedLayer(const AttentionShape &shape, const Sizes &z);

/// States of pieces: a matrix [rows, columns] and `vectors` of its rows, merged; `initial` more of them are read.
IssuedWork issuedMerge(const Sizes &z, double points, double rows, double columns, double vectors, double initial);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_ISSUEDWORK_H
