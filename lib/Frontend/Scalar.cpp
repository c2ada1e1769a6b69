//===- Scalar.cpp - The value of a YAML scalar ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Scalar.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

namespace attune {

bool ScalarValue::isSize() const { return type == Int && integer && *integer >= 1 && *integer <= INT32_MAX; }

static size_t takeDigits(llvm::StringRef &text) {
  size_t count = text.take_while(llvm::isDigit).size();
  text = text.drop_front(count);
  return count;
}

static void takeSign(llvm::StringRef &text) {
  if (text.starts_with("-") || text.starts_with("+"))
    text = text.drop_front();
}

/// Int for [-+]?[0-9]+, Float for [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, String for the rest.
static ScalarValue::Type typeOfPlain(llvm::StringRef text) {
  takeSign(text);
  size_t whole = takeDigits(text);
  if (whole && text.empty())
    return ScalarValue::Int;
  bool point = text.consume_front(".");
  size_t fraction = point ? takeDigits(text) : 0;
  if (!whole && !fraction)
    return ScalarValue::String;
  if (text.consume_front("e") || text.consume_front("E")) {
    takeSign(text);
    if (!takeDigits(text))
      return ScalarValue::String;
  }
  return text.empty() ? ScalarValue::Float : ScalarValue::String;
}

ScalarValue scalarOf(const YamlNode &node) {
  ScalarValue result;
  if (node.kind != YamlNode::Scalar)
    return result;
  result.string = node.text;
  result.type = ScalarValue::String;
  if (node.quoted)
    return result;
  if (node.text == "true" || node.text == "false") {
    result.type = ScalarValue::Bool;
    result.truth = node.text == "true";
    return result;
  }
  result.type = typeOfPlain(node.text);
  if (result.isNumber())
    result.number = std::strtod(node.text.c_str(), nullptr);
  int64_t integer;
  llvm::StringRef digits = node.text;
  digits.consume_front("+");
  if (result.type == ScalarValue::Int && !digits.getAsInteger(10, integer))
    result.integer = integer;
  return result;
}

} // namespace attune
