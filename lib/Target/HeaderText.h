//===- HeaderText.h - Words and shapes that a header and its example share ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TARGET_HEADERTEXT_H
#define ATTUNE_LIB_TARGET_HEADERTEXT_H

#include "attune/Target/LibraryDescription.h"

namespace attune::target {

inline bool isOptional(const TensorDescription &tensor) {
  return tensor.role == ATTUNE_RT_OPTIONAL_INPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}
inline bool isParameter(const TensorDescription &tensor) { return tensor.role == ATTUNE_RT_PARAMETER; }
/// The library's own: no caller sees it.
inline bool isPrepared(const TensorDescription &tensor) { return tensor.role == ATTUNE_RT_PREPARED; }
inline bool isOutput(const TensorDescription &tensor) {
  return tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}

/// The tensor's name in C: "part0.e" is part0_e.
std::string fieldName(const TensorDescription &tensor);

/// "batch", "n" or "N" for a size known only at run, the number otherwise.
std::string dimText(int64_t dim);

/// What a tensor is for, and what its elements must be: one line, perhaps empty.
std::string meaningText(const TensorDescription &tensor);

/// "batch, 8, n, 64".
std::string shapeText(const TensorDescription &tensor);

/// Whether the library holds code for the CPU.
bool hasCpuCode(const LibraryDescription &description);

} // namespace attune::target

#endif // ATTUNE_LIB_TARGET_HEADERTEXT_H
