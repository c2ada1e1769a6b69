//===- IntegerOps.h - arith on integers, element by element --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_INTEGEROPS_H
#define ATTUNE_LIB_REFERENCE_INTEGEROPS_H

#include "mlir/IR/Operation.h"

#include <functional>

namespace attune::reference {

/// A function of one element of each operand. Integers are kept sign-extended, those of i1 as 0 and 1.
using IntegerFunction = std::function<int64_t(const int64_t *)>;

/// What an op computes of scalars or tiles of integers; null unless its result is integers too, and for divisions, which
/// not every operand allows.
IntegerFunction integerFunction(mlir::Operation &op);

/// What arith.sitofp or arith.uitofp makes of an integer, not yet rounded.
double floatOf(mlir::Operation &cast, int64_t integer);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_INTEGEROPS_H
