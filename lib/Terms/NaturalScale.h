//===- NaturalScale.h - Powers of e as powers of two -*- C++ -*- ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_NATURALSCALE_H
#define ATTUNE_LIB_TERMS_NATURALSCALE_H

#include <cmath>

namespace attune::terms {

/// log₂e as the sum of two f32: k log₂e is a number of 48 bits, of which one f32 would lose half.
inline constexpr float log2eHigh = static_cast<float>(M_LOG2E);
inline constexpr double log2eLow = M_LOG2E - static_cast<double>(log2eHigh);

} // namespace attune::terms

#endif // ATTUNE_LIB_TERMS_NATURALSCALE_H
