//===- AlignedBlocks.h - Blocks of tokens that began in a run before -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of b tokens are counted from the first token of a sequence, and a run may begin and end inside of one. So its tokens are
// laid behind those that are held of their first block, in f32: then blocks are those of a sequence that begins with row 0.
//
//   position, places: parallel over (batch)                 how many are held, and how many lie in whole blocks
//   queries, keys:    parallel over (batch, head, rows)     held rows, then those of the run, then 0
//   outputs:          parallel over (batch, head, rows)     rows of the run alone
//   held:             parallel over (batch, head, rows)     keys and values of the block that is not full
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_ALIGNEDBLOCKS_H
#define ATTUNE_LIB_KERNEL_REGIONS_ALIGNEDBLOCKS_H

#include "SketchedPairs.h"

namespace attune::kernel {

class AlignedBlocks {
public:
  /// Of `problem` as a run has it, in kernels of whole rows.
  AlignedBlocks(BuildSite &site, const Problem &problem, tile::ScheduleAttr rows, const PolysketchOptions &options);

  /// The problem of whole blocks: its tokens, lengths and output are workspaces.
  const Problem &problem() const { return whole; }
  /// Rows that are held, before those of the run; where these end, and keys that exist; how many rows lie in blocks that are full of keys.
  fusion::Index before, behind, end, full;

  /// The kernels that come before those of attention, and those behind.
  void appendBefore(std::vector<fusion::KernelRegion> &regions) const;
  void appendBehind(std::vector<fusion::KernelRegion> &regions) const;

private:
  fusion::KernelRegion ofEntries(llvm::StringRef suffix) const;
  fusion::KernelRegion ofRows(llvm::StringRef suffix, const Problem &of, mlir::Value memory, int64_t heads, int64_t count = 0) const;
  fusion::RegionOutput laid(const Tokens &tokens, mlir::Value held, const Tokens &to, int64_t heads, fusion::Index count) const;
  fusion::RegionOutput heldOf(const Tokens &tokens, mlir::Value to) const;
  fusion::KernelRegion outputs() const;

  Problem given, whole;
  int64_t block;
  const PolysketchOptions &options;
  fusion::Index keys; ///< that exist in the run
  mlir::Value position, held, full_; ///< [batch] of i32
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_ALIGNEDBLOCKS_H
