//===- ElementType.h - Element types and their roundings -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_ELEMENTTYPE_H
#define ATTUNE_SUPPORT_ELEMENTTYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace attune {

/// Types of tensor elements in files and in specs.
enum class ElementType : uint8_t { F32, F64, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64, Bool };

/// `f32`, `i64` … as a spec writes them.
llvm::StringRef nameOf(ElementType type);
std::optional<ElementType> elementTypeOf(llvm::StringRef name);
unsigned bytesOf(ElementType type);
bool isFloat(ElementType type);

/// Round to nearest, ties to even; beyond the largest finite value, to infinity; a NaN stays a (quiet) NaN.
uint16_t roundToF16(float value);
uint16_t roundToBF16(float value);
/// Exact.
float widenF16(uint16_t bits);
float widenBF16(uint16_t bits);

} // namespace attune

#endif // ATTUNE_SUPPORT_ELEMENTTYPE_H
