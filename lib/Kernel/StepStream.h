//===- StepStream.h - The steps of loops that follow one another -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles that all rows see and those at the diagonal have a loop each, and so may cached and new keys: segments of one
// stream with one carry. Its steps are numbered from the first one of the first segment, in the order in which they run.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_STEPSTREAM_H
#define ATTUNE_LIB_KERNEL_STEPSTREAM_H

#include "TileBuilder.h"

namespace attune::kernel {

/// Marks the segments of a stream that `tile-split-reduction` is to split: how many entries a piece has, an integer; without one the
/// schedule says how many pieces there are.
inline constexpr llvm::StringLiteral splitStreamAttr = "tile.split";
/// Says of a marked stream that a kernel of its own applies the spans of its pieces: its name.
inline constexpr llvm::StringLiteral mergedByAttr = "tile.merged_by";

/// Says of a marked stream without results that its state lies in memory, in slices: the carry of each. The loop before it stores
/// the state of no entries, slice by slice.
inline constexpr llvm::StringLiteral memoryCarryAttr = "tile.in_memory";

/// Marks a segment; `length`: entries of a piece, or 0. `kernel`: the name of the one that applies spans, or empty. `memory`: the
/// carry of a state in memory, or null.
inline void markStream(tile::LoopOp segment, int64_t length, llvm::StringRef kernel, tile::CarryAttrInterface memory = {}) {
  mlir::Builder builder(segment.getContext());
  segment->setAttr(splitStreamAttr, length ? mlir::Attribute(builder.getI64IntegerAttr(length)) : builder.getUnitAttr());
  if (!kernel.empty())
    segment->setAttr(mergedByAttr, builder.getStringAttr(kernel));
  if (memory)
    segment->setAttr(memoryCarryAttr, memory);
}

class StepStream {
public:
  /// The marked stream of a kernel, empty if there is none; an error if it cannot be split.
  static mlir::FailureOr<StepStream> find(tile::KernelOp kernel);

  bool empty() const { return segments.empty(); }
  /// Takes the marks off.
  void unmark();

  tile::LoopOp last() const { return segments.back(); }
  tile::CarryAttrInterface carry() const;
  /// Where the state lies in memory: the loop that stores that of no entries, slice by slice; else null.
  tile::LoopOp clearing() const;
  /// How many slices such a loop stores.
  static int64_t sliceCount(tile::LoopOp clearing);
  /// What the first step begins with.
  mlir::ValueRange inits() const { return tile::LoopOp(segments.front()).getInitArgs(); }
  llvm::SmallVector<mlir::Type> spanTypes() const { return carry().getSpanTypes(inits().getTypes()); }

  /// Entries of a piece; 0: nothing says so.
  int64_t pieceLength() const { return length; }
  /// The name of the kernel that applies the spans; empty: the point that leaves the last one does.
  llvm::StringRef mergedBy() const { return kernel; }
  /// Where the only segment of a stream with a piece length ends.
  mlir::Value end() const { return last().getUpper(); }

  /// The span of the piece with that number, before the builder's place: of as many steps as its length has, or of equally many as
  /// the others of `pieces`, but for the last ones.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> buildSpan(mlir::OpBuilder &builder, mlir::Value piece,
                                                            int64_t pieces) const;
  /// Removes the segments, whose results nobody uses any more.
  void erase();

private:
  mlir::LogicalResult verify() const;
  mlir::LogicalResult verifyLength() const;
  mlir::LogicalResult verifyMemory() const;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> spanOfLength(mlir::OpBuilder &builder, mlir::Value piece) const;

  llvm::SmallVector<tile::LoopOp, 2> segments;
  int64_t length = 0;
  std::string kernel;
};

/// What a loop over the sequence carries after its step at `first`.
using LoopStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(TileBuilder &tiles, mlir::Value first,
                                                                    mlir::ValueRange carried)>;

/// The carried tiles after the steps first = lower, lower + stride, … below upper.
llvm::SmallVector<mlir::Value> loop(TileBuilder &tiles, tile::CarryAttrInterface carry, mlir::Value lower, mlir::Value upper,
                                    int64_t stride, mlir::ValueRange carried, LoopStep step);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_STEPSTREAM_H
