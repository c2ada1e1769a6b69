//===- TileProgramWriter.h - Writes tile ops, one by one -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_TILEPROGRAMWRITER_H
#define ATTUNE_TEST_RANDOM_TILEPROGRAMWRITER_H

#include "Choices.h"
#include "RandomTileProgram.h"

#include <vector>

namespace attune::random {

/// A tile of f32 that the program has: [rows, columns], or [rows] if columns is 0.
struct TileName {
  std::string name;
  int64_t rows, columns;

  bool isVector() const { return columns == 0; }
  std::string type(const std::string &element = "f32") const;
  friend bool operator==(const TileName &a, const TileName &b) { return a.name == b.name; }
};

/// The text of a kernel's body and the tiles that it has so far. Tiles of a loop's body are forgotten at its end.
class TileProgramWriter {
public:
  explicit TileProgramWriter(Choices &choices) : choices(choices) {}

  /// `NAME = TEXT` as a line; a new tile.
  TileName define(int64_t rows, int64_t columns, const std::string &text);
  void line(const std::string &text);
  /// A new index constant.
  std::string index(int64_t value);
  std::string fresh() { return "%x" + std::to_string(counter++); }

  /// A constant is no tile of the program: it would soon be nothing else.
  TileName constant(int64_t rows, int64_t columns, const std::string &value);
  TileName load(const ProgramMemory &memory, const std::string &row, int64_t rows, int64_t columns);
  void store(const TileName &tile, const ProgramMemory &memory, const std::string &row);
  /// Between −bound and bound.
  TileName clamp(const TileName &tile, double bound);
  TileName unary(const TileName &tile);
  TileName binary(const TileName &a, const TileName &b);
  TileName dot(const TileName &a, bool transposeA, const TileName &b, bool transposeB, const TileName &acc);
  /// The product in whatever orientation makes the inner sizes agree; a size must be common to both.
  TileName product(const TileName &a, const TileName &b);
  TileName reduce(const TileName &tile, bool isMax, int axis);
  TileName expand(const TileName &tile, int axis, int64_t other);
  TileName iota(int64_t size);
  TileName permute(const TileName &tile);
  /// Masked with −∞, which a comparison then finds and a constant replaces.
  TileName maskAndReplace(const TileName &tile);
  TileName mask(const TileName &tile, const std::string &fill);
  /// One op of any kind on tiles of the program.
  void anything();

  const TileName &anyTile() { return tiles[choices.below(static_cast<int64_t>(tiles.size()))]; }
  /// A tile of that shape; made out of a constant if there is none.
  TileName ofShape(int64_t rows, int64_t columns);

  Choices &choices;
  std::vector<TileName> tiles;
  std::string text;
  std::string indent = "  ";

private:
  std::string place(const ProgramMemory &memory, std::string row, std::string column, bool isVector);
  TileName elementwise(const TileName &like, const std::string &op, const std::string &operands);
  void binaryOfAny();
  void dotOfAny();
  /// Of any form, through a state that may be larger than what registers hold; its rows are those of a tile of the program.
  void scanOfAny(const TileName &tile);
  /// Different numbers of about that size.
  TileName matrix(int64_t rows, int64_t columns);

  int counter = 0;
};

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_TILEPROGRAMWRITER_H
