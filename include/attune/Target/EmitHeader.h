//===- EmitHeader.h - The C header of a compiled library ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITHEADER_H
#define ATTUNE_TARGET_EMITHEADER_H

#include "attune/Target/LibraryDescription.h"

namespace attune::target {

/// The text of `<name>.h`: self-contained, C99 and C++, with shapes, dtypes, meanings and an example in its comment.
std::string emitHeader(const LibraryDescription &description);

/// The example of the header's comment as a program's function: `int <name>_example(...)`.
std::string emitExample(const LibraryDescription &description);

/// Writes the header to `path`.
llvm::Error writeHeader(const LibraryDescription &description, llvm::StringRef path);

} // namespace attune::target

#endif // ATTUNE_TARGET_EMITHEADER_H
