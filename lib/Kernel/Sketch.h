//===- Sketch.h - Sketches of tokens -*- C++ -*-------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCH_H
#define ATTUNE_LIB_KERNEL_SKETCH_H

#include "Regions/SketchedPairs.h"

namespace attune::kernel {

/// K of this grid point as [rows].
mlir::Value largestNorm(TileBuilder &tiles, mlir::Value largest, const Point &point, int64_t rows);

mlir::LogicalResult buildPolysketch(BuildSite &site, const Problem &problem, const PolysketchOptions &options);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCH_H
