//===- SavePin.h - The pin of what is left for gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_SAVEPIN_H
#define ATTUNE_LAWS_SAVEPIN_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace attune::graph {
/// `pin: {save: …}` is no law, since it rewrites nothing: it says what a run leaves for its gradients.
inline constexpr llvm::StringLiteral savePin = "save";
/// Its forms: nothing, or everything that a backward pass can read. A number is one too: the most bytes a token that a run may leave.
inline constexpr llvm::StringRef saveForms[] = {"none", "all"};

/// Whether a form is one of these, or such a number.
inline bool isSaveForm(llvm::StringRef form) {
  int64_t bytes = 0;
  return llvm::is_contained(saveForms, form) || (!form.getAsInteger(10, bytes) && bytes > 0);
}
} // namespace attune::graph

#endif // ATTUNE_LAWS_SAVEPIN_H
