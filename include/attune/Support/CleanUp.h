//===- CleanUp.h - What goes when a signal ends the program ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_CLEANUP_H
#define ATTUNE_SUPPORT_CLEANUP_H

#include "llvm/ADT/StringRef.h"

namespace attune {

/// A file or an empty folder that a signal removes for as long as this lives: see `removeOnSignals`.
class SignalRemoval {
public:
  explicit SignalRemoval(llvm::StringRef path);
  SignalRemoval(SignalRemoval &&other);
  SignalRemoval(const SignalRemoval &) = delete;
  ~SignalRemoval();

private:
  char *path; ///< in a slot that the handler sees; null: there was none left
};

/// Removes all of it now. Allocates nothing.
void removeAll();

/// From now on SIGINT, SIGTERM and SIGHUP remove what is to be removed before they do what they did. For the mains of
/// programs: a library leaves signals to its host.
void removeOnSignals();

} // namespace attune

#endif // ATTUNE_SUPPORT_CLEANUP_H
