//===- DeltaRule.h - The gated delta rule, token by token and in chunks ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each head, with a state S [m, dv] and for t = 0, 1, …
//
//     S ← e^{g_t} S,    u = β_t (v_t − Sᵀ k_t),    S ← S + k_t uᵀ,    o_t = s Sᵀ q_t,    s = m^{-1/2}
//
// and, where r is the gradient of o, its gradient in v, backwards from the gradient Λ [m, dv] of the last state:
//
//     Λ ← Λ + s q_t r_tᵀ,    ū = Λᵀ k_t,    v̄_t = β_t ū,    Λ ← e^{g_t} (Λ − β_t k_t ūᵀ)
//
// Both are affine in their state. `kernel` has them in chunks of C tokens, as tile IR; `recurrence` token by token in
// f64.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_CARRIES_DELTARULE_H
#define ATTUNE_TEST_UNIT_CARRIES_DELTARULE_H

#include "attune/Reference/EvalTile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <random>

namespace attune::test {

enum class Direction { Forward, Reverse };

struct DeltaSizes {
  int64_t tokens, chunk, features, values, heads = 2;
};

/// The tensors of one problem. Of the rule itself the rows are v, and its gradient's are r; the results are o, or v̄,
/// and the last state.
struct DeltaTensors {
  reference::Array q, k; ///< [H, N, m]
  reference::Array rows; ///< [H, N, dv]
  reference::Array g, beta; ///< [H, N]
  reference::Array initial; ///< [H, m, dv]
};

struct DeltaResults {
  reference::Array rows;  ///< [H, N, dv]
  reference::Array state; ///< [H, m, dv]
};

/// What the hard cases are made of.
struct DeltaDraw {
  double parallel = 1; ///< how far unit keys are from one direction: 1 is far, 0 not at all
  std::function<double(std::mt19937_64 &, int64_t head)> beta, g;
};

/// Numbers of f32.
DeltaTensors drawDelta(const DeltaSizes &sizes, const DeltaDraw &draw, uint64_t seed);

/// Token by token, in f64.
DeltaResults recurrence(const DeltaSizes &sizes, const DeltaTensors &tensors, Direction direction);

/// The kernel @delta(q, k, rows, g, beta, initial, result rows, last state) grid(head) with a loop that has this
/// carry; without `stores`, the result's rows are not written.
mlir::OwningOpRef<mlir::ModuleOp> deltaKernel(mlir::MLIRContext &context, const DeltaSizes &sizes, Direction direction,
                                              tile::CarryAttrInterface carry, bool stores);

/// Runs it.
mlir::FailureOr<DeltaResults> runDelta(mlir::ModuleOp module, const DeltaSizes &sizes, const DeltaTensors &tensors,
                                       reference::Precision precision);

/// Cuts every loop in two, once for each seed: pieces are cut again.
mlir::LogicalResult cutLoops(mlir::ModuleOp module, llvm::ArrayRef<uint64_t> seeds);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_CARRIES_DELTARULE_H
