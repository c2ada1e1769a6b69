//===- RunProgram.h - Programs that the compiler starts -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_RUNPROGRAM_H
#define ATTUNE_SUPPORT_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace attune {

/// How a program ended, and all that it printed.
struct ProgramRun {
  int status = 0;
  std::string said;
};

/// Seconds that a program may take unless the caller says: the environment's ATTUNE_TOOL_SECONDS, else 120. An error
/// for anything but 1 … 86400.
llvm::Expected<unsigned> toolSeconds();

/// Runs the program of this path with these arguments, the first of which is its name, and nothing to read. It is ended
/// when its time is over, with all that it has started. An error, which names the program and the limit, unless it
/// ended by itself.
llvm::Expected<ProgramRun> runProgram(llvm::ArrayRef<llvm::StringRef> command,
                                      std::optional<unsigned> seconds = std::nullopt);

} // namespace attune

#endif // ATTUNE_SUPPORT_RUNPROGRAM_H
