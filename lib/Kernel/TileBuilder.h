//===- TileBuilder.h - The builder of tiles, in kernels -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_TILEBUILDER_H
#define ATTUNE_LIB_KERNEL_TILEBUILDER_H

#include "attune/Tile/TileBuilder.h"

namespace attune::kernel {
using tile::TileBuilder;
} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_TILEBUILDER_H
