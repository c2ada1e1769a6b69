//===- ApproximateLaw.h - A law that changes the function -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_APPROXIMATELAW_H
#define ATTUNE_LAWS_APPROXIMATELAW_H

#include "attune/Attn/Attn.h"
#include "attune/Laws/LawList.h"

#include <memory>
#include <string>
#include <vector>

namespace attune::graph {

/// A rewriting to another function of the same tensors, with no parameters of its own. It fires only where the user
/// consents by `allow`; without consent its price is told and nothing else. How far the two functions are apart depends on
/// the data: `attnc suggest` measures it.
class ApproximateLaw {
public:
  explicit ApproximateLaw(const ListedLaw &listed) : listed(listed) {}
  virtual ~ApproximateLaw() = default;

  /// The name that `allow` uses.
  llvm::StringRef name() const { return listed.name; }
  /// What is computed instead, one clause for people.
  virtual llvm::StringRef change() const = 0;
  /// Whether the law speaks of such an op at all.
  virtual bool appliesTo(mlir::Operation *op) const = 0;
  /// Why the op cannot be changed; empty if it can.
  virtual std::string refusal(mlir::Operation *op) const = 0;
  /// Builds the other function at the builder's place and returns the values for the op's results. Only after `refusal`
  /// was empty.
  virtual llvm::SmallVector<mlir::Value> build(mlir::OpBuilder &builder, mlir::Operation *op) const = 0;

  const ListedLaw &listed; ///< in docs/Laws.md
};

/// Softmax attention as efficient attention: softmax of features and of keys apart (linear in the length).
std::unique_ptr<ApproximateLaw> createEfficientLaw();

/// Softmax attention inside blocks of 256 tokens (linear in the length).
std::unique_ptr<ApproximateLaw> createLocalLaw();

/// Softmax attention by way of at most 64 agents, which are means of runs of queries (linear in the length).
std::unique_ptr<ApproximateLaw> createAgentsLaw();

/// FAVOR without ε and without a guard of the denominator, so that stabilizers cancel.
std::unique_ptr<ApproximateLaw> createDropGuardsLaw();

/// All of them, in the order in which they are offered.
std::vector<std::unique_ptr<ApproximateLaw>> createApproximateLaws();
llvm::SmallVector<llvm::StringRef> approximateLawNames();

} // namespace attune::graph

#endif // ATTUNE_LAWS_APPROXIMATELAW_H
