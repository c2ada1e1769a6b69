//===- LawTests.h - Where each law is tested -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_LAWTESTS_H
#define ATTUNE_LAWS_LAWTESTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace attune {

/// The tests of an exact law; paths are from `test/`, several apart by spaces.
struct LawTests {
  llvm::StringLiteral id;
  llvm::StringLiteral sides;    ///< both sides of the identity on random arguments, by the interpreter
  llvm::StringLiteral graph;    ///< before and after, and every refusal, where the graph is rewritten
  llvm::StringLiteral compiled; ///< code that applies it, against the interpreter or counted
  llvm::StringLiteral wins;     ///< a realistic shape, or "rare" or "not built" with the reason
};

/// One for each exact law, in the order of their numbers.
llvm::ArrayRef<LawTests> lawTests();

/// The second table of docs/Laws.md.
void printLawTests(llvm::raw_ostream &out);

} // namespace attune

#endif // ATTUNE_LAWS_LAWTESTS_H
