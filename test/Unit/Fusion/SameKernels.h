//===- SameKernels.h - Whether two modules have the same kernels -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_SAMEKERNELS_H
#define ATTUNE_LIB_FUSION_SAMEKERNELS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace attune::fusion {

/// Where two modules differ whose host functions have the same names; empty if nowhere. Names of values and kernels,
/// the order of operations that do not depend on one another, and the order of a kernel's arguments do not count:
/// arguments are matched through the launches. Everything else does: operations, attributes, types, the block that each
/// stands in, the order of writes, and before which write each read stands. Operations that nothing reads count, too.
std::string whereDifferent(mlir::ModuleOp expected, mlir::ModuleOp found);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_SAMEKERNELS_H
