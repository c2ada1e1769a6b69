//===- Candidates.h - Attentions that could take exact softmax's place -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_CANDIDATES_H
#define ATTUNE_COMMANDS_CANDIDATES_H

#include "attune/Frontend/Spec.h"

namespace attune::attnc {

/// An attention by a name that people know it by.
struct Candidate {
  std::string label;  ///< "Performer, 128 features"
  Spec spec;          ///< with sizes as in the spec it came from
  bool isOwn = false; ///< the spec that was given
};

/// The mechanisms of the papers at usual sizes, for tensors of a spec whose sizes are known: those that its rules
/// allow. The spec's own mechanism comes first unless it is exact softmax.
std::vector<Candidate> candidatesFor(const Spec &resolved);

/// `spec` with the mechanisms of `chosen`: what is open in it stays open if its rules allow that.
Spec adopt(const Spec &spec, const Spec &chosen);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_CANDIDATES_H
