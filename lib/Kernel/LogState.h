//===- LogState.h - States of features given by their logarithms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Features of FAVOR span far more than the range of f32, and so do the exponentials of EFFATT and high powers of the
// focused map: they are kept as g 2^L. Of exponentials g is 1 and L any number; of powers L is an integer and g about 1,
// for a logarithm in the hundreds has lost the digits behind its point. A state is carried as
//
//     M_f = max_j L_jf      z_f = Σ_j g_jf 2^(L_jf − M_f)      S_f = Σ_j g_jf 2^(L_jf − M_f) v_jᵀ
//
// which is the carry of softmax with a feature in the place of a row.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_LOGSTATE_H
#define ATTUNE_LIB_KERNEL_LOGSTATE_H

#include "KernelFrame.h"

#include <functional>

namespace attune::kernel {

/// The logarithm of nothing: below that of any feature, yet finite, so that differences of two are numbers.
inline constexpr double noLogarithm = -1e30;

inline bool guarded(attn::DenominatorAttr guard) { return guard.getBias() != 0 || guard.getFloor() != 0; }
/// The least unit 2^c of a row's weights: so low that the guard is still in range; `noLogarithm` without one.
double leastExponent(attn::DenominatorAttr guard);
/// num / guard(den) with num [T, dv] and den [T] in units of 2^c, c [T].
mlir::Value normalizeInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value numerator,
                            mlir::Value denominator, mlir::Value c);

/// Features g 2^L.
struct LogFeatures {
  mlir::Value exponents; ///< L [T, m]
  mlir::Value mantissas; ///< g [T, m]; null: all are 1

  /// g 2^x [T, m], x being L less something.
  mlir::Value at(TileBuilder &tiles, mlir::Value x) const;
};

/// Where states lie in memory; z and M at [indices…, feature], S at [indices…, feature, value].
struct LogStates {
  mlir::Value matrix, sum, maximum;
  int64_t features, valueWidth;

  llvm::SmallVector<mlir::Value> memories() const { return {matrix, sum, maximum}; }
};

/// M, z, S of no key.
llvm::SmallVector<mlir::Value> emptyLogState(TileBuilder &tiles, int64_t features, int64_t valueWidth);
/// After keys with features g 2^L [T, m], L being −∞ of keys that do not exist, and values v [T, dv].
llvm::SmallVector<mlir::Value> addLogKeys(TileBuilder &tiles, mlir::ValueRange state, const LogFeatures &keys,
                                          mlir::Value v, mlir::Type operand);

llvm::SmallVector<mlir::Value> loadLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states,
                                            llvm::ArrayRef<mlir::Value> indices);
void storeLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states, mlir::ValueRange state,
                   llvm::ArrayRef<mlir::Value> indices);

/// Inside a kernel: the first `count` of the states of pieces, merged one after another.
llvm::SmallVector<mlir::Value> mergeOfPieces(TileBuilder &tiles, const KernelFrame &frame, const LogStates &pieces,
                                             mlir::Value batch, mlir::Value head, mlir::Value count);

/// The state with the tile of keys at `first` added: `keys` are its features, of which those at or past `limit` do not exist.
llvm::SmallVector<mlir::Value> addLogTile(TileBuilder &tiles, const Problem &problem, mlir::ValueRange state,
                                          LogFeatures keys, const TokenReader &value, mlir::Value first,
                                          mlir::Value limit);
/// S divided by z, 0 where there is no key.
void divideBySums(TileBuilder &tiles, llvm::SmallVector<mlir::Value> &state);

/// States of logarithms for `heads` heads of problem.key and problem.value, in pieces, and their merge into the result, of
/// which S is divided by z if `normalized`: [batch, heads, m, dv], [batch, heads, m] twice.
class LogStateBuilder {
public:
  LogStateBuilder(BuildSite &site, const Problem &problem, int64_t heads, int64_t features)
      : site(site), problem(problem), heads(heads), features(features) {}

  /// The features [T, m] of the tile of keys at an index, those that do not exist included.
  using KeyLogarithms = std::function<LogFeatures(TileBuilder &tiles, mlir::Value first)>;
  /// Called at the begin of the kernel, with the number of keys that exist.
  using Prepare = llvm::function_ref<KeyLogarithms(KernelFrame &frame, const Point &point, mlir::Value limit)>;
  /// `values`: what the kernel reads beside keys, values and lengths.
  LogStates build(llvm::ArrayRef<mlir::Value> values, bool normalized, Prepare prepare);
  /// The states of the pieces alone (Pieces.h): [batch, heads, pieces, m, dv], [batch, heads, pieces, m] twice.
  LogStates buildPieces(llvm::ArrayRef<mlir::Value> values, Prepare prepare);
  /// o [Tq, dv] of the queries first … of one head, from a state.
  using ReadQueries = std::function<mlir::Value(TileBuilder &tiles, const TokenReader &query, mlir::Value first,
                                                mlir::ValueRange state)>;
  /// The state and its readout in one kernel.
  void buildFused(llvm::ArrayRef<mlir::Value> values, bool normalized, Prepare prepare, ReadQueries read);

private:
  LogStates workspace(bool pieces, mlir::Value batch, mlir::Value count);
  /// With `counters` the point of the last piece merges them into `result`.
  void buildPieces(mlir::Value count, llvm::ArrayRef<mlir::Value> values, Prepare prepare, mlir::Value counters);
  void buildMerge();
  void mergePieces(TileBuilder &tiles, const KernelFrame &frame, mlir::Value batch, mlir::Value head) const;

  BuildSite &site;
  const Problem &problem;
  int64_t heads, features;
  LogStates pieces{}, result{};
  bool normalized = false;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LOGSTATE_H
