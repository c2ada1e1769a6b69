//===- BackwardBench.h - Both passes of specs with gradients, timed -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_BACKWARDBENCH_H
#define ATTUNE_COMMANDS_BACKWARDBENCH_H

#include "attune/Commands/Arguments.h"
#include "attune/Frontend/Spec.h"

#include "llvm/ADT/ArrayRef.h"

namespace attune::attnc {

/// Times a run that leaves what gradients read, and the gradients that the spec asks for, beside both of exact softmax of the same sizes, in
/// turns; prints a row a spec, or JSON. Every spec has `gradients`, and its sizes are known.
int benchBackward(llvm::ArrayRef<Spec> specs, const Arguments &arguments);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_BACKWARDBENCH_H
