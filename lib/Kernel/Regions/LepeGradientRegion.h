//===- LepeGradientRegion.h - Gradients of a positional encoding -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_LEPEGRADIENTREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_LEPEGRADIENTREGION_H

#include "Families.h"
#include "Region.h"
#include "Terms.h"

namespace attune::kernel {

/// What gradients of a convolution are made of.
struct LepeGradient {
  Tokens cotangent;   ///< ȳ [batch, H, n, dv]
  mlir::Value weight; ///< [H, dv, 3] or [H, dv, 3, 3]; packed [H, 3 or 9, dv] in f32
  bool packed;
  mlir::Value lengths; ///< values at or past them are 0; null if all exist
  terms::Lattice lattice;
};

/// v̄ into `result` [batch, G, n, dv], 0 of values that do not exist; added to what lies there, if that is asked for.
fusion::KernelRegion lepeValuesRegion(const Problem &problem, const LepeGradient &lepe, const Tokens &result, bool adds = false);
/// The gradients of weight and bias, of those that have a memory.
fusion::KernelRegion lepeParametersRegion(const Problem &problem, const LepeGradient &lepe, const Tokens &value, mlir::Value weight,
                                          mlir::Value bias);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_LEPEGRADIENTREGION_H
