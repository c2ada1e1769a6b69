//===- ReadBack.h - States that wait in shared memory -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_READBACK_H
#define ATTUNE_LIB_LOWERING_GPU_READBACK_H

#include "attune/Tile/Tile.h"

namespace attune::device {

/// Lets tiles that a loop carries, and of which products read a copy in shared memory, come back from it where they are
/// computed with. Returns how many conversions that makes.
int64_t readBackStates(tile::KernelOp kernel);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_READBACK_H
