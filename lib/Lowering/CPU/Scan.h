//===- Scan.h - Causal products with a part of the state in registers ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of the state's columns
//     for block of the state's rows
//       block of S in registers
//       for row t of the tile:  result_t += a_t S,  S += b_t v_tᵀ
//
// Every block goes through all rows, so that S is read and written once a tile. A row's result is added up over the blocks
// where it lies. Rows that erase: ErasingScan.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_SCAN_H
#define ATTUNE_LOWERING_CPU_SCAN_H

#include "FetchAhead.h"

namespace attune::cpu {

/// What a scan's function is made for.
struct ScanShape {
  enum class Decay { None, Rows, Columns };
  int64_t rows, features, columns;
  /// From row to row of a, b, v, the decay, S, what S is then, the accumulator, the result, what erases and what is written; negative: not known.
  enum Operand { A, B, V, G, State, Next, Acc, Result, X, U, NumOperands };
  std::array<int64_t, NumOperands> steps;
  bool accumulates; ///< the result begins as the accumulator, else as 0
  Decay decay;
  bool once;        ///< the state decays before the first row, not at each
  bool erases, writes; ///< `writes`: somebody reads what rows that erase write
  bool exclusive, reverse;
  SmallVector<FetchShape, 2> fetches = {};

  std::string name() const;
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_SCAN_H
