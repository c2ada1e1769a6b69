//===- LogFeatures.h - Features given by their logarithms -*- C++ -*------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Features of FAVOR span far more than the range of f32, and so do the exponentials of EFFATT and high powers of the
// focused map: they are kept as g 2^L. Of exponentials g is 1 and L any number; of powers L is an integer and g about 1,
// for a logarithm in the hundreds has lost the digits behind its point. A state is carried as
//
//     M_f = max_j L_jf      z_f = Σ_j g_jf 2^(L_jf − M_f)      S_f = Σ_j g_jf 2^(L_jf − M_f) v_jᵀ
//
// which is the carry of softmax with a feature in the place of a row.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_LOGFEATURES_H
#define ATTUNE_LIB_KERNEL_LOGFEATURES_H

#include "KernelFrame.h"

namespace attune::kernel {

/// The logarithm of nothing: below that of any feature, yet finite, so that differences of two are numbers.
inline constexpr double noLogarithm = -1e30;

inline bool guarded(attn::DenominatorAttr guard) { return guard.getBias() != 0 || guard.getFloor() != 0; }
/// The least unit 2^c of a row's weights: so low that the guard is still in range; `noLogarithm` without one.
double leastExponent(attn::DenominatorAttr guard);
/// num / guard(den) with num [T, dv] and den [T] in units of 2^c, c [T].
mlir::Value normalizeInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value numerator,
                            mlir::Value denominator, mlir::Value c);

/// What a quotient in units of 2^c is divided by, and where its floor stands in the denominator's place (null: nowhere).
struct GuardedInUnit {
  mlir::Value divisor, held; ///< [T]
};
GuardedInUnit guardInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value denominator, mlir::Value c);

/// Features g 2^L.
struct LogFeatures {
  mlir::Value exponents; ///< L [T, m]
  mlir::Value mantissas; ///< g [T, m]; null: all are 1

  /// g 2^x [T, m], x being L less something.
  mlir::Value at(TileBuilder &tiles, mlir::Value x) const;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LOGFEATURES_H
