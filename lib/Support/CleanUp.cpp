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

SignalRemoval::~SignalRemoval() {
  for (std::atomic<char *> &slot : slots)
    if (char *mine = path; mine && slot.compare_exchange_strong(mine, nullptr))
      break;
  std::free(path);
}

static constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction former[std::size(ending)];

/// Files first, so that folders are empty.
void removeAll() {
  for (bool folders : {false, true})
    for (std::atomic<char *> &slot : slots)
      if (const char *path = slot.load())
        (void)(folders ? ::rmdir(path) : ::unlink(path));
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
