//===- Power.h - The carry of attention whose weights are even powers -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_POWER_H
#define ATTUNE_LIB_KERNEL_POWER_H

#include "KernelFrame.h"

#include "attune/Tile/Units.h"

namespace attune::kernel {

using tile::evenPower, tile::inverseUnit, tile::leastUnit, tile::powerOfTwoNextTo, tile::unitFactor;

/// Σ_j t_ij^degree [v_j 1] of a tile of queries, carried in the unit M_i^degree where M_i is the largest |t_ij| so far: a
/// power of a logit overflows long before the quotient does. Carries M [Tq], den [Tq], num [Tq, dv].
struct PowerCarry {
  int64_t rows, valueWidth, degree;
  attn::DenominatorAttr guard;
  /// The true logits are length^power t, and that power may be beyond the range; null: t itself. Matters to the guard
  /// alone.
  mlir::Value length = {}; ///< [Tq]
  int64_t power = 1;

  llvm::SmallVector<mlir::Value> start(TileBuilder &tiles) const;
  /// From sums in the unit m^degree, for m [Tq].
  llvm::SmallVector<mlir::Value> startFrom(TileBuilder &tiles, mlir::Value m, mlir::Value den, mlir::Value num) const;
  /// M' = max(M, max_j |t|), w = (t / M')^degree: den' = den (M / M')^degree + Σ_j w, num' likewise with w v. Logits
  /// t [Tq, Tk] that do not count are 0.
  llvm::SmallVector<mlir::Value> step(TileBuilder &tiles, mlir::ValueRange carried, mlir::Value logits,
                                      mlir::Value v) const;
  /// num / max(den + bias, floor) [Tq, dv], 0 where that is 0.
  mlir::Value finish(TileBuilder &tiles, mlir::ValueRange carried) const;

private:
  bool guarded() const { return guard.getBias() != 0 || guard.getFloor() != 0; }
  /// A true unit^-degree, for m [Tq].
  mlir::Value ofGuard(TileBuilder &tiles, mlir::Value m) const;
};

/// A guard for weights that are (length t)^(2·half), in units that only their exponents tell.
struct ApartGuard {
  attn::DenominatorAttr guard;
  mlir::Value length = {}; ///< [Tq]
};

/// The carry of degree 2 of roots together with one of degree 2·half of logits, whose unit M^half is beyond the range: powers
/// of 2 are taken apart from the rest, those of the guard too. Both carries are without a guard, and so is the result: its
/// denominator has what the guard adds, and M is no longer the unit.
llvm::SmallVector<mlir::Value> mergeUnits(TileBuilder &tiles, mlir::ValueRange roots, mlir::ValueRange logits,
                                          int64_t half, const ApartGuard &guard);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_POWER_H
