//===- EvaShape.h - The chunks and the blocks of EVA -*- C++ -*-------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_EVASHAPE_H
#define ATTUNE_LIB_KERNEL_REGIONS_EVASHAPE_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

struct EvaOptions {
  int64_t chunk, local; ///< tokens of a chunk and of a block; without blocks 0
  bool excludeLocal, causal, mass;
  double scale, muWeight;
};

/// Those from ≤ j < end; none if from ≥ end.
struct Entries {
  fusion::Index from, end;
};

/// Rows of the summaries: the C chunks, then two edges for each local block, what the block leaves of the first and of the last chunk that it meets.
struct EvaShape {
  EvaShape(const Problem &problem, EvaOptions options);

  /// Causal, the chunks of the block's own keys are not strictly before every query, and excluded besides.
  bool hasEdges() const { return options.excludeLocal && !options.causal; }
  /// Whether a query sees the chunks that end at or before it.
  bool seesEndedChunks() const { return options.causal && !options.excludeLocal; }
  fusion::Index rows() const { return hasEdges() ? chunkCount + blockCount * 2 : chunkCount; }
  fusion::Index runOfChunk() const; ///< how many queries go with a chunk
  fusion::Index runOfBlock() const;
  llvm::SmallVector<Entries, 2> keysOfChunk(fusion::Index chunk) const;

  /// What is left of a chunk; its keys are none where the second edge of a block is the first.
  struct Edge {
    fusion::Index chunk;
    llvm::SmallVector<Entries, 2> keys;
  };
  Edge edge(fusion::Index number) const;
  /// The chunks from the first that a block meets to the last.
  Entries chunksMet(fusion::Index block) const;
  /// The summaries that the queries of the tile at the site may use, which are those of a block.
  llvm::SmallVector<Entries, 3> chunksOfQueries(int64_t tile) const;

  EvaOptions options;
  fusion::Index queries, tokens, existing, chunkCount, blockCount;
};

/// What a summary is made of, one of `count` of the keys of some ranges: q̄ is that of the run of queries that goes with a chunk.
struct EvaRow {
  EvaRow(const Problem &problem, const EvaShape &shape, fusion::Index count, llvm::ArrayRef<Entries> ranges, fusion::Index ofChunk);
  fusion::KernelRegion region(const Problem &problem, llvm::StringRef suffix) const;

  std::shared_ptr<fusion::Extents> extents;
  fusion::Stage keys;
  fusion::Index size;                          ///< how many keys it has
  fusion::Source k, v, keyCount, queryCount;   ///< of tokens; how many, at least 1
  fusion::Source keyMean, mu, logits, sums;    ///< [1, d], [1, d], [1, T] as exponents, the state of their softmax over v
};

/// Where summaries lie.
struct EvaSummaries {
  mlir::Value means, values, logWeights; ///< [batch, H, rows, d], [batch, H, rows, dv], [batch, H, rows]
  mlir::Value lse;                       ///< [batch, H, n] of the mix; null: nobody asks for it
};

/// The summaries of chunks and those of edges.
llvm::SmallVector<fusion::KernelRegion, 3> evaSummaryRegions(const Problem &problem, const EvaShape &shape, const EvaSummaries &results);
/// The softmax over local keys and summaries, into problem.output.
fusion::KernelRegion evaMixRegion(const Problem &problem, const EvaShape &shape, const EvaSummaries &results);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_EVASHAPE_H
