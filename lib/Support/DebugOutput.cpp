//===- DebugOutput.cpp - What passes decide, on request -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/DebugOutput.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <mutex>

using namespace attune;

bool attune::namesDebugType(llvm::StringRef list, llvm::StringRef type) {
  return llvm::any_of(llvm::split(list, ','), [&](llvm::StringRef name) {
    name = name.trim();
    return name == type || name == "all";
  });
}

bool attune::isDebugged(llvm::StringRef type) {
  static const char *const list = std::getenv("ATTUNE_DEBUG");
  return list && namesDebugType(list, type);
}

DebugLine::~DebugLine() {
  static std::mutex oneAtATime;
  out << '\n';
  std::lock_guard<std::mutex> lock(oneAtATime);
  llvm::errs() << text;
}
