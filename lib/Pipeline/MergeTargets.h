//===- MergeTargets.h - The code of several targets in one library ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_PIPELINE_MERGETARGETS_H
#define ATTUNE_LIB_PIPELINE_MERGETARGETS_H

#include "attune/Pipeline/Compilation.h"

namespace attune {

/// Adds the code for `target` to a library, whose first it is if it is absent. Fails if the targets' interfaces differ.
llvm::Error mergeTargets(std::optional<LibraryModule> &library, LibraryModule added, llvm::StringRef target);

/// Adds the code of a library's gradients, of as many targets.
llvm::Error addBackward(LibraryModule &library, LibraryModule backward);

} // namespace attune

#endif // ATTUNE_LIB_PIPELINE_MERGETARGETS_H
