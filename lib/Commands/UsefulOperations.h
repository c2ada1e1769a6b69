//===- UsefulOperations.h - What a function needs, whatever computes it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_USEFULOPERATIONS_H
#define ATTUNE_COMMANDS_USEFULOPERATIONS_H

#include "attune/Frontend/Spec.h"

namespace attune::attnc {

/// The operations of matrix products that a spec's function needs, whatever the plan executes: a multiply-add is two,
/// and of its exact forms (all pairs or a state; E before or after a projection) the one with the fewest counts, causal
/// linear ones at their best length of a chunk. All sizes are known.
double usefulOperations(const Spec &spec);

/// What stands below a table whose rates divide them by a time.
inline constexpr llvm::StringLiteral countedOperations =
    "GFLOP/s are of the operations that each function needs at least, whatever its plan executes: docs/Performance.md";

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_USEFULOPERATIONS_H
