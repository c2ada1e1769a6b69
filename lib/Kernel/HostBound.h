//===- HostBound.h - What the host knows of an index of a kernel -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_HOSTBOUND_H
#define ATTUNE_LIB_KERNEL_HOSTBOUND_H

#include "TileBuilder.h"

namespace attune::kernel {

/// An index of the host that is at least as large as that of the kernel, for every point of this launch, before the builder's place:
/// from sizes of the kernel's arguments and constants, by bounds of minima, maxima, sums and quotients. Null where they do not bound
/// it, as a number that is read from memory.
mlir::Value boundOnHost(TileBuilder &host, mlir::Value index, tile::LaunchOp launch);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_HOSTBOUND_H
