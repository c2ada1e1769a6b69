//===- Suggestions.h - Near misses of names ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_SUGGESTIONS_H
#define ATTUNE_SUPPORT_SUGGESTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace attune {

/// The candidate that `name` most likely stands for: close in spelling, a part of it, or another system's word for it.
/// Empty if none is near.
llvm::StringRef findNearMiss(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// "did you mean 'X'?", or `otherwise` where there is no near miss.
std::string suggestionNote(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates,
                           llvm::StringRef otherwise = "");

/// "a, b, c".
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace attune

#endif // ATTUNE_SUPPORT_SUGGESTIONS_H
