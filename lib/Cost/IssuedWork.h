//===- IssuedWork.h - What the warps of a GPU do -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU it is known which instruction moves or multiplies what: lib/Lowering/GPU pads products to what one
// instruction computes, splits f32 into tf32, loads only what exists, and shuffles what the layouts of tiles ask for.
// So there products, near bytes and shuffles are counts of instructions, which the emulator counts as well.
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

  /// Sums or maxima of `times` tiles along their rows, or along their columns.
  void reduceAlongRows(double times, double rows);
  void reduceAlongColumns(double times, double columns);
  /// `times` tiles of [rows, columns], computed on as they come: in memory their rows are `width` long, or `columns` if
  /// that is 0. Those of 16-bit elements come by way of shared memory.
  void loadToRegisters(double times, double rows, double columns, double bytesEach = 4, double width = 0);
  /// The same on the way to memory, whatever the elements are.
  void storeRegisters(double times, double rows, double columns, double bytesEach = 4, double width = 0);
  /// The halves of the rows of `times` tiles change places.
  void swapHalves(double times, double rows, double columns);

  /// What another piece of the kernel does, `times` times; -1: what was counted and is not done.
  void add(const IssuedWork &other, double times = 1);

  double bytes = 0;
  double wideBytes = 0; ///< of them those that are asked for by 16 a lane
  double products = 0; ///< multiply-adds of the matrix units, those of tf32 included
  double tf32Products = 0;
  double shuffles = 0; ///< instructions of warps, each of 32 lanes: see Shuffles.h

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

/// Whether products take f32 in the type that they have: such a tile may go from memory to shared memory, and from
/// there into the product, with no lane computing on it.
bool takesF32(const Sizes &z, Operands operands);

void loadQueries(IssuedWork &work, const Sizes &z, double rows);
void loadKeys(IssuedWork &work, const Sizes &z, double rows);
/// What warps do to `tiles` tiles of `rows` queries, keys or values on their way to what reads them; `read`: second
/// operands of products, as they come.
void takeQueries(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows);
void takeKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows);
void takeKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows, Operands read);
void takeValues(IssuedWork &work, const Sizes &z, double tiles, double rows, Operands read);
inline bool hasRope(const AttentionShape &shape) { return shape.queryRope || shape.keyRope; }
/// RoPE's tables, the frequencies as two f32 each and the signs: each grid point keeps them.
void loadTurns(IssuedWork &work, const Sizes &z, double blocks, bool rope);

/// o of every query, and what the convolution before the store reads; by `tiles` tiles of `rows` queries.
void storeOutput(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows);
inline void storeOutput(IssuedWork &work, const AttentionShape &shape, const Sizes &z) {
  storeOutput(work, shape, z, z.points() * z.blocks, z.Tq);
}

/// The parameters of the map, by `blocks` grid points.
void loadMap(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double blocks);
/// Products of the map alone, and all that it does, on `times` tiles of `rows` queries, or keys.
void multiplyMap(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows, bool folded);
void mapQueries(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows);
void mapKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows);
/// The stabilizer of the keys as a number for each of the `rows` of a tile, once in `blocks` grid points: a number from
/// memory by a product with ones and a sum; the largest square of ω's rows by a sum of each and a maximum.
void spreadStabilizer(IssuedWork &work, const AttentionShape &shape, double blocks, double rows);
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

/// States of pieces: a matrix [rows, columns] and `vectors` of its rows, merged, `tile` rows at a time; `initial` more
/// of them are read.
IssuedWork issuedMerge(const Sizes &z, double points, double rows, double columns, double vectors, double initial,
                       double tile);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_ISSUEDWORK_H
