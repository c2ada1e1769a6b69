//===- SpecRules.h - What the fields of a spec mean together -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_SPECRULES_H
#define ATTUNE_LIB_FRONTEND_SPECRULES_H

#include "Fields.h"

#include <set>

namespace attune {

/// Reports broken rules at the places of fields. A rule that reads a wrong field is not judged, and of several rules
/// that one field breaks the first is reported.
class RuleReporter {
public:
  explicit RuleReporter(ParseState &state) : state(state), spec(state.spec) {}

  bool good(std::initializer_list<llvm::StringRef> paths) const {
    return llvm::all_of(paths, [&](llvm::StringRef path) { return state.isGood(path); });
  }
  void atKey(llvm::StringRef path, std::string expected, std::string got, std::string note) {
    report(spec.placeOf(path).key, std::move(expected), std::move(got), std::move(note));
  }
  void atValue(llvm::StringRef path, std::string expected, std::string got, std::string note) {
    report(spec.placeOf(path).value, std::move(expected), std::move(got), std::move(note));
  }

  ParseState &state;
  Spec &spec;

private:
  void report(Position at, std::string expected, std::string got, std::string note) {
    if (reported.insert({at.line, at.column}).second)
      state.error(at, std::move(expected), std::move(got), std::move(note));
  }
  std::set<std::pair<int64_t, int64_t>> reported;
};

/// "'8'": a number as the file shows it.
inline std::string shown(int64_t number) { return "'" + std::to_string(number) + "'"; }

/// The path of a field of a part's mechanism.
inline std::string mechanismPath(const Part &part, llvm::StringRef field) {
  return part.path + "mechanism." + field.str();
}

// The numbers S… of the rules are those of docs/Spec.md.

/// Rules that need no size of the sequence.
void checkRules(RuleReporter &rules);
void checkMechanismRules(RuleReporter &rules, const Part &part);
/// Rules on batch, queries and keys; those that meet a '?' wait.
void checkSizeRules(RuleReporter &rules);
/// The rules on `pin`, of a spec that is correct but for them.
void checkPins(RuleReporter &rules);
/// Whether a correct spec has at most `mostParameters`, before anything lists them.
void checkParameterCount(RuleReporter &rules);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_SPECRULES_H
