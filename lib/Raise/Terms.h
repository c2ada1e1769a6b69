//===- Terms.h - What an entry of a tensor is, as a formula -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A term is the formula of one entry of a tensor. An entry of another tensor is named by that tensor and a coordinate
// for each of its dimensions, an affine expression of indices; it is replaced by what its op computes only when
// somebody asks
// (`Terms::expand`), so that reading an attention does not read the layers before it. Transposes, reshapes, broadcasts
// and casts change coordinates and leave no term behind.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_TERMS_H
#define ATTUNE_LIB_RAISE_TERMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"

#include <deque>
#include <optional>

namespace attune::raise {

enum class Kind { Element, Number, Place, Scalar, Apply, Sum, Maximum };

/// Functions of numbers; comparisons give 0 or 1.
enum class Function {
  Add,
  Subtract,
  Multiply,
  Divide,
  Negate,
  Max,
  Min,
  Exp,
  Exp2,
  ExpM1,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Abs,
  Floor,
  Remainder,
  Select,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
  Xor,
  Other
};

struct Term {
  Kind kind;
  Function function;
  /// Of a Number.
  double number = 0;
  /// The tensor of an Element, the value of a Scalar.
  mlir::Value value;
  /// The coordinates of an Element; the value of a Place is `at[0]`.
  llvm::SmallVector<mlir::AffineExpr, 4> at;
  llvm::SmallVector<const Term *, 3> operands;
  /// What a Sum or Maximum runs over.
  llvm::SmallVector<unsigned, 2> indices;
  /// The op of Function::Other, to name it in remarks.
  mlir::Operation *op = nullptr;

  explicit Term(Kind kind, Function function = Function::Other) : kind(kind), function(function) {}
  bool is(Function which) const { return kind == Kind::Apply && function == which; }
};
using TermRef = const Term *;

/// More factors than any attention has: a product with more is something else, and a power of a power has very many.
inline constexpr size_t mostFactors = 8;

class Terms {
public:
  explicit Terms(mlir::MLIRContext *context) : context(context) {}

  unsigned newIndex(int64_t extent);
  mlir::AffineExpr expr(unsigned index) const { return mlir::getAffineDimExpr(index, context); }
  int64_t extent(unsigned index) const { return extents[index]; }
  mlir::MLIRContext *getContext() const { return context; }

  TermRef number(double value);
  TermRef place(mlir::AffineExpr at);
  TermRef scalar(mlir::Value value);
  TermRef element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at);
  TermRef apply(Function function, llvm::ArrayRef<TermRef> operands);
  TermRef other(mlir::Operation *op, llvm::ArrayRef<TermRef> operands);
  TermRef over(Kind kind, llvm::ArrayRef<unsigned> indices, TermRef body);

  /// What the op of an Element computes for that entry, or null: an argument, or an op that cannot be read.
  TermRef expand(TermRef element);
  /// The term behind transposes, reshapes, broadcasts and casts, expanded once more if it is not an Element.
  TermRef value(TermRef term);
  /// The number that a term is, whatever its indices are.
  std::optional<double> constant(TermRef term);
  /// Of select(c, 0, x) or select(c, x, 0): x, and whether c chooses the 0; nothing of others.
  std::optional<std::pair<TermRef, bool>> besideZero(TermRef select);
  /// The term for given values of the indices, if it depends on nothing else; else the tensor or scalar it needs.
  struct Unknown {
    mlir::Value value;
  };
  std::optional<double> evaluate(TermRef term, llvm::ArrayRef<int64_t> at, Unknown &unknown);

  /// Whether the term changes with the index.
  bool dependsOn(TermRef term, unsigned index);
  bool dependsOn(TermRef term, llvm::ArrayRef<unsigned> indices);
  /// Whether the terms are the same function when indices of `a` are renamed.
  bool same(TermRef a, TermRef b, llvm::DenseMap<unsigned, unsigned> renamed, unsigned depth = 0);

  /// Simplified by the extents of indices, split indices replaced by their parts.
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  /// index = outer · inner extent + inner, from now on; the parts, outermost first.
  std::pair<unsigned, unsigned> split(unsigned index, int64_t innerExtent);
  int64_t valueOf(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> at) const;
  size_t indexCount() const { return extents.size(); }

private:
  TermRef make(Term term);
  TermRef readElement(TermRef element);
  TermRef readLinalg(mlir::linalg::LinalgOp op, mlir::OpResult result, llvm::ArrayRef<mlir::AffineExpr> at);
  TermRef readReduction(mlir::linalg::LinalgOp op, mlir::OpResult result, llvm::ArrayRef<mlir::AffineExpr> at,
                        llvm::ArrayRef<mlir::AffineExpr> places, llvm::ArrayRef<unsigned> reduced);
  TermRef readSoftmax(mlir::linalg::SoftmaxOp op, llvm::ArrayRef<mlir::AffineExpr> at);
  TermRef readReshape(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> at);
  TermRef readScalar(mlir::Value value, mlir::Block *body, llvm::DenseMap<mlir::Value, TermRef> &known,
                     llvm::ArrayRef<mlir::AffineExpr> places);
  TermRef readOp(mlir::Operation *op, llvm::ArrayRef<TermRef> operands);
  /// lo ≤ expr ≤ hi, where the extents say so.
  std::optional<std::pair<int64_t, int64_t>> range(mlir::AffineExpr expr);
  mlir::AffineExpr divide(mlir::AffineExpr expr, int64_t by, bool remainder);

  mlir::MLIRContext *context;
  std::deque<Term> terms;
  llvm::DenseMap<TermRef, TermRef> expansions;
  llvm::SmallVector<int64_t> extents;
  llvm::DenseMap<unsigned, std::pair<unsigned, unsigned>> parts;
};

/// A number for a message: 0.5, -10000.
std::string textOf(double number);

/// The function of numbers, or nothing for Other.
std::optional<double> compute(Function function, llvm::ArrayRef<double> operands);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_TERMS_H
