//===- Loops.h - linalg ops over named dimensions -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each tensor is given with a letter for each of its dimensions, and ops are made of formulas:
//
//     loops.sum("bgijd", "bgij", {{query, "bgid"}, {key, "bgjd"}}, [](Point, auto x) { return x[0] * x[1]; })
//
// Heads. H query heads share G heads of keys: [batch, H, …] is seen as [batch, G, H/G, …], letters g and r; of three
// numbers of heads g, r and s. Where equal numbers meet there is one letter. `named` writes a tensor whose name has an
// h so, and `names` says the letters of an h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_LOWER_LOOPS_H
#define ATTUNE_LIB_RAISE_LOWER_LOOPS_H

#include "Numbers.h"

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune::raise {

/// A tensor and a letter for each of its dimensions; "q+w" is one dimension, of the sums of two.
struct Named {
  mlir::Value tensor;
  std::string names;
};

/// One point of loops.
struct Point {
  mlir::OpBuilder *builder;
  mlir::Location loc;
  llvm::StringRef loops;

  Place index(char name) const;
  Number number(double value) const;
  /// An integer that was read as an input.
  Place place(Number integer) const;
  Place place(mlir::Value index) const { return {{builder, loc, index}}; }
};

class Loops {
public:
  using Body = llvm::function_ref<Number(Point, llvm::ArrayRef<Number>)>;

  /// `heads`: the numbers of heads that meet, ascending, each a divisor of the next.
  Loops(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> heads = {});

  //===-- Names ---------------------------------------------------------------------------------------------------===//

  /// The letters of a name whose h stands for `count` heads.
  std::string names(llvm::StringRef pattern, int64_t count) const;
  Named named(mlir::Value tensor, llvm::StringRef pattern);
  /// A parameter [heads or 1, …] as `named`, or without the dimension where all heads share it.
  Named parameter(mlir::Value tensor, llvm::StringRef pattern);
  /// One dimension of heads again.
  mlir::Value flat(mlir::Value tensor, llvm::StringRef pattern, int64_t count);
  /// The size of a letter that no input has alone.
  void size(char name, mlir::OpFoldResult value) { sizes[name] = value; }

  //===-- Ops -----------------------------------------------------------------------------------------------------===//

  /// Inputs of fewer than 32 bits are widened. The result has `element`, f32 unless given.
  mlir::Value map(llvm::StringRef names, llvm::ArrayRef<Named> inputs, Body body, mlir::Type element = {});
  /// Over the letters of `loops` that `names` lacks.
  mlir::Value sum(llvm::StringRef loops, llvm::StringRef names, llvm::ArrayRef<Named> inputs, Body body);
  mlir::Value maximum(llvm::StringRef loops, llvm::StringRef names, llvm::ArrayRef<Named> inputs, Body body);

  //===-- Shapes --------------------------------------------------------------------------------------------------===//

  /// A dimension cut into dimensions of these sizes, outermost first; one of them may be dynamic.
  mlir::Value split(mlir::Value tensor, unsigned dimension, llvm::ArrayRef<int64_t> into);
  /// `count` dimensions from `first` on as one.
  mlir::Value merge(mlir::Value tensor, unsigned first, unsigned count);
  mlir::OpFoldResult sizeOf(mlir::Value tensor, unsigned dimension);
  Place placeOf(mlir::Value tensor, unsigned dimension);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  mlir::Value generic(llvm::StringRef loops, llvm::StringRef names, llvm::ArrayRef<Named> inputs, mlir::Value out,
                      Body body);
  mlir::Value empty(llvm::StringRef names, llvm::ArrayRef<Named> inputs, mlir::Type element);
  mlir::Value reduce(llvm::StringRef loops, llvm::StringRef names, llvm::ArrayRef<Named> inputs, double start,
                     Body body);

  llvm::SmallVector<int64_t> heads;
  llvm::DenseMap<char, mlir::OpFoldResult> sizes;
};

inline int64_t sizeOf(mlir::Value tensor, unsigned dimension) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getDimSize(dimension);
}
inline int64_t headsOf(mlir::Value tokens) { return sizeOf(tokens, 1); }
inline mlir::Type elementOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
}
/// "bgij" without "ij" is "bg".
std::string without(llvm::StringRef names, llvm::StringRef letters);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_LOWER_LOOPS_H
