//===- Supported.h - What device code is not made for yet ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_SUPPORTED_H
#define ATTUNE_LIB_LOWERING_GPU_SUPPORTED_H

#include "attune/Tile/Tile.h"

namespace attune::device {

/// Refuses a kernel with a tile op, a form of one or an element type that only the code for CPUs has.
mlir::LogicalResult checkSupported(tile::KernelOp kernel);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_SUPPORTED_H
