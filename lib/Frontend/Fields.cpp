//===- Fields.cpp - Typed reading of a mapping ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fields.h"

#include "llvm/ADT/SmallVector.h"

#include <cmath>

namespace attune {

bool ParseState::isGood(llvm::StringRef path) const {
  for (;;) {
    if (bad.contains(path))
      return false;
    size_t cut = path.find_last_of(".[");
    if (cut == llvm::StringRef::npos)
      return true;
    path = path.take_front(cut);
  }
}

Fields::Fields(ParseState &state, const YamlNode &node, std::string path, std::string what)
    : state(state), path(std::move(path)), what(std::move(what)), at(node.at), mapping(node.kind == YamlNode::Mapping) {
  if (mapping) {
    for (const auto &[key, value] : node.entries)
      addEntry(key, value);
    return;
  }
  state.markBad(this->path);
  if (node.kind != YamlNode::Refused)
    state.error(at, "a mapping (" + this->what + ")", show(node), "write `key: value` lines under it, or {key: value}");
}

void Fields::addEntry(const YamlNode &key, const YamlNode &value) {
  if (key.kind != YamlNode::Scalar) {
    if (key.kind != YamlNode::Refused)
      state.error(key.at, "a key", show(key), "a key is a single word");
    return;
  }
  std::string place = pathOf(key.text);
  auto [found, isNew] = entries.try_emplace(key.text, Entry{key.at, &value});
  if (!isNew) {
    state.error(key.at, quoted(key.text) + " once",
                "it again (first on line " + std::to_string(found->second.key.line) + ")", "remove one of the two");
    state.markBad(place); // which of the two is meant is not known
    return;
  }
  order.push_back(key.text);
  state.spec.places[place] = {key.at, value.at};
  if (value.kind == YamlNode::Refused)
    state.markBad(place);
}

void Fields::allowOnly(Names names, llvm::StringRef what, llvm::function_ref<std::string(llvm::StringRef)> note) {
  llvm::SmallVector<llvm::StringRef> absent;
  for (llvm::StringRef name : names)
    if (!has(name))
      absent.push_back(name);
  for (llvm::StringRef key : order) {
    if (llvm::is_contained(names, key))
      continue;
    std::string hint = note ? note(key) : "";
    llvm::StringRef meant = hint.empty() ? findNearMiss(key, absent) : "";
    if (!meant.empty()) {
      state.markBad(pathOf(meant));
      hint = ("did you mean '" + meant + "'?").str();
    }
    state.error(entries.lookup(key).key, "one of " + joinNames(names) + " in " + what.str(), quoted(key),
                hint.empty() ? "remove it" : hint);
  }
}

void Fields::missing(llvm::StringRef name, std::string also) {
  bool known = !state.isGood(pathOf(name));
  state.markBad(pathOf(name));
  if (!known)
    state.error(at, ("key '" + name + "' in " + what).str() + also, "none", ("add `" + name + ": …` here").str());
}

bool Fields::require(llvm::StringRef name) {
  if (!has(name))
    missing(name);
  return has(name);
}

void Fields::wrongValue(llvm::StringRef name, std::string expected, std::string note) {
  const YamlNode &value = *valueOf(name);
  bool known = value.kind == YamlNode::Refused;
  state.markBad(pathOf(name));
  if (!known)
    state.error(value.at, std::move(expected), show(value), std::move(note));
}

/// Why a value that looks like an integer is none, for a note.
static std::string integerNote(const YamlNode &node) {
  if (node.kind == YamlNode::Scalar && node.quoted)
    return "remove the quotes";
  return "write an integer from 1 to 2147483647";
}

int64_t Fields::size(llvm::StringRef name, std::optional<int64_t> fallback) {
  if (!has(name)) {
    if (!fallback)
      missing(name);
    return fallback.value_or(1);
  }
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.isSize())
    return *value.integer;
  wrongValue(name, ("a positive integer for '" + name + "'").str(), integerNote(*valueOf(name)));
  return fallback.value_or(1);
}

int64_t Fields::sizeThat(llvm::StringRef name, llvm::function_ref<int64_t(int64_t)> next, std::string expected) {
  if (!require(name))
    return 1;
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.isSize() && next(*value.integer) == *value.integer)
    return *value.integer;
  int64_t closest = value.isSize() ? next(*value.integer) : 0;
  wrongValue(name, expected + (" for '" + name + "'").str(),
             closest == 0                                ? integerNote(*valueOf(name))
             : closest > 0 && closest <= INT32_MAX ? "the next that will do is " + std::to_string(closest)
                                                         : "none that will do is as large: take a smaller one");
  return 1;
}

Size Fields::sizeOrUnknown(llvm::StringRef name, std::string note) {
  if (!require(name))
    return std::nullopt;
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.isSize())
    return *value.integer;
  if (value.type != ScalarValue::String || value.string != "?")
    wrongValue(name, ("a positive integer or '?' for '" + name + "'").str(),
               value.type == ScalarValue::String && value.string != "" ? integerNote(*valueOf(name)) : note);
  return std::nullopt;
}

bool Fields::boolean(llvm::StringRef name, bool fallback) {
  if (!has(name))
    return fallback;
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.type == ScalarValue::Bool)
    return value.truth;
  bool quotes = valueOf(name)->quoted;
  wrongValue(name, ("true or false for '" + name + "'").str(),
             quotes ? "remove the quotes" : suggestionNote(value.string, {"true", "false"}, "write true or false"));
  return fallback;
}

double Fields::number(llvm::StringRef name, double fallback, llvm::function_ref<bool(double)> test,
                      std::string expected) {
  if (!has(name))
    return fallback;
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.isNumber() && std::isfinite(value.number) && test(value.number))
    return value.number;
  wrongValue(name, expected + (" for '" + name + "'").str(),
             valueOf(name)->quoted ? "remove the quotes" : "write a number such as 0.125 or 1e-6");
  return fallback;
}

double Fields::finite(llvm::StringRef name, double fallback) {
  return number(name, fallback, [](double) { return true; }, "a finite number");
}

double Fields::atLeastZero(llvm::StringRef name, double fallback) {
  return number(name, fallback, [](double x) { return x >= 0; }, "a number >= 0");
}

double Fields::positive(llvm::StringRef name, double fallback) {
  return number(name, fallback, [](double x) { return x > 0; }, "a number > 0");
}

std::optional<unsigned> Fields::choice(llvm::StringRef name, Names names) {
  if (!require(name))
    return std::nullopt;
  ScalarValue value = scalarOf(*valueOf(name));
  if (value.type == ScalarValue::String)
    for (unsigned i = 0; i < names.size(); ++i)
      if (names[i] == value.string)
        return i;
  wrongValue(name, "one of " + joinNames(names) + (" for '" + name + "'").str(),
             suggestionNote(value.string, names, "choose one of them"));
  return std::nullopt;
}

std::optional<Grid> Fields::pair(llvm::StringRef name) {
  if (!require(name))
    return std::nullopt;
  const YamlNode &node = *valueOf(name);
  if (node.kind != YamlNode::Sequence || node.items.size() != 2) {
    wrongValue(name, ("a list of two positive integers for '" + name + "'").str(), "write [rows, columns]");
    return std::nullopt;
  }
  Grid result;
  for (unsigned i = 0; i < 2; ++i) {
    const YamlNode &item = node.items[i];
    ScalarValue value = scalarOf(item);
    std::string place = pathOf(name) + "[" + std::to_string(i) + "]";
    state.spec.places[place] = {item.at, item.at};
    result[i] = value.isSize() ? *value.integer : 1;
    if (value.isSize())
      continue;
    state.markBad(pathOf(name));
    if (item.kind != YamlNode::Refused)
      state.error(item.at, ("a positive integer in '" + name + "'").str(), show(item), integerNote(item));
  }
  return result;
}

Fields Fields::submap(llvm::StringRef name, std::string what) const {
  return Fields(state, *valueOf(name), pathOf(name), std::move(what));
}

} // namespace attune
