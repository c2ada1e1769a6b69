//===- SavePin.h - The pin of what is left for gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_SAVEPIN_H
#define ATTUNE_LAWS_SAVEPIN_H

#include "llvm/ADT/StringRef.h"

namespace attune::graph {
/// `pin: {save: …}` is no law, since it rewrites nothing: it says what a run leaves for its gradients.
inline constexpr llvm::StringLiteral savePin = "save";
/// Its forms: nothing, or everything that a backward pass can read.
inline constexpr llvm::StringRef saveForms[] = {"none", "all"};
} // namespace attune::graph

#endif // ATTUNE_LAWS_SAVEPIN_H
