//===- VetBytecode.h - Whether MLIR can read a file of bytecode ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_VETBYTECODE_H
#define ATTUNE_PIPELINE_VETBYTECODE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace attune {

/// Reads bytecode in a process of its own, without verification, and forgets it. MLIR's reader trusts sizes in the
/// file, and goes round attributes that name each other without end: an error unless it ends by itself within so many
/// seconds. Whether what it reads is valid is not asked. Forks: for programs whose other threads hold no locks.
llvm::Error vetBytecode(llvm::MemoryBufferRef bytes, unsigned seconds);

} // namespace attune

#endif // ATTUNE_PIPELINE_VETBYTECODE_H
