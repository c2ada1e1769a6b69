//===- CleanUp.cpp - What goes when a signal ends the program -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/CleanUp.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace attune {

/// A handler may neither allocate nor lock, so paths stand in slots of their own; a compilation has a few at a time.
static std::atomic<char *> slots[64];

SignalRemoval::SignalRemoval(llvm::StringRef text) : path(::strdup(text.str().c_str())) {
  for (std::atomic<char *> &slot : slots)
    if (char *empty = nullptr; slot.compare_exchange_strong(empty, path))
      return;
  std::free(std::exchange(path, nullptr));
}

SignalRemoval::SignalRemoval(SignalRemoval &&other) : path(std::exchange(other.path, nullptr)) {}

/// What is in no slot is in use by a handler, and the program is about to end.
SignalRemoval::~SignalRemoval() {
  for (std::atomic<char *> &slot : slots)
    if (char *mine = path; mine && slot.compare_exchange_strong(mine, nullptr)) {
      std::free(path);
      return;
    }
}

static std::atomic<pid_t> groups[64];

SignalEnd::SignalEnd(pid_t group) : group(group) {
  for (std::atomic<pid_t> &slot : groups)
    if (pid_t empty = 0; slot.compare_exchange_strong(empty, group))
      return;
}

SignalEnd::~SignalEnd() {
  for (std::atomic<pid_t> &slot : groups)
    if (pid_t mine = group; slot.compare_exchange_strong(mine, 0))
      return;
}

static constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction former[std::size(ending)];

/// A path is out of its slot while it is used, so that nobody frees it. Files first, so that folders are empty.
void removeAll() {
  for (std::atomic<pid_t> &slot : groups)
    if (pid_t group = slot.exchange(0))
      ::kill(-group, SIGKILL);
  for (bool folders : {false, true})
    for (std::atomic<char *> &slot : slots)
      if (char *path = slot.exchange(nullptr), *empty = nullptr;
          path && (folders ? ::rmdir(path) : ::unlink(path)) != 0)
        (void)slot.compare_exchange_strong(empty, path);
}

/// The signal then does what it would without this handler.
static void handle(int signal) {
  removeAll();
  for (size_t i = 0; i < std::size(ending); ++i)
    ::sigaction(ending[i], &former[i], nullptr);
  ::raise(signal);
}

void removeOnSignals() {
  struct sigaction action = {};
  action.sa_handler = handle;
  for (size_t i = 0; i < std::size(ending); ++i) {
    ::sigaction(ending[i], nullptr, &former[i]);
    if (former[i].sa_handler != SIG_IGN) // as nohup asks
      ::sigaction(ending[i], &action, nullptr);
  }
}

} // namespace attune
