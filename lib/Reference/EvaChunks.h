//===- EvaChunks.h - Chunks of keys and what EVA makes of them -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_EVACHUNKS_H
#define ATTUNE_LIB_REFERENCE_EVACHUNKS_H

#include "Head.h"

#include <functional>
#include <map>

namespace attune::reference {

/// k̄ and β of some keys, and what is added to their logit; −∞ if there is no key.
struct EvaSummary {
  std::vector<double> mean, value;
  double logWeight = 0;
};

/// The chunks of one head. The head's inputs hold every query.
class EvaChunks {
public:
  EvaChunks(const Head &head, const EvaOptions &options);

  int64_t count() const { return head.inputs.keys() / options.chunk; }
  /// Whether a chunk has keys in a local block.
  bool meets(int64_t chunk, int64_t block) const {
    return chunk * options.chunk < (block + 1) * *options.local && block * *options.local < (chunk + 1) * options.chunk;
  }
  /// Of the existing keys of a chunk, those of the local block `without` left out.
  EvaSummary summarize(int64_t chunk, std::optional<int64_t> without) const;

private:
  std::vector<int64_t> keysOf(int64_t chunk, std::optional<int64_t> without) const;

  const Head &head;
  const EvaOptions &options;
  Matrix queryMeans; ///< [C, d]
};

/// The summary of a chunk, less the keys of a local block.
using EvaSummaryOf = std::function<const EvaSummary &(int64_t chunk, std::optional<int64_t> without)>;

/// One row of the joint softmax over local keys and chunks; `output` is 0 before.
void evaRow(const Head &head, const EvaOptions &options, int64_t place, const EvaSummaryOf &summaryOf, double *output);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_EVACHUNKS_H
