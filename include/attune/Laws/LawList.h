//===- LawList.h - Every identity of attention, and what became of it -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_LAWLIST_H
#define ATTUNE_LAWS_LAWLIST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

namespace attune {

/// Who applies an identity.
enum class LawPlace {
  Choice,    ///< a law of the graph: its forms are priced, `pin` can name it
  Canonical, ///< always applied to the graph: no form of it is ever dearer
  Kernels,   ///< how every kernel computes
  Schedule,  ///< a size of the schedule
  NotYet,    ///< nobody, with the reason
  Consent    ///< selection, where the spec's `allow` names it: it changes the function
};

/// An identity in real arithmetic: both sides of the formula are the same function where the condition holds. If it is
/// not exact, the left side is replaced by the right one, another function.
struct ListedLaw {
  llvm::StringLiteral id;   ///< I1 …, of choices of the schedule S1 …, of approximate laws A1 …, as everybody calls it
  llvm::StringLiteral name; ///< the law's name in `pin` where it is a choice, else a name for people
  llvm::StringLiteral formula, condition;
  llvm::StringLiteral source;
  LawPlace place;
  llvm::StringLiteral remark; ///< the forms and where they win; who does it; or why nobody does
  bool exact = true;
};

/// All identities in the order of their numbers: those of laws, which stand beside them, and the others.
std::vector<ListedLaw> listedLaws();

/// Choices of the schedule, which change no formula: what is computed where.
std::vector<ListedLaw> scheduleLawList();

/// The approximate ones, by consent.
std::vector<ListedLaw> approximateLawList();

/// "choice", "canonical", "kernels", "schedule", "not yet" or "consent".
llvm::StringRef nameOf(LawPlace place);

/// The lists for people, a paragraph a law; and the tables of docs/Laws.md.
void printLaws(llvm::raw_ostream &out);
void printLawTable(llvm::raw_ostream &out);

} // namespace attune

#endif // ATTUNE_LAWS_LAWLIST_H
