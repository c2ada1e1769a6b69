//===- Opening.cpp - A file is read within a time ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Opening.h"

#include "Commands.h"

#include "attune/Support/CleanUp.h"
#include "attune/Support/RunProgram.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace attune;
using namespace attune::attnc;

namespace {

/// Ends the program with a message unless it is destroyed in time.
class Deadline {
public:
  Deadline(unsigned seconds, std::string message)
      : message(std::move(message)), watch([this, seconds] { wait(std::chrono::seconds(seconds)); }) {}
  Deadline(const Deadline &) = delete;
  ~Deadline() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      met = true;
    }
    changed.notify_one();
    watch.join();
  }

private:
  void wait(std::chrono::seconds limit) {
    std::unique_lock<std::mutex> lock(mutex);
    if (changed.wait_for(lock, limit, [this] { return met; }))
      return;
    // Nothing of what the reader uses is touched.
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    removeAll();
    ::_exit(Wrong);
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool met = false;
  std::string message;
  std::thread watch; // last: it uses all of the others
};

} // namespace

std::unique_ptr<Compilation> attune::attnc::openWithin(const std::string &path, llvm::StringRef target, int &status) {
  llvm::Expected<unsigned> seconds = toolSeconds();
  if (!seconds) {
    status = fail(seconds.takeError(), Wrong);
    return nullptr;
  }
  std::string number = std::to_string(*seconds);
  Deadline deadline(*seconds, path + ":1:1: error: expected a file that can be read within " + number +
                                  " s, but it was not; it may be broken bytecode; if it needs longer, set "
                                  "ATTUNE_TOOL_SECONDS to more seconds\n");
  return Compilation::open(path, target, status);
}
