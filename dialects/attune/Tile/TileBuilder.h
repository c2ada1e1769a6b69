//===- TileBuilder.h - Short names for building kernels -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are built op by op; these short names keep a family's file as readable as its formula. Every function takes
// and returns tiles (shapes in the comments of the families) or indices.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_TILEBUILDER_H
#define ATTUNE_TILE_TILEBUILDER_H

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {

class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  // Indices.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value ceilDiv(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// ⌊a / b⌋ · b, and 0 for a < 0.
  mlir::Value roundDown(mlir::Value a, int64_t b);
  mlir::Value dim(mlir::Value memory, unsigned position);
  mlir::Value programId(Axis axis);

  // Tiles.
  /// An f32 tile of one number; what f32 does not hold of it stays known to the interpreter (#tile.exact).
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, double value);
  /// A rank-1 f32 tile of these numbers.
  mlir::Value table(llvm::ArrayRef<float> elements);
  mlir::Value load(mlir::Value memory, mlir::ValueRange indices, llvm::ArrayRef<int64_t> shape,
                   mlir::Value rows = mlir::Value());
  void store(mlir::Value tile, mlir::Value memory, mlir::ValueRange indices, mlir::Value rows = mlir::Value());
  /// To another element type, widening or rounding; the tile itself if it has that type.
  mlir::Value cast(mlir::Value tile, mlir::Type element);
  /// acc + A·B.
  mlir::Value dot(mlir::Value a, mlir::Value b, mlir::Value acc, bool transposeA = false, bool transposeB = false);
  /// The same of f32 tiles, with nothing of them dropped whatever the storage: for what becomes an exponent, and for
  /// sums that cancel.
  mlir::Value exactDot(mlir::Value a, mlir::Value b, mlir::Value acc, bool transposeA = false, bool transposeB = false);
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value minus(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, mlir::Value b);
  mlir::Value over(mlir::Value a, mlir::Value b);
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value exp2(mlir::Value a);
  mlir::Value log2(mlir::Value a);
  /// `then` where a = value, else `otherwise`.
  mlir::Value selectEqual(mlir::Value a, double value, mlir::Value then, mlir::Value otherwise);
  mlir::Value negate(mlir::Value a);
  mlir::Value abs(mlir::Value a);
  mlir::Value sqrt(mlir::Value a);
  mlir::Value roundEven(mlir::Value a);
  /// a · b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// sin(2π · turns) and cos(2π · turns), of any number of turns.
  mlir::Value sine(mlir::Value turns);
  mlir::Value cosine(mlir::Value turns);
  mlir::Value exp(mlir::Value a);
  mlir::Value log(mlir::Value a);
  /// xᵖ: by multiplications for integers up to 64, else of x ≥ 0 as exp2(p · log2 x), 0 of 0 for p > 0.
  mlir::Value power(mlir::Value x, double p);
  /// The hyperbolic tangent, to its last places for small x too.
  mlir::Value tanh(mlir::Value x);
  /// log(1 + eˣ), without overflow and to its last places for negative x too.
  mlir::Value softplus(mlir::Value x);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value then, mlir::Value otherwise);

  // Tiles of i32.
  mlir::Value integers(llvm::ArrayRef<int64_t> shape, int32_t value);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value popCount(mlir::Value a);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value toFloat(mlir::Value a);
  /// Elements (i, j) of the Hadamard matrix in f32: (−1) to the bits that i and j have in common.
  mlir::Value hadamard(mlir::Value i, mlir::Value j);

  // Across elements.
  mlir::Value reduceAdd(mlir::Value tile, int64_t axis);
  mlir::Value reduceMax(mlir::Value tile, int64_t axis);
  /// A rank-1 tile as columns of a rank-2 tile (`axis` 1: one value a row).
  mlir::Value expand(mlir::Value tile, int64_t axis, llvm::ArrayRef<int64_t> shape);
  // Carries of loops.
  CarryAttrInterface sums();
  CarryAttrInterface maxima();
  CarryAttrInterface rescaledSums(int64_t power = RescaledSumAttr::exp2, Unit unit = Unit::Row);

  mlir::Value mask(mlir::Value tile, double fill, mlir::Value rows, mlir::Value cols, mlir::Value diagonal);

  // Windows, places, columns.
  /// Where a tile's rows lie: bounds of rows, each null if there is none, and the window they are tokens of, if any
  /// (`tile.load`).
  struct Rows {
    mlir::Value lower, limit;
    mlir::Value first; ///< the tile's first token in a window; null if the rows follow one another
    int64_t columns = 0, stride = 0;
  };
  mlir::Value load(mlir::Value memory, mlir::ValueRange indices, llvm::ArrayRef<int64_t> shape, const Rows &rows);
  void store(mlir::Value tile, mlir::Value memory, mlir::ValueRange indices, const Rows &rows);
  /// base, base + 1, … as [count] f32, or i32.
  mlir::Value iota(mlir::Value base, int64_t count);
  mlir::Value iotaIntegers(mlir::Value base, int64_t count);
  /// result[i, c] = tile[i, order[c]].
  mlir::Value permuteColumns(mlir::Value tile, llvm::ArrayRef<int64_t> order);
  /// Exchanges features 2f and 2f + 1; of an odd width the last stays.
  mlir::Value swapPairs(mlir::Value tile);
  /// Exchanges features f and f + width/2 of an even width.
  mlir::Value swapHalves(mlir::Value tile);

  llvm::ArrayRef<int64_t> shape(mlir::Value tile);
  mlir::Type element(mlir::Value tile);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attune::tile

#endif // ATTUNE_TILE_TILEBUILDER_H
