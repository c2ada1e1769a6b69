//===- LinearPart.h - What a body does to columns of a tile -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of a loop with erasing makes A S + B of the tile S [m, d]. To know A, the step could be run on [S | X] with
// what it adds left out of the columns X [m, c]. The columns never meet, so that instead of one wider tile there are
// two: beside every op that depends on S stands one that does the same to columns X and adds nothing. What does not
// depend on S (keys, decays, the solution of a triangular system) is computed once for both.
//
// Of v = f(S) the linear part is f(X) − f(0), in the place of whose columns f(S) has those of S:
//
//     acc + K S            K X                    a + b, −a, a ⊙ w      of the parts of a and b that depend on S
//     Σ_i S[i, j]          Σ_i X[i, j]            w must have the same columns everywhere
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_LINEARPART_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_LINEARPART_H

#include "attune/Tile/TileBuilder.h"

namespace attune::tile {

/// Within the body of a loop.
class LinearPart {
public:
  /// `source` is the carried tile S [m, d], `columns` is X [m, c]; ops are built where `builder` is.
  LinearPart(mlir::OpBuilder &builder, LoopOp loop, mlir::Value source, mlir::Value columns);

  /// The linear part of a value of the body, in f32 and in the shape of the value with c in place of d. It is 0 of a
  /// value that does not depend on S. Fails, and says why at the op, if the value is not known to be linear.
  mlir::FailureOr<mlir::Value> of(mlir::Value value);

private:
  /// A linear part and which of its axes are the columns; no tile if there is none.
  struct Part {
    mlir::Value tile;
    int64_t axis = 1;

    explicit operator bool() const { return static_cast<bool>(tile); }
  };

  mlir::FailureOr<Part> partOf(mlir::Value value);
  mlir::FailureOr<Part> partOfArgument(mlir::BlockArgument argument);
  mlir::FailureOr<Part> partOfOp(mlir::Operation *op);
  mlir::FailureOr<Part> ofDot(DotOp op, mlir::ArrayRef<Part> parts);
  mlir::FailureOr<Part> ofReduce(ReduceOp op, Part source);
  mlir::FailureOr<Part> ofExpand(ExpandOp op, Part source);
  mlir::FailureOr<Part> ofMask(MaskOp op, Part source);
  mlir::FailureOr<Part> ofSum(mlir::Operation *op, Part left, Part right, bool negateRight);
  mlir::FailureOr<Part> ofProduct(mlir::Operation *op, mlir::ArrayRef<Part> parts);
  mlir::FailureOr<Part> ofUnary(mlir::Operation *op, Part operand);
  /// A tile that does not depend on S and has the same columns everywhere, with c of them; null if it is none.
  mlir::Value resized(mlir::Value tile, int64_t axis);
  /// The shape of `tile` with c in place of d at `axis`.
  llvm::SmallVector<int64_t> shapeOf(mlir::Value tile, int64_t axis);
  mlir::LogicalResult refuse(mlir::Operation *op, const char *expected);

  TileBuilder tiles;
  LoopOp loop;
  mlir::Value source;
  int64_t count; ///< c
  llvm::DenseMap<mlir::Value, Part> parts;
};

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_LINEARPART_H
