//===- DotBody.h - A block of a dot's result in registers ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of vectors of the result's adjacent elements (J)
//     for block of rows (I)
//       sum[rows × vectors] = 0
//       for k:  sum += S[row, k] (broadcast) · V[k, vectors]
//       C[row, vectors] = acc + sum
//
// S is A and V is B if the result is row-major; S is B and V is A transposed if it is column-major: then J are its
// rows. The products of one dot are summed apart and added to the accumulator last, so that the sums inside a block of
// keys do not depend on what came before. Padding of V and C is computed along: nobody reads it.
//
// Of bf16 numbers, on a processor that has their dot products, k counts pairs and S and V are of 32 bits.
//
// Below a diagonal (causal weights inside a chunk) only the blocks and the terms of the sums that count are computed.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_DOTBODY_H
#define ATTUNE_LOWERING_CPU_DOTBODY_H

#include "FetchAhead.h"
#include "FoldedRows.h"

namespace attune::cpu {

/// What numbers there is one of: each row, or each column.
enum class Along { None, Rows, Columns };

/// What a dot function is made for. Strides that are only known at run time are -1 and come as arguments.
struct DotShape {
  int64_t rows, columns, inner; ///< I, J (of the orientation above), K
  int64_t rowStep, innerStep;   ///< strides of S
  int64_t vectorStep;           ///< stride of V
  int64_t resultStep;           ///< stride of the accumulator and, in the scratch, of C
  bool accumulates;
  Along scale;                             ///< of numbers that the accumulator is multiplied by
  Along spread;                            ///< of numbers that the accumulator is
  bool transposed;                         ///< I are the columns of the result, J its rows
  std::optional<int64_t> resultDiagonal;   ///< only elements j ≤ i + diagonal are needed
  std::optional<int64_t> operandDiagonal;  ///< A is zero where k > i + diagonal
  bool stores, storesBelow;                ///< C is stored to memory, be it only rows below a bound
  bool scalesRows;                         ///< by a factor of each row
  bool storesSum;                          ///< with another tile added to it, of the accumulator's stride
  bool addsInMemory;                       ///< to what lies there
  bool multiplies;                         ///< C has the elements of a tile as factors, of its stride in the scratch
  bool pairs;                              ///< of bf16 numbers: steps of S count these, rows of V are pairs
  Fold scalarFold, vectorFold, storeFold;  ///< of the rows of S, V and the memory that C is stored to
  int64_t tail;                            ///< rows of the result that are computed one by one (DotTail.h)
  bool tiles = false;                      ///< products of tiles (DotTiles.cpp); S has rows of pairs
  int64_t tileRest = 0;                    ///< pairs of the short tiles
  SmallVector<FetchShape, 2> fetches = {}; ///< what is fetched on the way

  std::string name() const;
  std::string foldNames() const;
};

/// Where a scaled result is stored.
struct StorePlace {
  Value step, bound, dump; ///< from row to row; rows before it exist; where the others go
  Value scale;             ///< a factor for each row
  Value addend;            ///< null if nothing is added
  FoldPlace place;
};

/// Emits the body of a dot function.
struct DotBody {
  Emit &emit;
  DotShape shape;
  Value result, accumulator, scalars, vectors, rowStep, innerStep, vectorStep, scale;
  FoldPlace scalarPlace = {}, vectorPlace = {};
  Value factor = {};                   ///< element (0, 0) of the tile that C is multiplied by
  Value tailStart = {}, tailStep = {}; ///< the first row of the tail, and from row to row
  StorePlace stored = {};
  SmallVector<FetchPlace, 2> fetches = {};
  Value number = {}; ///< of blocks before the current one

  /// Of the strips of wide() vectors, and vectors of one more strip.
  struct Strips {
    int64_t whole, rest;
  };
  /// Of the register blocks of a strip: how many, rows of the first ones, and how many have one row less.
  struct Heights {
    int64_t number, height, low;
  };

  void run();
  void runTiles();
  void tail();
  Strips strips() const;
  int64_t wide() const;
  Heights heights(int64_t count) const;
  int64_t fetchPace() const;
  bool fetchesInRows() const;
  int64_t blockCount() const;
  SmallVector<BlockFetch, 1> blockFetches(int64_t steps) const;
  void strip(Value column, int64_t count);
  void blocks(Value column, int64_t count, int64_t from, int64_t to, int64_t height, Value before);
  Value innerEnd(Value row, int64_t rows, Value column, int64_t count);
  /// Adds the accumulator to a row of sums, multiplies it, and stores it.
  void finishRow(MutableArrayRef<Value> sums, Value row, Value column);
  Value accumulated(Value sum, Value row, Value column, Value place);
  void block(Value row, int64_t rows, Value column, int64_t count);
  void store(ArrayRef<Value> sums, Value row, Value column);
  Value scaled(Value sum, Value factor, Value row, Value column);
  SmallVector<Value, 12> scalarRows(Value row, int64_t rows);
  SmallVector<Value> addStep(ArrayRef<Value> rowsOfS, Value firstVector, Value k, Value place, ValueRange sums);
  SmallVector<Value> product(Value row, int64_t rows, Value column, int64_t count);
  SmallVector<Value> productOfPairs(Value row, int64_t rows, Value column, int64_t count);
  SmallVector<Value> addPair(Value row, int64_t rows, Value column, int64_t count, Value pair, ValueRange sums,
                             bool half);
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_DOTBODY_H
