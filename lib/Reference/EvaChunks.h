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

/// The rows of summaries: the chunks whole, and for each local block the first and the last chunk that meet it, less
/// its keys.
struct SummaryRows {
  int64_t chunk, chunks, blocks;
  std::optional<int64_t> local;

  SummaryRows(int64_t keys, int64_t chunk, std::optional<int64_t> local)
      : chunk(chunk), chunks(keys / chunk), blocks(local ? keys / *local : 0), local(local) {}

  int64_t count() const { return chunks + 2 * blocks; }
  int64_t firstOf(int64_t block) const { return block * *local / chunk; }
  int64_t lastOf(int64_t block) const { return ((block + 1) * *local - 1) / chunk; }
  /// The row of a chunk less the keys of a block; absent if nothing is left.
  std::optional<int64_t> rowOf(int64_t c, std::optional<int64_t> block) const {
    if (!block || c < firstOf(*block) || c > lastOf(*block))
      return c;
    if (c == firstOf(*block))
      return chunks + 2 * *block;
    return c == lastOf(*block) ? std::optional(chunks + 2 * *block + 1) : std::nullopt;
  }
};

/// `local` of one of EVA's ops.
template <typename Op> std::optional<int64_t> localOf(Op op) {
  return op.getLocal() ? std::optional(static_cast<int64_t>(*op.getLocal())) : std::nullopt;
}

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
  /// The existing keys of a chunk, those of the local block `without` left out.
  std::vector<int64_t> keysOf(int64_t chunk, std::optional<int64_t> without) const;
  /// The mean of the queries that go with a chunk.
  const double *queryMean(int64_t chunk) const { return queryMeans[chunk]; }

private:
  const Head &head;
  const EvaOptions &options;
  Matrix queryMeans; ///< [C, d]
};

/// The summary of a chunk, less the keys of a local block.
using EvaSummaryOf = std::function<const EvaSummary &(int64_t chunk, std::optional<int64_t> without)>;

/// One row of the joint softmax over local keys and chunks; `output` is 0 before.
void evaRow(const Head &head, const EvaOptions &options, int64_t place, const EvaSummaryOf &summaryOf, double *output, double *lse = nullptr);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_EVACHUNKS_H
