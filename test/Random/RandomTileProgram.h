//===- RandomTileProgram.h - Small programs of the tile dialect ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_RANDOMTILEPROGRAM_H
#define ATTUNE_TEST_RANDOM_RANDOMTILEPROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace attune::random {

/// A memory that the host function takes: [planes, rows, columns] of a type.
struct ProgramMemory {
  std::string name, dtype;
  int64_t planes, rows, columns;
  bool isOutput;
};

/// A module with one kernel @k over grid(batch) and its host function @plan, which launches it once a plane.
///
/// No value is far from 1 and no comparison is near a tie, so that two correct ways of rounding agree to the tolerance
/// of the type: products and exponentials are clamped, and conditions ask only for what a mask has filled in.
struct RandomTileProgram {
  std::string text;
  std::vector<ProgramMemory> memories; ///< in the order of @plan's arguments
};

RandomTileProgram drawTileProgram(uint64_t seed);

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_RANDOMTILEPROGRAM_H
