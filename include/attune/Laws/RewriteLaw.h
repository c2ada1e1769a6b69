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

/// Why the sequence of an op in chunks cannot be cut into parts that run side by side; empty if it can.
std::string refuseParts(mlir::Operation *op);

/// The laws, in the order in which selection offers them. A law is a file of lib/Laws, and a name here.
#define ATTUNE_LAWS(LAW) LAW(Linearize) LAW(Fold) LAW(LowRank) LAW(Project) LAW(ProjectOut) LAW(Map) LAW(Launch) LAW(Keys)

#define ATTUNE_LAW(NAME) std::unique_ptr<RewriteLaw> create##NAME##Law();
ATTUNE_LAWS(ATTUNE_LAW)
#undef ATTUNE_LAW

/// All of them.
std::vector<std::unique_ptr<RewriteLaw>> createLaws();

/// The law of that name, or null.
const RewriteLaw *findLaw(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> lawNames();
/// How a form of a law computes; empty if there is no such form.
llvm::StringRef describeForm(llvm::StringRef law, llvm::StringRef form);

} // namespace attune::graph

#endif // ATTUNE_LAWS_REWRITELAW_H
