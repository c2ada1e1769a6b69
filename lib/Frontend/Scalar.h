//===- Scalar.h - The value of a YAML scalar -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_SCALAR_H
#define ATTUNE_LIB_FRONTEND_SCALAR_H

#include "YamlTree.h"

#include <optional>

namespace attune {

/// A scalar by the part of YAML 1.2's core schema that a spec uses: true, false, decimal integers, decimal numbers, and
/// strings for the rest. A node that is no scalar has type None.
struct ScalarValue {
  enum Type { None, Bool, Int, Float, String };
  Type type = None;
  bool truth = false;
  std::optional<int64_t> integer; // absent also when it does not fit 64 bits
  double number = 0;              // of an Int or Float; infinite when too large
  llvm::StringRef string;         // of a String; points into the node

  bool isNumber() const { return type == Int || type == Float; }
  /// A positive integer up to 2^31 - 1.
  bool isSize() const;
};

ScalarValue scalarOf(const YamlNode &node);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_SCALAR_H
