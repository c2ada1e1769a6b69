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

/// The unit attribute of the segments of a stream that `tile-split-reduction` is to split.
inline constexpr llvm::StringLiteral splitStreamAttr = "tile.split";

/// Marks the loops with this carry that stand in the kernel's own block, as those of a stream to split.
void markStream(tile::KernelOp kernel, tile::CarryAttrInterface carry);

class StepStream {
public:
  /// The marked stream of a kernel, empty if there is none; an error if it cannot be split.
  static mlir::FailureOr<StepStream> find(tile::KernelOp kernel);

  bool empty() const { return segments.empty(); }
  /// Takes the marks off.
  void unmark();

  tile::LoopOp last() const { return segments.back(); }
  tile::CarryAttrInterface carry() const { return last().getCarry(); }
  /// What the first step begins with.
  mlir::ValueRange inits() const { return tile::LoopOp(segments.front()).getInitArgs(); }
  llvm::SmallVector<mlir::Type> spanTypes() const { return carry().getSpanTypes(inits().getTypes()); }

  /// The span of the piece with that number, of `pieces` with equally many steps but for the last ones, before the
  /// builder's place.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> buildSpan(mlir::OpBuilder &builder, mlir::Value piece,
                                                            int64_t pieces) const;
  /// Removes the segments, whose results nobody uses any more.
  void erase();

private:
  mlir::LogicalResult verify() const;

  llvm::SmallVector<tile::LoopOp, 2> segments;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_STEPSTREAM_H
