//===- Tolerance.h - How far a computed output may be from the function --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tolerances that the contract with users states: relative Frobenius error against f64 on inputs rounded to the
// storage type.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_TOLERANCE_H
#define ATTUNE_REFERENCE_TOLERANCE_H

#include "attune/Reference/Array.h"
#include "attune/Support/ElementType.h"

#include <string>

namespace attune::reference {

/// f32 2e-5, f16 4e-3, bf16 2e-2; twice that if the largest |logit| is above 32 or the degree is 8 or more.
double tolerance(ElementType storage, double largestLogit = 0, int64_t degree = 1);

/// ‖got − expected‖ / ‖expected‖ in the Frobenius norm; 0 if both are all zero. Infinite if one is NaN or infinite where
/// the other is not equal to it (a NaN equals a NaN), or if nothing but zeros was expected and something else came.
double relativeError(llvm::ArrayRef<double> got, llvm::ArrayRef<double> expected);

/// Empty if `got` is finite and within `tolerance` of `expected`, else what is wrong, with the worst element's index.
std::string mismatch(const Array &got, const Array &expected, double tolerance);

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_TOLERANCE_H
