//===- HostArrays.h - Between tensors of files and arrays of the interpreters ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_HOSTARRAYS_H
#define ATTUNE_REFERENCE_HOSTARRAYS_H

#include "attune/Reference/Array.h"
#include "attune/Support/HostTensor.h"

namespace attune::reference {

/// The elements as an array, rounded to `element`: f16 and bf16 specs take f32 files.
Array toArray(const HostTensor &tensor, mlir::Type element);

/// The elements in row-major order as f64, or rounded to f32.
HostTensor toHostTensor(const Array &array, ElementType type);

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_HOSTARRAYS_H
