//===- DebugOutput.h - What passes decide, on request ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM_DEBUG is empty in builds with NDEBUG, as distributions make them. This is the same for every build: a file that
// makes a decision defines DEBUG_TYPE, the argument of its pass, after its includes, and says
//
//   ATTUNE_DEBUG() << "tiles of " << rows << " rows";
//
// Lines are printed of the types that the environment variable ATTUNE_DEBUG names (docs/Debugging.md). What stands on the
// right of `<<` is not evaluated for others.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_DEBUGOUTPUT_H
#define ATTUNE_SUPPORT_DEBUGOUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace attune {

/// Whether a list of types, separated by commas, has `type` or `all`.
bool namesDebugType(llvm::StringRef list, llvm::StringRef type);

/// Whether ATTUNE_DEBUG names `type`. The variable is read once.
bool isDebugged(llvm::StringRef type);

/// One line, "type: text", written to standard error at once when it is complete: passes run on several threads.
class DebugLine {
public:
  explicit DebugLine(llvm::StringRef type) : out(text) { out << type << ": "; }
  DebugLine(const DebugLine &) = delete;
  DebugLine &operator=(const DebugLine &) = delete;
  ~DebugLine();

  llvm::raw_ostream &stream() { return out; }

private:
  std::string text;
  llvm::raw_string_ostream out;
};

} // namespace attune

#define ATTUNE_DEBUG()                                                                                                 \
  for (bool wanted = ::attune::isDebugged(DEBUG_TYPE); wanted; wanted = false)                                         \
  ::attune::DebugLine(DEBUG_TYPE).stream()

#endif // ATTUNE_SUPPORT_DEBUGOUTPUT_H
