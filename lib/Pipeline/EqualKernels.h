//===- EqualKernels.h - Kernels that are made twice are kept once ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_PIPELINE_EQUALKERNELS_H
#define ATTUNE_LIB_PIPELINE_EQUALKERNELS_H

#include "attune/Pipeline/DeviceCode.h"

namespace attune {

/// Erases device functions that do the same as one before them, such as the projections of queries, keys and values of one
/// width, and gives the kernel table the name of the one that stays: a launch goes by the place in that table.
void mergeEqualKernels(DeviceCode &code);

} // namespace attune

#endif // ATTUNE_LIB_PIPELINE_EQUALKERNELS_H
