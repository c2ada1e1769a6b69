//===- KernelState.h - A kernel while it is being lowered ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_KERNELSTATE_H
#define ATTUNE_LOWERING_CPU_KERNELSTATE_H

#include "Emit.h"
#include "FoldedRows.h"
#include "Orders.h"
#include "Slots.h"
#include "Stages.h"

#include "mlir/IR/IRMapping.h"

namespace attune::tile {
class AnyOp;
class ArriveOp;
class ScanOp;
}

namespace attune::cpu {

/// Where a tile lies: the outer index times `stride` plus the inner index. Rows are padded to whole vectors and rows
/// are added up to a multiple of the lanes, so that vectors of scratch memory are never masked.
struct Buffer {
  Value pointer;
  Value stride; ///< elements from one row (or column) to the next
  Fold fold = {};  ///< of a window that dots read where it lies
  FoldPlace place = {};
};

/// Where a carried tile lies while its loop runs: where it is stored (CarriedPlaces.h), or in the scratch.
struct CarriedPlace {
  Buffer buffer;
  Value isScratch; ///< i1: it does, as the rows of that memory do not exist, or are further apart
};

/// What the parts of the lowering share about one kernel and one instruction set.
struct KernelState {
  KernelState(Emit &emit, ModuleOp module) : emit(emit), module(module) {}

  Emit &emit;
  ModuleOp module;
  IRMapping scalars; ///< index values of the kernel to i64 values
  llvm::DenseMap<Value, Memory> memories;
  Value scratch;
  Operation *entry = nullptr; ///< pointers into the scratch are made before it
  int64_t scratchBytes = 0;
  unsigned nests = 0, dots = 0;
  llvm::DenseMap<Operation *, SmallVector<Operation *, 2>> fetches; ///< the loads and stores whose next tiles a dot fetches
  llvm::DenseSet<Operation *> fetchedByDots;                         ///< those loads

  /// A part of the scratch, 64-byte aligned: a released one of the same size if there is one, the last released first.
  Value allocate(int64_t bytes);
  Buffer allocate(ArrayRef<int64_t> shape, Order order);
  /// The stride of a tile in the scratch.
  Value strideOf(ArrayRef<int64_t> shape, Order order);
  /// For a tile that lies there as bf16; strides count such numbers.
  Buffer allocateBf16(ArrayRef<int64_t> shape, Order order);
  /// A row of zeros, and a row that nobody reads, for rows that do not exist.
  Value zeroRow() const { return zeros; }
  Value dumpRow() const { return dump; }
  /// Makes those rows, wide enough for every load and store of the kernel.
  void makeEdgeRows(tile::KernelOp kernel);

  /// Where the tile lies in that order, if it has been computed.
  std::optional<Buffer> find(Value tile, Order order) const;
  void place(Value tile, Order order, Buffer buffer) { buffers[{tile, static_cast<int>(order)}] = buffer; }
  /// The buffer in which a tile will be computed: the one it was promised, or a new one.
  Buffer destination(Value tile, Order order);
  void promise(Value tile, Buffer buffer) { promised[tile] = buffer; }
  /// Where the tile lies in that order; transposed or filled now if need be.
  Buffer require(Value tile, Order order);
  llvm::DenseMap<Value, CarriedPlace> carriedPlaces; ///< of results of loops
  llvm::DenseMap<Operation *, Value> loadsNeeded;    ///< of loads to such places: i1, whether they have anything to do
  /// Pairs of numbers that are adjacent along an axis, [pairs][other dimension], as 32 bits: those that were made before.
  llvm::DenseMap<std::pair<Value, int64_t>, Buffer> pairs;
  /// The same, [other dimension][pairs].
  llvm::DenseMap<std::pair<Value, int64_t>, Buffer> rowsOfPairs;
  /// The tile is not read any more: its buffers may hold others.
  void release(Value tile);
  /// Lets `next` be computed in the buffer of `last`, element by element, if `last` owns one of that order.
  bool takeOver(Value last, Value next, Order order);
  /// The tile's buffer stays, as another tile has taken it over.
  void keep(Value tile) { parts.erase(tile); }
  /// Whether that is a part of the scratch which goes when the tile does.
  bool owns(Value tile, Buffer buffer) const { return llvm::is_contained(parts.lookup(tile), buffer.pointer); }
  /// A part of the scratch that goes when the tile does.
  void own(Value tile, Value pointer) { parts[tile].push_back(pointer); }

private:
  Value zeros, dump;
  llvm::DenseMap<std::pair<Value, int>, Buffer> buffers;
  llvm::DenseMap<Value, Buffer> promised;
  llvm::DenseMap<Value, SmallVector<Value, 2>> parts; ///< pointers into the scratch that a tile owns
  llvm::DenseMap<Value, int64_t> sizes;               ///< of the parts of the scratch
  SmallVector<Value> released;
};

/// Emits the loop nest of a stage.
void emitNest(KernelState &state, const Stages &stages, const Stage &stage);
/// Writes the tile (computed before, or free) into the buffer.
void emitCopy(KernelState &state, Value tile, Order order, Buffer target);
/// Finds a load in memory, or copies it if rows are missing.
void emitPlace(KernelState &state, tile::LoadOp load);
/// Emits a dot as a call.
void emitDot(KernelState &state, tile::DotOp dot);
/// Emits two dots of one row each by the same tile as one call.
void emitRows(KernelState &state, tile::DotOp first, tile::DotOp second);
/// Emits a scan as a call.
void emitScan(KernelState &state, tile::ScanOp scan);
/// Writes the transpose of a padded buffer of outer × inner elements.
void emitTranspose(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target);
/// The same of pairs of bf16 numbers: the source's stride counts such numbers, `inner` and the target's stride pairs.
void emitTransposeOfPairs(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target);
/// Transposes tiles that have just been computed for the uses that read them in the other order.
void provideOrders(KernelState &state, ValueRange tiles);
/// Emits a loop; carried tiles are updated in place where their next value can be computed there.
LogicalResult emitLoop(KernelState &state, tile::LoopOp loop);
/// Says at a counter that the program has stored its part; the op's result is whether it is the last one.
void emitArrive(KernelState &state, tile::ArriveOp op);
void emitAny(KernelState &state, tile::AnyOp op);
/// Emits the ops of a block.
/// Puts a table (isTable) into the library; the kernel reads it there.
void emitTable(KernelState &state, Operation *op);
LogicalResult emitBlock(KernelState &state, Block &block);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_KERNELSTATE_H
