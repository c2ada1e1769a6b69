//===- OpCount.h - Operations and bytes, counted -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_OPCOUNT_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_OPCOUNT_H

// Tile.h includes this where the enumerations of the dialect are known and its ops are not yet.
#include "attune/Tile/Tile.h"

#include <array>

namespace attune::tile {

/// A number for each `Counted`. Sums are exact up to 2^53.
struct OpCount {
  std::array<double, getMaxEnumValForCounted() + 1> counts = {};

  double &operator[](Counted what) { return counts[static_cast<size_t>(what)]; }
  double operator[](Counted what) const { return counts[static_cast<size_t>(what)]; }
  static OpCount of(Counted what, double count) {
    OpCount result;
    result[what] = count;
    return result;
  }
  double macs() const {
    return (*this)[Counted::MacsF32] + (*this)[Counted::MacsTF32] + (*this)[Counted::MacsF16] +
           (*this)[Counted::MacsBF16];
  }
  double bytes() const { return (*this)[Counted::BytesLoaded] + (*this)[Counted::BytesStored]; }

  /// Adds what another count is, so many times.
  void add(const OpCount &other, double times = 1) {
    for (size_t i = 0; i < counts.size(); ++i)
      counts[i] += other.counts[i] * times;
  }
  bool operator==(const OpCount &) const = default;
};

/// A tile and its place in a memory; the operands mean what `tile.load` says, and absent ones are null.
struct MemoryAccess {
  mlir::Value memory;
  mlir::RankedTensorType tile;
  mlir::ValueRange indices;
  mlir::Value lower, rows, fold;
  int64_t columns = 0, stride = 0; ///< of a fold
  bool stores = false;
};

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_OPCOUNT_H
