//===- FieldIO.h - Fields that are read and written ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_FIELDIO_H
#define ATTUNE_LIB_FRONTEND_FIELDIO_H

#include "Fields.h"

namespace attune {

/// A mapping as YAML on one line: `{name: value, …}`.
class FlowMap {
public:
  FlowMap &add(llvm::StringRef name, const std::string &value) {
    text += (text.empty() ? "" : ", ") + name.str() + ": " + value;
    return *this;
  }
  bool empty() const { return text.empty(); }
  std::string str() const { return "{" + text + "}"; }

private:
  std::string text;
};

/// The shortest text that is read as the same number.
std::string yamlOf(double number);
inline std::string yamlOf(int64_t number) { return std::to_string(number); }
inline std::string yamlOf(bool flag) { return flag ? "true" : "false"; }
inline std::string yamlOf(llvm::StringRef word) { return word.str(); }
inline std::string yamlOf(const Grid &grid) { return "[" + yamlOf(grid[0]) + ", " + yamlOf(grid[1]) + "]"; }
inline std::string yamlOf(const Size &size) { return size ? yamlOf(*size) : "'?'"; }

/// Reads the fields of a mapping or writes them, so that each is named once. Written are those that have not their default.
class FieldIO {
public:
  FieldIO(Fields &in) : in(&in) {}
  FieldIO(FlowMap &out) : out(&out) {}

  /// Required.
  void size(llvm::StringRef name, int64_t &value) {
    if (in)
      value = in->size(name);
    else
      out->add(name, yamlOf(value));
  }
  void sizeThat(llvm::StringRef name, int64_t &value, llvm::function_ref<int64_t(int64_t)> next, std::string expected) {
    if (in)
      value = in->sizeThat(name, next, std::move(expected));
    else
      out->add(name, yamlOf(value));
  }
  void optional(llvm::StringRef name, std::optional<int64_t> &value) {
    visit(name, value, [&] { return in->size(name); });
  }
  void optional(llvm::StringRef name, std::optional<double> &value) {
    visit(name, value, [&] { return in->positive(name, 1); });
  }
  void optional(llvm::StringRef name, std::optional<Grid> &value) {
    visit(name, value, [&] { return in->pair(name); });
  }
  void boolean(llvm::StringRef name, bool &value, bool standard = false) { visit(name, value, standard, &Fields::boolean); }
  void finite(llvm::StringRef name, double &value, double standard) { visit(name, value, standard, &Fields::finite); }
  void atLeastZero(llvm::StringRef name, double &value, double standard) { visit(name, value, standard, &Fields::atLeastZero); }
  void positive(llvm::StringRef name, double &value, double standard) { visit(name, value, standard, &Fields::positive); }
  /// One of `names`, the first unless it is there.
  template <typename T> void choice(llvm::StringRef name, T &value, Fields::Names names) {
    if (in && in->has(name))
      value = static_cast<T>(in->choice(name, names).value_or(0));
    else if (out && value != T())
      out->add(name, names[static_cast<unsigned>(value)].str());
  }
  /// A mapping with these fields, all of which `visit` visits.
  template <typename T>
  void map(llvm::StringRef name, std::optional<T> &value, Fields::Names fields, void (*visit)(FieldIO &, T &)) {
    if (in && in->has(name)) {
      Fields mapping = in->submap(name, name.str());
      mapping.allowOnly(fields, name);
      FieldIO io(mapping);
      visit(io, value.emplace());
    } else if (out && value) {
      FlowMap mapping;
      FieldIO io(mapping);
      visit(io, *value);
      out->add(name, mapping.str());
    }
  }

  // One of the two.
  Fields *const in = nullptr;
  FlowMap *const out = nullptr;

private:
  template <typename T> void visit(llvm::StringRef name, std::optional<T> &value, auto read) {
    if (in && in->has(name))
      value = read();
    else if (out && value)
      out->add(name, yamlOf(*value));
  }
  template <typename T> void visit(llvm::StringRef name, T &value, T standard, T (Fields::*read)(llvm::StringRef, T)) {
    if (in)
      value = (in->*read)(name, standard);
    else if (value != standard)
      out->add(name, yamlOf(value));
  }
};

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_FIELDIO_H
