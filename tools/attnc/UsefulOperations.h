//===- UsefulOperations.h - What a function needs, whatever computes it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TOOLS_ATTNC_USEFULOPERATIONS_H
#define ATTUNE_TOOLS_ATTNC_USEFULOPERATIONS_H

#include "attune/Frontend/Spec.h"

namespace attune::attnc {

/// The operations of matrix products that a spec's function needs, whatever the plan executes: a multiply-add is two,
/// and where the function can be computed in several ways the fewest count. All sizes are known.
double usefulOperations(const Spec &spec);

} // namespace attune::attnc

#endif // ATTUNE_TOOLS_ATTNC_USEFULOPERATIONS_H
