//===- KernelState.h - What is known while a kernel is lowered -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_KERNELSTATE_H
#define ATTUNE_LIB_LOWERING_GPU_KERNELSTATE_H

#include "DeviceBuilder.h"
#include "SharedMemoryUse.h"

#include "attune/Tile/TileLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/DenseMap.h"

namespace attune::tile {
class ArriveOp;
}

namespace attune::device {

/// A memory argument, taken from the kernel's parameters.
struct Memory {
  mlir::Value pointer;                       // ptr<1>
  llvm::SmallVector<mlir::Value> sizes, strides; // i64, in elements
  mlir::Type element;
  mlir::Value aligned; // i1: every row begins at a multiple of 16 bytes
};

/// A tile in shared memory, `begin` bytes after its base. What is known stays apart from what threads compute, so that all
/// tiles of one width share the computed part of their addresses, of which there would be too many to hold.
struct SharedTile {
  mlir::Value base; // ptr<3>
  int64_t begin;
  tile::SharedLayout layout;
  mlir::Type element;
  int buffer; // for the ordering of writes and reads
};

/// What a thread holds of a tile: registers, where those of 16-bit elements are pairs (vector<2xT>); or where it lies in shared memory,
/// also of fragments that products read from there as they go: `b`, and `a` where several warps share a row.
struct ThreadTile {
  llvm::SmallVector<mlir::Value> registers;
  std::optional<SharedTile> shared;
};

/// The lowering of one kernel. Free functions of the other files take it first.
struct KernelState {
  KernelState(tile::KernelOp kernel, mlir::OpBuilder &builder);

  int64_t threads() const { return grid.count() * tile::lanesPerWarp; }
  const ThreadTile &tileOf(mlir::Value value) const { return tiles.at(value); }
  tile::FragmentLayout fragment(mlir::Value value) const;

  /// A scalar of the kernel as a scalar of the thread; index is i64.
  mlir::Value scalar(mlir::Value value) { return scalar(value, scalars); }
  /// The same in a copy of the code: `known` tells what differs, and takes what is computed.
  mlir::Value scalar(mlir::Value value, llvm::DenseMap<mlir::Value, mlir::Value> &known);
  llvm::SmallVector<mlir::Value> scalarsOf(mlir::ValueRange values) {
    return llvm::map_to_vector(values, [&](mlir::Value value) { return scalar(value); });
  }

  /// A new buffer for a tile, in as many copies as asked for, one after another.
  SharedTile newSharedTile(tile::SharedAttr attr, mlir::Type element, int64_t copies = 1);
  static bool isShared(mlir::Value tile);
  /// The address of byte `computed` + `known` of a tile.
  mlir::Value addressIn(const SharedTile &tile, mlir::Value computed, int64_t known) {
    return code.offset(code.offset(tile.base, computed), tile.begin + known);
  }
  /// The memory behind an argument or a reshaped one.
  static mlir::Value rootOf(mlir::Value memory);
  /// Is the memory both loaded from and stored to in this kernel?
  bool isExchanged(mlir::Value memory) const { return exchanged.contains(rootOf(memory)); }
  /// Do threads of a block meet in an operation, so that it may hold barriers?
  bool needsBarriers(mlir::Operation *op) const;

  tile::KernelOp kernel;
  DeviceBuilder code;
  tile::WarpGrid grid;
  int64_t stages;
  // thread = 32 warp + lane; lane = 4 group + quad
  mlir::Value thread, warp, lane, group, quad; // i32
  mlir::Value gridRow, gridColumn;             // i32: of the warp
  mlir::Value sharedBase;                      // ptr<3>
  SharedMemoryUse sharedUse;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, ThreadTile> tiles;
  llvm::DenseMap<mlir::Value, Memory> memories;
  llvm::DenseSet<int> runningAhead; // buffers of the copies of loops

private:
  llvm::DenseSet<mlir::Value> exchanged;
};

/// Where a load or store meets memory, in scalars of the thread.
struct TileAccess {
  const Memory *memory;
  mlir::Value pointer;     // ptr<1> to row 0 of the tile; with a window, to the window's token 0
  mlir::Value rowStride;   // i64, elements (rank 2)
  mlir::Value aligned;     // i1: every row of the tile begins at a multiple of 16 bytes
  mlir::Value rowLimit;    // i32: rows of the tile below it are inside
  mlir::Value rowLower;    // i32: rows of the tile below it are outside; null: none
  mlir::Value columnLimit; // i32 (rank 2)
  mlir::Value firstToken;  // i32: the token of the window that row 0 is; null: no window
  int64_t columns = 0, stride = 0;          // of the window and its image
  bool allRows = false, allColumns = false; // known to be inside without a test
};

/// The access of a load or store.
TileAccess accessOf(KernelState &state, tile::LoadOp load, llvm::DenseMap<mlir::Value, mlir::Value> &known);
TileAccess accessOf(KernelState &state, tile::StoreOp store);
/// i1: is a row of the tile inside?
mlir::Value isInside(KernelState &state, const TileAccess &access, mlir::Value row);
/// Elements from the access's pointer to a row of the tile: i64. Of a row that is not inside, any number.
mlir::Value rowOffset(KernelState &state, const TileAccess &access, mlir::Value row);

// RegisterAccess.cpp: registers ↔ global memory.
void loadToRegisters(KernelState &state, tile::LoadOp load);
void lowerStore(KernelState &state, tile::StoreOp store);

// AsyncCopy.cpp: global → shared memory.
/// Starts the copy of a tile; the copies form a group at the next commit.
void startCopy(KernelState &state, const TileAccess &access, mlir::RankedTensorType tile, const SharedTile &target);
void commitCopies(KernelState &state);
void waitForCopies(KernelState &state, int64_t groupsLeft);
/// A load outside a pipelined loop: copied and waited for.
void loadToShared(KernelState &state, tile::LoadOp load);

// Loops.cpp
mlir::LogicalResult lowerLoop(KernelState &state, tile::LoopOp loop);

// SharedFragments.cpp: shared memory ↔ fragments.
/// Bytes from a tile's begin to a chunk of a row (i32).
mlir::Value chunkOffset(DeviceBuilder &code, const tile::SharedLayout &layout, mlir::Value row, mlir::Value chunk);
mlir::LogicalResult lowerConvertLayout(KernelState &state, tile::ConvertLayoutOp convert);
/// A place in shared memory: a constant and, where it depends on the warp, a value to add (i32, a multiple of 8).
struct SharedPlace {
  int64_t row = 0, column = 0;
  mlir::Value addRow, addColumn;
};
/// ldmatrix of `count` (1, 2 or 4) blocks of 8×8 elements of 16 bits: the first at `place`, the second 8 columns to the right
/// if `columnsFirst`, else 8 rows below, the third and fourth the other way. Gives a pair of elements for each block.
llvm::SmallVector<mlir::Value> loadMatrices(KernelState &state, const SharedTile &tile, SharedPlace place, int count,
                                            bool columnsFirst, bool transposed);
/// Columns 2·quad and 2·quad + 1 of row `group`, counted from `place`: a pair of elements.
mlir::Value readPair(KernelState &state, const SharedTile &tile, SharedPlace place);
void writePair(KernelState &state, const SharedTile &tile, SharedPlace place, mlir::Value pair);
/// Column `group` of row 2·quad + `second`, counted from `place`, of f32.
mlir::Value readWord(KernelState &state, const SharedTile &tile, SharedPlace place, int64_t second);
/// First row of this warp in a block of rows, no further down than the last fragment of `rows` rows.
mlir::Value firstRow(KernelState &state, int64_t rowBlock, int64_t rows);
/// Where this warp's column block `block` begins: a constant and, where columns are spread over several warps, a value to add
/// (i32). `limit` columns can be read: of blocks past it, which are padding, some other place is given.
struct ColumnPlace {
  int64_t constant;
  mlir::Value add;
};
ColumnPlace columnPlace(KernelState &state, const tile::FragmentLayout &layout, int64_t block, int64_t limit);
/// True if a warp may have column blocks past `limit`. Then blocks that may be there are read one by one.
bool endsPast(const tile::FragmentLayout &layout, int64_t limit);
/// True if every warp has column block `block` before `limit`.
bool isWithin(const tile::FragmentLayout &layout, int64_t block, int64_t limit);

// MmaSm80.cpp
mlir::LogicalResult lowerDot(KernelState &state, tile::DotOp dot);

// WgmmaSm90.cpp: products whose second operand lies in panels.
mlir::LogicalResult lowerWarpgroupDot(KernelState &state, tile::DotOp dot);

// Reductions.cpp
void lowerReduce(KernelState &state, tile::ReduceOp reduce);
void lowerExpand(KernelState &state, tile::ExpandOp expand);
void lowerMask(KernelState &state, tile::MaskOp mask);

// Exchange.cpp
void lowerPermuteColumns(KernelState &state, tile::PermuteColumnsOp permute);
/// A rank-1 tile from along one axis to along the other.
void lowerSliceConversion(KernelState &state, tile::ConvertLayoutOp convert);

// Constants.cpp
mlir::LogicalResult lowerConstant(KernelState &state, mlir::arith::ConstantOp constant);

// Arrive.cpp
void lowerArrive(KernelState &state, tile::ArriveOp op);

// Elementwise.cpp
mlir::LogicalResult lowerElementwise(KernelState &state, mlir::Operation *op);

// TileToGpu.cpp
mlir::LogicalResult lowerBlock(KernelState &state, mlir::Block &block);

/// Loads what loops read from shared memory, and were given before them, anew for each product.
void reloadOperands(tile::KernelOp kernel);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_KERNELSTATE_H
