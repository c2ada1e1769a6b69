//===- MapFormulas.h - The formulas of feature maps -*- C++ -*- ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of tiles x [T, d] in f32 whose parameters are at hand; who loads them, and which tokens they are, is for the caller.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_MAPFORMULAS_H
#define ATTUNE_LIB_KERNEL_MAPFORMULAS_H

#include "LogFeatures.h"

namespace attune::kernel {

/// elu(x) + 1 = max(x, 0) + exp(min(x, 0)): no branch, and never exp of a large number.
mlir::Value elu1(TileBuilder &tiles, mlir::Value x);

mlir::Value relu(TileBuilder &tiles, mlir::Value x);

/// y where x > 0, else 0.
mlir::Value wherePositive(TileBuilder &tiles, mlir::Value x, mlir::Value y);

/// relu(x) times sine and cosine of πi/2M, i/4M turns, for the places i from 1: [T, d] twice. `positions` [T] count from 0.
std::pair<mlir::Value, mlir::Value> cosformer(TileBuilder &tiles, mlir::Value x, mlir::Value positions,
                                              int64_t maxPosition);
/// (φ̄₁ sin + φ̄₂ cos) ⊙ (x > 0) of the same.
mlir::Value cosformerGradient(TileBuilder &tiles, mlir::Value x, mlir::Value positions, int64_t maxPosition, mlir::Value ofSines,
                              mlir::Value ofCosines);

/// (|y| / |y^p|) y^p with y = (relu(x) + ε) inverse, for inverse = 1 / softplus(focus) [d].
mlir::Value focused(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon);
/// With u = y^p / |y^p|: ȳ = ⟨φ̄, u⟩ y / |y| + |y| p y^{p−1} / |y^p| ⊙ (φ̄ − ⟨φ̄, u⟩ u), x̄ = ȳ inverse ⊙ (x > 0).
mlir::Value focusedGradient(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon, mlir::Value cotangent);
/// −y ⊙ ȳ σ(focus) inverse, what each row adds to the cotangent of the focus.
mlir::Value focusGradient(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon, mlir::Value cotangent);
/// The same from what reaches the logarithms L̄ of features: y_c ȳ_c = t (y_c / |y|)² + p (L̄_c − t u_c²), t = Σ_f L̄_f.
mlir::Value focusedLogGradient(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon, mlir::Value cotangent);
mlir::Value focusLogGradient(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon, mlir::Value cotangent);
/// What `focused` gives as exponents: y^p spans p times what y does, and the factor |y| / |y^p| adds its own.
LogFeatures focusedExponents(TileBuilder &tiles, mlir::Value x, mlir::Value inverse, double power, double epsilon);

/// factor · x ωᵀ [T, m], the factor on the side of x; without ω the tokens are x ωᵀ already.
mlir::Value timesOmega(TileBuilder &tiles, mlir::Value x, mlir::Value omega, double factor);

/// s |x|²/2 in units of log 2: [T].
mlir::Value halfSquares(TileBuilder &tiles, mlir::Value x, double scale);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_MAPFORMULAS_H
