//===- TermRules.h - How terms are computed where they are read -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each op that a region can compute: where its operands are read, and the source of its results made of sources of
// its operands. Nothing else knows an op by its name; an op without a rule is refused.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_TERMRULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_TERMRULES_H

#include "Region.h"
#include "attune/Attn/Attn.h"

namespace attune::kernel {

class HostBuilder;
class RegionDraft;
struct Problem;

/// Where a region reads a value: which axis counts tokens, which heads, and how many of these.
struct Place {
  fusion::Axis tokens, head;
  int64_t heads;
  std::optional<fusion::Axis> slice = std::nullopt; ///< columns of that axis, where tiles have slices; none: all
};

/// The tiles that stand for a value: some of those of a source.
struct Tiles {
  fusion::Source source;
  llvm::SmallVector<unsigned, 2> which{0};
  unsigned of = 1; ///< how many the source has
};

/// Where an operand is read that is made of tokens.
enum class Side {
  Rows,  ///< where the result is
  Keys,  ///< along the keys, which the term streams
  Memory ///< in memory, whole, as states are
};

/// The kernels whose outputs a reduction of keys ends up in.
enum class Frame {
  None,  ///< no reduction
  Rows,   ///< blocks of queries, each with all its keys
  Keys,   ///< blocks of keys, each with all the queries that see it
  States, ///< a program for each state, which streams its keys and then the queries that read it
  Chunks, ///< a program for all chunks of a head
  ChunkGradients ///< one for the chunks of its queries, and one for those of its keys from the last down
};

/// The keys that a reduction streams, and which of them a row sees.
struct SeenKeys {
  mlir::Value keys; ///< tokens or features; null: the reduction streams none
  mlir::Value lengths;
  bool causal = false;
  attn::WindowAttr window;
  int64_t last = 0;  ///< of these a row sees only the last so many; 0: all
  int64_t heads = 1; ///< rows are those of so many heads, one head's after another's
};

struct TermRule {
  llvm::SmallVector<Side, 3> sides; ///< of the first operands; the others are parameters and lengths, which are arguments
  unsigned sizesOnly = 0;           ///< of so many operands behind those nothing but their sizes counts
  Frame frame = Frame::None;
  llvm::StringLiteral kernel = "tokens"; ///< the name of kernels whose outputs are made of this reduction
  /// What follows a reduction in its kernel: reads of a reduction by others go through memory.
  bool isEpilogue = false;
  /// Tiles of a result where the region reads it.
  Tiles (*build)(mlir::OpResult result, RegionDraft &draft, const Place &at) = nullptr;
  /// Computes all results in kernels of their own, whoever reads them; null: they are computed where they are read. The kernels
  /// have the names of `named`.
  mlir::LogicalResult (*materialize)(mlir::Operation *op, HostBuilder &host, const Problem &named) = nullptr;
  /// Whether this op is; null: whenever it can be.
  bool (*isMaterialized)(mlir::Operation *op) = nullptr;
  /// Of a reduction: what it streams in its frame.
  SeenKeys (*keys)(mlir::Operation *op) = nullptr;
};

/// The rule of an op; null if regions cannot compute it.
const TermRule *ruleOf(mlir::Operation *op);

/// Which kernels compute this op, as its attributes say.
bool isMaterialized(mlir::Operation *op);

/// weights[query, key] = Σ_feature …; and numerator[query, value] = Σ_key ….
bool makesPairs(attn::ContractOp op);
bool sumsKeys(attn::ContractOp op);
/// result[key, …] = Σ_query weights[query, key] x[query, …].
bool sumsQueries(attn::ContractOp op);
/// Σ a b of each row, of queries or keys.
bool multipliesRows(attn::ContractOp op);
/// And the rows are those of keys.
bool multipliesKeys(attn::ContractOp op);
/// Whether a value is what weights of pairs are made of, which are in no memory.
bool arePairs(mlir::Value value);
/// Whether they are 0 where a query does not see a key.
bool areMasked(mlir::Value weights);
/// Whether a sum of weights can be computed where these decay with each token: keys then stream a product alone, and no queries do.
bool sumsAsWritten(mlir::Operation *sum);
/// The op that their numbers come from: a contraction, or the weights of softmax.
mlir::Operation *originOfPairs(mlir::Value weights);
/// The tokens, or features, that their rows are.
mlir::Value rowsOfPairs(mlir::Value weights);
/// The operand whose rows those of a term's results are; null: it has none.
mlir::Value rowsOperand(mlir::Operation *term);
/// Two states [feature, value]: the products of their rows [feature].
bool multipliesStates(attn::ContractOp op);
/// Rows [tokens, feature] or [tokens, value] times a state [feature, value], over what both have.
bool timesState(attn::ContractOp op);
/// The same where its rows are read from memory, some columns at a time.
bool timesStateInSlices(attn::ContractOp op, const HostBuilder &host);
/// A number of each row times sums [feature]: [query, feature].
bool timesSums(attn::ContractOp op);
/// Of compressed tokens, which have the role of queries: result[key, feature] = Σ_query E[query, key] x[query, feature]; and
/// E[query, key] = Σ_batch Σ_feature x[query, feature] y[key, feature].
bool transposesCompression(attn::ContractOp op);
bool makesCompressionWeight(attn::ContractOp op);
/// S[feature, value] = Σ_query a[query, feature] x[query, value]; and z[feature] = Σ_query a[query, feature] w[query].
bool makesState(attn::ContractOp op);
bool sumsFeatures(attn::ContractOp op);

/// The reduction of keys that a value is made of, as far as one region computes both; null if it is made of none.
mlir::Operation *reductionOf(mlir::Value value);

/// Which kernels it ends up in.
Frame frameOf(mlir::Operation *reduction);

/// What two reductions have in common that are computed together: the op, or the weights that both sum up.
const void *streamOf(mlir::Operation *reduction);

/// Whether a value is a state of keys or of queries, S or z.
bool isState(mlir::Value value);

/// The guard of the quotient whose numerator an op makes.
attn::DenominatorAttr guardOf(mlir::Operation *sums);

/// The keys over which an op sums what is there for pairs.
SeenKeys keysOfSum(mlir::Operation *op);

/// Rules by the names of their ops.
struct TermRules {
  template <typename Op> void add(TermRule rule) { byName[Op::getOperationName()] = std::move(rule); }
  llvm::StringMap<TermRule> byName;
};

// Each adds those of its file, which have a row each.
void addGradientRules(TermRules &rules);
void addMapRules(TermRules &rules);
void addPairRules(TermRules &rules);
void addStateRules(TermRules &rules);
void addBlockRules(TermRules &rules);
void addFeaturePairRules(TermRules &rules);
/// Of contractions, by what they make.
const TermRule *ruleOfContract(attn::ContractOp op);
/// Of those that sum over queries what becomes a state.
const TermRule *ruleOfQuerySums();
const TermRule *ruleOfStateProducts();
/// Of states of query heads, added up over those that share one.
const TermRule *ruleOfStateSums();
/// Of the sum of two states.
const TermRule *ruleOfSumOfStates();
/// Of what is the same for all rows of features, or for all keys of a row.
const TermRule *ruleOfSpread(attn::SpreadOp op);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_TERMRULES_H
