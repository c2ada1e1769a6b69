//===- Fields.h - Typed reading of a mapping -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_FIELDS_H
#define ATTUNE_LIB_FRONTEND_FIELDS_H

#include "Scalar.h"
#include "attune/Support/Suggestions.h"

#include "attune/Frontend/Spec.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace attune {

/// What the parsing of one spec shares: the spec, its mistakes, and which fields are wrong, so that nothing that
/// depends on them is reported as well.
class ParseState {
public:
  ParseState(Spec &spec, Diagnostics &diagnostics) : spec(spec), diagnostics(diagnostics) {}

  void error(Position at, std::string expected, std::string got, std::string note = "") {
    diagnostics.add(at, std::move(expected), std::move(got), std::move(note));
  }
  void markBad(llvm::StringRef path) { bad.insert(path); }
  /// Whether nothing was wrong with the field or with what it stands in.
  bool isGood(llvm::StringRef path) const;

  Spec &spec;

private:
  Diagnostics &diagnostics;
  llvm::StringSet<> bad;
};

/// A mapping whose fields are read one by one. A field that is absent gives its default, a wrong one is reported,
/// marked bad, and gives its default too. What is not a mapping is reported once and then looks empty.
class Fields {
public:
  using Names = llvm::ArrayRef<llvm::StringRef>;

  /// `path` is the mapping's own, `what` its name in messages.
  Fields(ParseState &state, const YamlNode &node, std::string path, std::string what);

  bool isMapping() const { return mapping; }
  bool has(llvm::StringRef name) const { return entries.contains(name); }
  /// A field that is neither absent nor wrong.
  bool hasGood(llvm::StringRef name) const { return has(name) && state.isGood(pathOf(name)); }
  std::string pathOf(llvm::StringRef name) const { return path.empty() ? name.str() : path + "." + name.str(); }
  const YamlNode *valueOf(llvm::StringRef name) const { return has(name) ? entries.lookup(name).value : nullptr; }
  llvm::ArrayRef<llvm::StringRef> keys() const { return order; }
  Position start() const { return at; }
  ParseState &parseState() const { return state; }

  /// Reports keys outside of `names`. A near miss of an absent name marks that field bad: the misspelling is the
  /// mistake.
  void allowOnly(Names names, llvm::StringRef what, llvm::function_ref<std::string(llvm::StringRef)> note = {});
  void missing(llvm::StringRef name, std::string also = "");
  /// Demands a key; false if it is absent, which has been reported.
  bool require(llvm::StringRef name);
  void wrongValue(llvm::StringRef name, std::string expected, std::string note = "");

  // Without a fallback the field is required.
  int64_t size(llvm::StringRef name, std::optional<int64_t> fallback = std::nullopt);
  /// A size that `next` keeps as it is; of another one it gives the smallest above that will do.
  int64_t sizeThat(llvm::StringRef name, llvm::function_ref<int64_t(int64_t)> next, std::string expected);
  Size sizeOrUnknown(llvm::StringRef name, std::string note);
  bool boolean(llvm::StringRef name, bool fallback);
  double finite(llvm::StringRef name, double fallback);
  double atLeastZero(llvm::StringRef name, double fallback);
  double positive(llvm::StringRef name, double fallback);
  /// The index of the value in `names`.
  std::optional<unsigned> choice(llvm::StringRef name, Names names);
  std::optional<Grid> pair(llvm::StringRef name);
  /// The value as a mapping. The field must be there.
  Fields submap(llvm::StringRef name, std::string what) const;

private:
  struct Entry {
    Position key;
    const YamlNode *value = nullptr;
  };
  void addEntry(const YamlNode &key, const YamlNode &value);
  double number(llvm::StringRef name, double fallback, llvm::function_ref<bool(double)> test, std::string expected);

  ParseState &state;
  std::string path, what;
  Position at;
  bool mapping;
  llvm::StringMap<Entry> entries;
  std::vector<llvm::StringRef> order; // keys as written; point into the document
};

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_FIELDS_H
