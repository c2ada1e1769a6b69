//===- Families.h - The families of kernels -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a family (ARCHITECTURE, "One carry"): each builds its kernels into the module and their launches into the
// host function. Memories are arguments of the host function; absent ones are null.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FAMILIES_H
#define ATTUNE_LIB_KERNEL_FAMILIES_H

#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include <optional>
#include <string>

namespace attune::kernel {

/// What every kernel of a function needs to know.
struct Problem {
  std::string name;                ///< prefix of the kernels' symbols
  tile::ScheduleAttr schedule;
  int64_t heads, sharedHeads;      ///< H, G
  int64_t width, valueWidth;       ///< d, dv
  bool causal = false;
  // Memories of the host function; null if absent.
  mlir::Value query;               ///< [batch, H, n, d]
  mlir::Value key;                 ///< [batch, G, N, d]
  mlir::Value value;               ///< [batch, G, N, dv]
  mlir::Value output;              ///< [batch, H, n, dv]
  mlir::Value lengths;             ///< [batch] i32
  mlir::Value lse;                 ///< [batch, H, n] f32
  mlir::Value initialState, initialSum; ///< [batch, G, m, dv], [batch, G, m] f32
  mlir::Value finalState, finalSum;     ///< as the initial ones

  int64_t group() const { return heads / sharedHeads; }
  int64_t queryTile() const { return schedule.getQueryTile(); }
  int64_t keyTile() const { return schedule.getKeyTile(); }
};

/// Where to build: kernels go to the module's end, launches to the insertion point of `host`.
struct BuildSite {
  mlir::ModuleOp module;
  mlir::OpBuilder &host;
  mlir::Location loc;
};

/// Exact attention by online softmax; `scale` multiplies the logits.
void buildSoftmax(BuildSite &site, const Problem &problem, double scale);

/// Kernel attention with all pair weights in tiles.
void buildQuadratic(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, attn::DenominatorAttr guard);

/// The state of the keys in pieces, their merge into `state` and `sum`.
void buildState(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, mlir::Value state, mlir::Value sum);

/// Kernel attention in two passes: state, then readout.
void buildStateAndReadout(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map,
                          attn::DenominatorAttr guard);

/// Causal kernel attention chunk by chunk, n = N.
void buildChunked(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, attn::DenominatorAttr guard);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FAMILIES_H
