//===- RandomInputs.h - Tensors for a random spec ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_RANDOMINPUTS_H
#define ATTUNE_TEST_RANDOM_RANDOMINPUTS_H

#include "RandomSpec.h"

#include "attune/Support/HostTensor.h"

namespace attune::random {

/// How the rows of q and k look.
enum class InputKind {
  Normal,  ///< standard normal entries
  Large,   ///< rows of a norm of up to 30·√d, the end of the range in which the tolerances hold
  Ties,    ///< few different rows, so that logits are equal
  Zeros,   ///< zeros of both signs among normal entries
  Outside, ///< entries up to 1e3: the output is finite, no more is promised
};

struct RandomInputs {
  InputKind kind;
  HostTensor query, key, value;      ///< f32
  std::optional<HostTensor> lengths; ///< i32
  /// A bound of |logit|, from the norms of the rows that exist.
  double largestLogit;
  /// The tolerances hold.
  bool inRange() const { return kind != InputKind::Outside; }
};

/// Rows that do not exist hold NaN, infinities and large numbers.
RandomInputs drawInputs(const RandomSpec &spec, uint64_t seed);

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_RANDOMINPUTS_H
