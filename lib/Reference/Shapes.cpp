//===- Shapes.cpp - Shapes in messages -----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

std::string reference::show(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

std::string reference::differs(llvm::StringRef what, const Array &array, llvm::ArrayRef<int64_t> shape) {
  if (array.shape() == shape)
    return "";
  return ("expected " + what + " of " + show(shape) + ", but got " + show(array.shape())).str();
}

std::string reference::doesNotDivide(llvm::StringRef what, int64_t size, llvm::StringRef of, int64_t whole) {
  if (size > 0 && whole % size == 0)
    return "";
  return ("expected " + what + " that divides " + of + " = " + std::to_string(whole) + ", but got " +
          std::to_string(size))
      .str();
}
