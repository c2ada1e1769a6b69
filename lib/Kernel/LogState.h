//===- LogState.h - States of features given by their logarithms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Features of FAVOR span far more than the range of f32, and so do the exponentials of EFFATT: they are kept as
// logarithms L, in units of log 2. A state is carried as
//
//     M_f = max_j L_jf      z_f = Σ_j 2^(L_jf − M_f)      S_f = Σ_j 2^(L_jf − M_f) v_jᵀ
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

/// Where states lie in memory; z and M at [indices…, feature], S at [indices…, feature, value].
struct LogStates {
  mlir::Value matrix, sum, maximum;
  int64_t features, valueWidth;

  llvm::SmallVector<mlir::Value> memories() const { return {matrix, sum, maximum}; }
};

/// M, z, S of no key.
llvm::SmallVector<mlir::Value> emptyLogState(TileBuilder &tiles, int64_t features, int64_t valueWidth);
/// After keys with logarithms L [T, m], −∞ of keys that do not exist, and values v [T, dv].
llvm::SmallVector<mlir::Value> addLogKeys(TileBuilder &tiles, mlir::ValueRange state, mlir::Value logarithms,
                                          mlir::Value v, mlir::Type operand);
llvm::SmallVector<mlir::Value> mergeLogStates(TileBuilder &tiles, mlir::ValueRange a, mlir::ValueRange b);

llvm::SmallVector<mlir::Value> loadLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states,
                                            llvm::ArrayRef<mlir::Value> indices);
void storeLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states, mlir::ValueRange state,
                   llvm::ArrayRef<mlir::Value> indices);

/// States of logarithms for `heads` heads of problem.key and problem.value, in pieces, and their merge into the result, of
/// which S is divided by z if `normalized`: [batch, heads, m, dv], [batch, heads, m] twice.
class LogStateBuilder {
public:
  LogStateBuilder(BuildSite &site, const Problem &problem, int64_t heads, int64_t features)
      : site(site), problem(problem), heads(heads), features(features) {}

  /// The logarithms [T, m] of the tile of keys at an index, those that do not exist included.
  using KeyLogarithms = std::function<mlir::Value(TileBuilder &tiles, mlir::Value first)>;
  /// Called at the begin of the kernel, with the number of keys that exist.
  using Prepare = llvm::function_ref<KeyLogarithms(KernelFrame &frame, const Point &point, mlir::Value limit)>;
  /// `values`: what the kernel reads beside keys, values and lengths.
  LogStates build(llvm::ArrayRef<mlir::Value> values, bool normalized, Prepare prepare);

private:
  LogStates workspace(bool pieces, mlir::Value batch, mlir::Value count);
  void buildPieces(const LogStates &pieces, mlir::Value count, llvm::ArrayRef<mlir::Value> values, Prepare prepare);
  void buildMerge(const LogStates &pieces, const LogStates &result, bool normalized);

  BuildSite &site;
  const Problem &problem;
  int64_t heads, features;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LOGSTATE_H
