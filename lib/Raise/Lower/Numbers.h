//===- Numbers.h - Arithmetic at one point of loops -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of scalar ops that add, multiply and compare as formulas are written: every operator creates its op.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_LOWER_NUMBERS_H
#define ATTUNE_LIB_RAISE_LOWER_NUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace attune::raise {

struct Scalar {
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;

  template <typename Op, typename... Operands> mlir::Value make(Operands... operands) const {
    return builder->createOrFold<Op>(loc, operands...);
  }
};

/// Of type i1.
struct Truth : Scalar {};
inline Truth operator&&(Truth a, Truth b) {
  return {{a.builder, a.loc, a.make<mlir::arith::AndIOp>(a.value, b.value)}};
}
inline Truth operator||(Truth a, Truth b) { return {{a.builder, a.loc, a.make<mlir::arith::OrIOp>(a.value, b.value)}}; }
inline Truth operator!(Truth a) {
  mlir::Value one = mlir::arith::ConstantOp::create(*a.builder, a.loc, a.builder->getBoolAttr(true));
  return {{a.builder, a.loc, a.make<mlir::arith::XOrIOp>(a.value, one)}};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Of type f32, or f64 where angles need it.
struct Number : Scalar {
  Number constant(double number) const {
    auto attribute = builder->getFloatAttr(value.getType(), number);
    return {{builder, loc, mlir::arith::ConstantOp::create(*builder, loc, attribute)}};
  }
  template <typename Op> Number apply() const { return {{builder, loc, make<Op>(value)}}; }
  template <typename Op> Number apply(Number other) const { return {{builder, loc, make<Op>(value, other.value)}}; }
  template <typename Op> Number apply(double other) const { return apply<Op>(constant(other)); }
  Truth compare(mlir::arith::CmpFPredicate predicate, Number other) const {
    return {{builder, loc, make<mlir::arith::CmpFOp>(predicate, value, other.value)}};
  }
  Truth isEqual(double other) const { return compare(mlir::arith::CmpFPredicate::OEQ, constant(other)); }
  Truth isZero() const { return isEqual(0); }
  Number narrowed() const {
    return {{builder, loc, make<mlir::arith::TruncFOp>(mlir::Type(builder->getF32Type()), value)}};
  }
};

inline Number operator+(Number a, Number b) { return a.apply<mlir::arith::AddFOp>(b); }
inline Number operator-(Number a, Number b) { return a.apply<mlir::arith::SubFOp>(b); }
inline Number operator*(Number a, Number b) { return a.apply<mlir::arith::MulFOp>(b); }
inline Number operator/(Number a, Number b) { return a.apply<mlir::arith::DivFOp>(b); }
inline Number operator+(Number a, double b) { return b == 0 ? a : a.apply<mlir::arith::AddFOp>(b); }
inline Number operator*(Number a, double b) { return b == 1 ? a : a.apply<mlir::arith::MulFOp>(b); }
inline Number operator/(Number a, double b) { return b == 1 ? a : a.apply<mlir::arith::DivFOp>(b); }
inline Number larger(Number a, Number b) { return a.apply<mlir::arith::MaximumFOp>(b); }
inline Number larger(Number a, double b) { return a.apply<mlir::arith::MaximumFOp>(b); }
inline Number smaller(Number a, double b) { return a.apply<mlir::arith::MinimumFOp>(b); }
inline Number exp(Number a) { return a.apply<mlir::math::ExpOp>(); }
inline Number log(Number a) { return a.apply<mlir::math::LogOp>(); }
inline Number tanh(Number a) { return a.apply<mlir::math::TanhOp>(); }
inline Number sqrt(Number a) { return a.apply<mlir::math::SqrtOp>(); }
inline Number select(Truth condition, Number a, Number b) {
  return {{a.builder, a.loc, a.make<mlir::arith::SelectOp>(condition.value, a.value, b.value)}};
}
inline Number select(Truth condition, Number a, double b) { return select(condition, a, a.constant(b)); }
inline Number select(Truth condition, double a, Number b) { return select(condition, b.constant(a), b); }
/// 0 where the factor a is exactly 0: what it multiplies may be NaN.
inline Number scaledOrNone(Number a, Number b) { return select(!a.isZero(), a * b, 0); }
/// a^degree for a degree of at least 1.
Number power(Number a, int64_t degree);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A place in a sequence, at least 0 unless said: of type index.
struct Place : Scalar {
  Place constant(int64_t place) const {
    return {{builder, loc, mlir::arith::ConstantIndexOp::create(*builder, loc, place)}};
  }
  template <typename Op> Place apply(Place other) const { return {{builder, loc, make<Op>(value, other.value)}}; }
  Truth compare(mlir::arith::CmpIPredicate predicate, Place other) const {
    return {{builder, loc, make<mlir::arith::CmpIOp>(predicate, value, other.value)}};
  }
  /// In f64, which holds every place.
  Number number() const;
};

inline Place operator+(Place a, Place b) { return a.apply<mlir::arith::AddIOp>(b); }
inline Place operator-(Place a, Place b) { return a.apply<mlir::arith::SubIOp>(b); }
inline Place operator*(Place a, Place b) { return a.apply<mlir::arith::MulIOp>(b); }
inline Place operator/(Place a, Place b) { return a.apply<mlir::arith::DivUIOp>(b); }
inline Place operator%(Place a, Place b) { return a.apply<mlir::arith::RemUIOp>(b); }
inline Place operator+(Place a, int64_t b) { return a + a.constant(b); }
inline Place operator-(Place a, int64_t b) { return a - a.constant(b); }
inline Place operator*(Place a, int64_t b) { return a * a.constant(b); }
inline Place operator/(Place a, int64_t b) { return a / a.constant(b); }
inline Place operator%(Place a, int64_t b) { return a % a.constant(b); }
inline Truth operator==(Place a, Place b) { return a.compare(mlir::arith::CmpIPredicate::eq, b); }
inline Truth operator==(Place a, int64_t b) { return a == a.constant(b); }
inline Truth operator<(Place a, Place b) { return a.compare(mlir::arith::CmpIPredicate::slt, b); }
inline Truth operator<=(Place a, Place b) { return a.compare(mlir::arith::CmpIPredicate::sle, b); }
inline Place select(Truth condition, Place a, Place b) {
  return {{a.builder, a.loc, a.make<mlir::arith::SelectOp>(condition.value, a.value, b.value)}};
}

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_LOWER_NUMBERS_H
