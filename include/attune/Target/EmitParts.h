//===- EmitParts.h - Object code of each variant, side by side ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITPARTS_H
#define ATTUNE_TARGET_EMITPARTS_H

#include "attune/Target/EmitObject.h"
#include "attune/Target/LibraryDescription.h"

namespace attune::target {

/// The objects of a module that completeModule has completed: one for each variant, compiled at the same time, and one
/// for the descriptor and the entry points. Linked together they are what emitObject makes of the whole.
llvm::Expected<llvm::SmallVector<llvm::SmallVector<char, 0>>>
emitParts(llvm::Module &module, const LibraryDescription &description, const ObjectOptions &options = {});

} // namespace attune::target

#endif // ATTUNE_TARGET_EMITPARTS_H
