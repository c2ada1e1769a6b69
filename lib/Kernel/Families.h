//===- Families.h - What the kernels of an attention are built for -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokens and the output of one attention, from which its regions are made (Regions/), and where kernels and their launches are
// built. Memories are arguments or workspaces of the host function; absent ones are null.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FAMILIES_H
#define ATTUNE_LIB_KERNEL_FAMILIES_H

#include "Tokens.h"
#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include <optional>
#include <string>

namespace attune::kernel {

/// The depthwise convolution of the values that is added to an output.
struct Lepe {
  mlir::Value weight;             ///< [heads, dv, 3] or [heads, dv, 3, 3]; packed [heads, 3 or 9, dv] in f32
  bool packed = false;
  mlir::Value bias;               ///< [heads, dv]; null if there is none
  Tokens value;
  mlir::Value lengths;            ///< values at or past them are 0; null if all exist
  std::optional<int64_t> columns; ///< tokens of a row of the image; none: one dimension
  bool inWindow = false;          ///< neighbours outside the window are 0
};

/// The projection of an output in the kernel that computes it.
struct OutputProjection {
  mlir::Value weight; ///< [heads · dv, D]
  mlir::Value bias;   ///< [D]; null if there is none
  bool transposed = false; ///< the weight is [D, heads · dv]
};

/// Where an attention writes its output.
struct Output {
  mlir::Value memory; ///< [batch, heads of the memory, n, dv]; with a projection [batch, n, D]
  int64_t firstHead = 0;
  std::optional<Lepe> lepe;
  std::optional<OutputProjection> projection = std::nullopt; ///< after the convolution
};

/// What every region of an attention needs to know.
struct Problem {
  std::string name; ///< prefix of the kernels' symbols
  tile::ScheduleAttr schedule;
  Tokens query;     ///< [batch, H, n, d]
  Tokens key;       ///< [batch, G, N, d]
  Tokens value;     ///< [batch, G, N, dv]
  Output output;
  bool causal = false;
  bool grouped = false; ///< chunks serve all query heads of a key-value head, which share a state
  bool wide = false;    ///< products of features have operands in f32, whatever storage has
  bool split = false;   ///< chunks of several parts of the sequence (Pieces.h), or pieces of a softmax's keys, side by side
  attn::WindowAttr window; ///< null: the whole sequence
  bool shortLast = false;  ///< and its last window may be shorter: sequences lie end to end
  mlir::Value lengths; ///< [batch] i32, of the host function; null if all keys exist

  int64_t heads() const { return query.heads; }
  int64_t sharedHeads() const { return key.heads; }
  int64_t width() const { return query.width; }
  int64_t valueWidth() const { return value.width; }
  /// Rows of a tile of queries and of keys: the schedule's, or a divisor of the window that is about as large.
  int64_t queryTile() const;
  int64_t keyTile() const;
};

/// Where to build: kernels go to the module's end, launches to the insertion point of `host`.
struct BuildSite {
  mlir::ModuleOp module;
  mlir::OpBuilder &host;
  mlir::Location loc;

  /// A part of the workspace, of f32 unless another type is given.
  mlir::Value workspace(llvm::ArrayRef<int64_t> shape, mlir::ValueRange dynamicSizes, mlir::Type element = {});
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FAMILIES_H
