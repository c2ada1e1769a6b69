//===- BytecodeToText.h - A file of bytecode, read apart from this process ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_BYTECODETOTEXT_H
#define ATTUNE_PIPELINE_BYTECODETOTEXT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attune {

/// The module of a file of bytecode as text, in generic form with its locations; the buffer keeps the file's name. MLIR's reader of
/// bytecode trusts sizes in the file, writes past what it has, and goes round attributes that name each other without end. So a
/// process of its own reads the file, within so many seconds, and this one meets no more than text. Null, after messages to
/// `errors`, where the reader finds what is wrong; an error where it breaks down or does not end. The module is not verified.
/// Forks: for programs whose other threads hold no locks.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> bytecodeToText(llvm::MemoryBufferRef bytes, unsigned seconds,
                                                                   llvm::raw_ostream &errors);

} // namespace attune

#endif // ATTUNE_PIPELINE_BYTECODETOTEXT_H
