//===- Shapes.h - Shapes in messages -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_SHAPES_H
#define ATTUNE_LIB_REFERENCE_SHAPES_H

#include "attune/Reference/Array.h"

#include <string>

namespace attune::reference {

/// [2, 3].
std::string show(llvm::ArrayRef<int64_t> shape);

/// `expected WHAT of SHAPE, but got …`; empty if `array` has that shape.
std::string differs(llvm::StringRef what, const Array &array, llvm::ArrayRef<int64_t> shape);

/// The same for a size that must divide another.
std::string doesNotDivide(llvm::StringRef what, int64_t size, llvm::StringRef of, int64_t whole);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_SHAPES_H
