//===- RandomSpec.h - Specs that are correct and supported ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_RANDOMSPEC_H
#define ATTUNE_TEST_RANDOM_RANDOMSPEC_H

#include <cstdint>
#include <optional>
#include <string>

namespace attune::random {

/// A spec by its values; '?' sizes have values too, for the run.
struct RandomSpec {
  std::string name, dtype;
  int64_t batch, queries, keys, heads, sharedHeads, width, valueWidth;
  bool dynamicBatch = false, dynamicQueries = false, dynamicKeys = false;
  bool keysFollowQueries = false; ///< `keys` is not written
  bool causal = false, keyLengths = false;
  bool isSoftmax = true; ///< else kernel attention with elu1
  std::optional<double> scale, bias, floor;
  std::string pin; ///< form of `pinnedLaw()`, or empty

  std::string pinnedLaw() const { return isSoftmax ? "keys" : "linearize"; }
  /// The logit scale of softmax.
  double logitScale() const;
  std::string yaml() const;
  /// A module with one function @spec (q, k, v[, key_lengths]) of one op.
  std::string module() const;
};

/// The largest sizes that are drawn.
struct SpecLimits {
  int64_t batch = 3, tokens = 200, groups = 3, sharedHeads = 3, width = 80;
};

RandomSpec drawSpec(uint64_t seed, const SpecLimits &limits = {});

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_RANDOMSPEC_H
