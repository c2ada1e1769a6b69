//===- RunReference.h - attnc run --reference ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COMMANDS_RUNREFERENCE_H
#define ATTUNE_LIB_COMMANDS_RUNREFERENCE_H

#include "attune/Commands/Arguments.h"
#include "attune/Pipeline/Compilation.h"

namespace attune::attnc {

/// Runs the function as it is written, by the interpreter; returns the exit status.
int runReference(const Arguments &arguments, Compilation &compilation);

} // namespace attune::attnc

#endif // ATTUNE_LIB_COMMANDS_RUNREFERENCE_H
