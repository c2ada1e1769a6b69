//===- RegionDraft.h - A region under construction -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_REGIONDRAFT_H
#define ATTUNE_LIB_KERNEL_PLANNER_REGIONDRAFT_H

#include "Regions/RegionPlanner.h"
#include "TermRules.h"

#include <map>
#include <set>
#include <tuple>

namespace attune::kernel {

using OpSet = llvm::SetVector<mlir::Operation *>;

/// Gives the sources of values of the attn function where a region reads them: what lies in memory is loaded, else the rule
/// of the op makes it of its operands. One value at one place is one source.
class RegionDraft {
public:
  RegionDraft(HostBuilder &host, const Problem &problem, RegionPlanner::Scope scope = RegionPlanner::OfAll, OpSet reads = {})
      : host(host), problem(problem), plan(this->problem, scope), reads(std::move(reads)) {}
  RegionDraft(const RegionDraft &) = delete;

  /// The tiles of a value, as some of those of a source.
  Tiles tiles(mlir::Value value, const Place &at);
  /// Those tiles alone.
  fusion::Source read(mlir::Value value, const Place &at);
  /// Each of them, a source of its own.
  llvm::SmallVector<fusion::Source> blocks(mlir::Value value, const Place &at);
  /// The tiles of several values, one after another. What one source gives together stays as that source gives it.
  fusion::Source readTogether(mlir::ValueRange values, const Place &at);
  /// From here on `source` stands for the results of an op, a tile each.
  void define(mlir::Operation *op, fusion::Source source, unsigned tiles);

  /// The same with tiles for each result; those of a result without a source are not read.
  void defineResults(mlir::Operation *op, llvm::SmallVector<Tiles> results) { ofResults[op] = std::move(results), forget(op); }

  /// From here on a value is read with 0 in rows that do not exist.
  void defineExisting(mlir::Value value, const Place &at);
  /// The same of one read; as it is read anyway where that is defined, or where it is loaded.
  fusion::Source existing(mlir::Value value, const Place &at);

  /// Parameters of the head at a place [1 or heads, …], or of all.
  fusion::Source parameter(mlir::Value value, const Place &at);
  /// What is taken off the logarithm of each feature [batch, heads, m].
  fusion::Source shifts(mlir::Value value, const Place &at);
  /// The same where the region itself makes it.
  void defineShifts(mlir::Value value, fusion::Axis head, fusion::Source source) { parameters[{value.getAsOpaquePointer(), head}] = std::move(source); }
  /// The stage over the keys that rows see.
  fusion::Stage keys(const SeenKeys &seen, bool dearSteps = false) const;
  /// What is kept for the region under a key, null if nothing is: stages that several results share.
  fusion::Source &shared(const void *key) { return stages[key]; }

  /// The keys that the rows at a place are paired with.
  static Place keysOf(const Place &at) { return {fusion::Axis::Key, at.head, at.heads}; }
  /// The same place with columns of the slice of channels, or of values, that a tile has; all where there are no slices.
  Place channels(Place at) const { return inSlice(at, fusion::Axis::Feature); }
  Place values(Place at) const { return inSlice(at, fusion::Axis::Value); }
  /// Columns of a tile of values so wide; of all slices of tokens or features.
  int64_t valueTile(int64_t width) const { return plan.isSliced() ? plan.valueTile() : width; }
  int64_t channelsOf(mlir::Value value) const;
  bool wide() const { return needsWideProducts(problem); }

  HostBuilder &host;
  const Problem problem;
  RegionPlanner plan;
  const OpSet reads; ///< the ops that the region computes
  bool streamsQueries = false; ///< a program has a block of keys
  /// Sums over keys of the weights that the region makes, and where those of each part of the keys lie, or those of all (JointGradients.cpp).
  struct PartSum {
    attn::ContractOp sum;
    mlir::Value memory;
    int64_t firstHead = 0; ///< of the memory
    double factor = 1;     ///< of what is summed up
    bool once = false;     ///< one tile of keys has all: there is nothing to add to
  };
  llvm::SmallVector<PartSum, 1> partSums;

private:
  Place inSlice(Place at, fusion::Axis axis) const {
    at.slice = plan.isSliced() ? std::optional(axis) : std::nullopt;
    return at;
  }
  Tiles make(mlir::Value value, const Place &at);
  using Key = std::tuple<void *, fusion::Axis, fusion::Axis, std::optional<fusion::Axis>>;
  static Key keyOf(mlir::Value value, const Place &at) { return {value.getAsOpaquePointer(), at.tokens, at.head, at.slice}; }

  /// What may be made of an op has to be made again: what stands behind it. What stands before it stays one source, which is computed once.
  void forget(mlir::Operation *op);

  std::map<Key, Tiles> known;
  std::set<Key> existingOnes; ///< of `known`
  llvm::DenseMap<mlir::Operation *, std::pair<fusion::Source, unsigned>> defined;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Tiles>> ofResults;
  std::map<std::pair<void *, fusion::Axis>, fusion::Source> parameters;
  std::map<const void *, fusion::Source> stages;
};

/// Tiles of blocks that come from sources of their own.
Tiles tilesOfBlocks(llvm::ArrayRef<fusion::Source> blocks);

/// Weights of pairs that are 0 where a query does not see a key: where there is no mask, keys past the last one still have features.
fusion::Source visibleWeights(mlir::Value weights, RegionDraft &draft, const Place &at);

/// A value that a region computes, and where it stores it.
struct WrittenValue {
  mlir::Value value;
  Output output;
};

/// The stores of values where their rows are those of a place.
llvm::SmallVector<fusion::RegionOutput, 1> outputsOf(RegionDraft &draft, llvm::ArrayRef<WrittenValue> values, const Place &at);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_REGIONDRAFT_H
