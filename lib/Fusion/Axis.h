//===- Axis.h - What the grid counts or a stage streams -*- C++ -*- -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_AXIS_H
#define ATTUNE_LIB_FUSION_AXIS_H

#include "mlir/Support/LLVM.h"

#include <bitset>

namespace attune::fusion {

/// `Query` counts results, `Key` what they are sums of; `Block` consecutive tokens that belong together. `Part`: parts of a
/// sequence that are worked on side by side, `Piece`: pieces of it, in order; `Slice` those of a state; `Feature`,
/// `Value` columns of tokens and of values, where tiles have slices of those.
enum class Axis { Batch, Head, SharedHead, Query, Key, Model, Part, Piece, Block, Slice, Feature, Value };
inline constexpr unsigned axisCount = 12;
using AxisSet = std::bitset<axisCount>;
llvm::StringRef nameOf(Axis axis);
AxisSet setOf(llvm::ArrayRef<Axis> axes);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_AXIS_H
