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

#include <sys/types.h>

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

/// A group of processes that is ended when this program is, for as long as this lives.
class SignalEnd {
public:
  explicit SignalEnd(pid_t group);
  SignalEnd(const SignalEnd &) = delete;
  ~SignalEnd();

private:
  pid_t group;
};

/// Removes all of it and ends them now. Allocates nothing.
void removeAll();

/// From now on SIGINT, SIGTERM and SIGHUP end and remove what is to go before they do what they did. For the mains of
/// programs: a library leaves signals to its host.
void removeOnSignals();

} // namespace attune

#endif // ATTUNE_SUPPORT_CLEANUP_H
