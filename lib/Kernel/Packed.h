//===- Packed.h - Kernels of sequences that lie end to end -*- C++ -*-----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PACKED_H
#define ATTUNE_LIB_KERNEL_PACKED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// Makes the kernels that a host function launches, which are those of a batch, kernels of the sequences that its offsets cut; of a
/// function without offsets nothing changes.
mlir::LogicalResult packSequences(mlir::func::FuncOp host);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PACKED_H
