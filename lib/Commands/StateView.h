//===- StateView.h - A state beside a cache --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_STATEVIEW_H
#define ATTUNE_COMMANDS_STATEVIEW_H

#include "attune/Frontend/Spec.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// What a spec that goes on from a state keeps for each sequence, and what a cache of its keys and values would need.
struct StateSizes {
  int64_t bytes = 0;      ///< of the state
  int64_t cacheBytes = 0; ///< of the keys and values of a token

  /// Of a token that comes alone: the state is read and written.
  int64_t bytesPerToken() const { return 2 * bytes; }
  /// From how many tokens on reading a cache moves more.
  int64_t beatsCacheFrom() const { return bytesPerToken() / cacheBytes + 1; }
};

/// Nothing for specs without `state`.
std::optional<StateSizes> stateSizes(const Spec &spec);

void printState(const StateSizes &sizes, llvm::raw_ostream &out);
llvm::json::Object stateAsJson(const StateSizes &sizes);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_STATEVIEW_H
