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

/// The rules of one part.
class PartRules {
public:
  PartRules(RuleReporter &rules, const Part &part) : rules(rules), spec(rules.spec), part(part), m(part.mechanism) {}

  /// The path of one of the mechanism's fields.
  std::string path(llvm::StringRef field) const { return mechanismPath(part, field); }
  bool good(std::initializer_list<llvm::StringRef> fields) const {
    return llvm::all_of(fields, [&](llvm::StringRef field) { return rules.good({path(field)}); });
  }
  void atKey(llvm::StringRef field, std::string expected, std::string got, std::string note) {
    rules.atKey(path(field), std::move(expected), std::move(got), std::move(note));
  }
  void atValue(llvm::StringRef field, std::string expected, std::string got, std::string note) {
    rules.atValue(path(field), std::move(expected), std::move(got), std::move(note));
  }
  bool causal() const { return spec.causal && rules.good({"causal"}); }
  bool notCausal() const { return !spec.causal && rules.good({"causal"}); }
  /// S52: of a mechanism that mixes all tokens.
  void refuseCausal();

  RuleReporter &rules;
  const Spec &spec;
  const Part &part;
  const Mechanism &m;
};

/// The rules of one part on sizes that are known.
class PartSizes : public PartRules {
public:
  PartSizes(RuleReporter &rules, const Part &part)
      : PartRules(rules, part), queries(rules.good({"queries"}) ? spec.queries : std::nullopt),
        keys(rules.good({"keys"}) ? spec.keys : std::nullopt) {}

  bool differ() const { return queries && keys && *queries != *keys; }
  std::string both() const { return std::to_string(*queries) + " and " + std::to_string(*keys); }
  /// S54: a causal state is read at its own position.
  void checkCausal();
  /// S40, S49: what a field does with the tokens of queries, it does with keys.
  void checkEqual(llvm::StringRef field);
  /// S41: blocks of `value` tokens cover the queries.
  void checkDivisor(llvm::StringRef field, int64_t value);
  /// S42: an image holds all tokens.
  void checkGrid(llvm::StringRef field, const std::optional<Grid> &grid);

  const Size queries, keys;
};

// The numbers S… of the rules are those of docs/Spec.md.

/// Rules that need no size of the sequence.
void checkRules(RuleReporter &rules);
/// Rules on batch, queries and keys; those that meet a '?' wait.
void checkSizeRules(RuleReporter &rules);
/// The rules on the names of `gradients`, of a spec that is correct but for them and `pin`.
void checkGradients(RuleReporter &rules);
/// The rules on `pin`, of a spec that is correct but for them.
void checkPins(RuleReporter &rules);
/// Whether a correct spec has at most `mostParameters`, before anything lists them.
void checkParameterCount(RuleReporter &rules);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_SPECRULES_H
