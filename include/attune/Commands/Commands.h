//===- Commands.h - The commands of attnc ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_COMMANDS_H
#define ATTUNE_COMMANDS_COMMANDS_H

#include "attune/Commands/Arguments.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

// Each returns the exit status; what is wrong has been printed.
int compile(const Arguments &arguments);
int init(const Arguments &arguments);
int run(const Arguments &arguments);
int explain(const Arguments &arguments);
int bench(const Arguments &arguments);
int suggest(const Arguments &arguments);
int importNode(const Arguments &arguments);
int calibrate(const Arguments &arguments);

/// The one that was asked for.
int execute(const Arguments &arguments);

/// Prints `attnc: error: message` and returns `status`.
int fail(const llvm::Twine &message, ExitStatus status = Failed);
int fail(llvm::Error error, ExitStatus status = Failed);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_COMMANDS_H
