//===- RewriteLaw.h - A law: an offer of an equal form -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_REWRITELAW_H
#define ATTUNE_LAWS_REWRITELAW_H

#include "attune/Attn/Attn.h"
#include "attune/Laws/LawList.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune::graph {

/// A form, and how it computes, for somebody who has read the formula and nothing else.
struct LawForm {
  llvm::StringLiteral name, text;
};

/// A law in the registry: its name, what it speaks of, its forms, and what people are told of it.
struct LawRow {
  llvm::StringLiteral name;    ///< that `pin` uses
  llvm::StringLiteral subject; ///< what it speaks of: "an output projection"
  llvm::StringLiteral without; ///< why there is no choice without that: "the heads are the output as they are"
  llvm::ArrayRef<LawForm> forms;        ///< in the order in which they are tried
  llvm::ArrayRef<ListedLaw> identities; ///< of docs/Laws.md
};

/// An algebraic law (ARCHITECTURE, D5). It offers forms of an op; it never decides and never changes the op. Selection
/// builds the offers beside the op in a scratch copy of the function.
class RewriteLaw {
public:
  explicit RewriteLaw(const LawRow &row) : row(row) {}
  virtual ~RewriteLaw() = default;

  llvm::StringRef name() const { return row.name; }
  llvm::ArrayRef<LawForm> forms() const { return row.forms; }
  bool hasForm(llvm::StringRef form) const { return llvm::is_contained(formNames(), form); }
  llvm::SmallVector<llvm::StringRef> formNames() const;

  /// Whether the law speaks of such an op at all.
  virtual bool appliesTo(mlir::Operation *op) const = 0;
  /// Why the op cannot take the form; empty if it can.
  virtual std::string refusal(mlir::Operation *op, llvm::StringRef form) const = 0;
  /// Builds the form at the builder's place and returns the values of the op's results. Only after `refusal` was empty.
  virtual llvm::SmallVector<mlir::Value> build(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef form) const {
    return {};
  }

  /// Whether the law is about the schedule: its forms build nothing, but mark how an op is computed, in whatever form
  /// other laws have put it.
  virtual bool marks() const { return false; }
  /// Whether `mark` takes the op of which the law speaks itself, and not only what another law made of it.
  virtual bool marksAsWritten() const { return true; }
  /// Marks the op that computes what was chosen for `op`. Only after `refusal` was empty.
  virtual void mark(mlir::Operation *op, llvm::StringRef form) const {}
  /// Whether a plan computes the op at all that a mark is about; where another form does away with it, the plan has no form
  /// of the law.
  virtual bool isComputed(mlir::Operation *op) const { return true; }

  const LawRow &row;
};

/// Kernel attention as pair weights, through the state, or chunk by chunk (identities I1 and I10).
std::unique_ptr<RewriteLaw> createLinearizeLaw();

/// Projections with what their tokens are multiplied by: x W then ω, or x (W ωᵀ) (identity I5).
std::unique_ptr<RewriteLaw> createFoldLaw();

/// E before or after the projection of the tokens that it compresses (identities I3 and I4).
std::unique_ptr<RewriteLaw> createLowRankLaw();

/// Projections alone, or in the loads of the kernels that read them.
std::unique_ptr<RewriteLaw> createProjectLaw();

/// The output projection alone, or as an epilogue of the kernel that computes the heads.
std::unique_ptr<RewriteLaw> createProjectOutLaw();

/// Features of keys in the loads of the kernels that read them, or stored once by a kernel of their own.
std::unique_ptr<RewriteLaw> createMapLaw();

/// The parts of a mixture one after another, or their kernels in common launches.
std::unique_ptr<RewriteLaw> createLaunchLaw();

/// The keys of exact attention one after another, or in pieces side by side (identity I13).
std::unique_ptr<RewriteLaw> createKeysLaw();

/// All laws, in the order in which selection offers them.
std::vector<std::unique_ptr<RewriteLaw>> createLaws();

/// The law of that name, or null.
const RewriteLaw *findLaw(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> lawNames();
/// How a form of a law computes; empty if there is no such form.
llvm::StringRef describeForm(llvm::StringRef law, llvm::StringRef form);

/// What is wrong with a pin.
struct PinRefusal {
  bool ofLaw; ///< there is nothing that the law speaks of; else no op can take the form
  std::string expected, got, note;
};

/// Why no op of a function can be in a form of a law; nothing if one can.
std::optional<PinRefusal> refusePin(mlir::Block &function, const RewriteLaw &law, llvm::StringRef form);

} // namespace attune::graph

#endif // ATTUNE_LAWS_REWRITELAW_H
