//===- RunProgram.cpp - Programs that the compiler starts ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/RunProgram.h"

#include "attune/Support/UniqueFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace attune {

static constexpr StringLiteral variable = "ATTUNE_TOOL_SECONDS";
static constexpr unsigned usualSeconds = 120, mostSeconds = 86400;

Expected<unsigned> toolSeconds() {
  std::optional<std::string> given = sys::Process::GetEnv(variable);
  unsigned seconds = usualSeconds;
  if (given && (StringRef(*given).getAsInteger(10, seconds) || seconds < 1 || seconds > mostSeconds))
    return createStringError(variable + ": expected 1 to " + Twine(mostSeconds) + " seconds, but got '" + *given + "'");
  return seconds;
}

/// Starts a program in a group of its own, with nothing to read, so that it can be ended with all that it starts. 0, or
/// the error.
static int start(ArrayRef<StringRef> command, int log, pid_t &child) {
  std::vector<std::string> words(command.begin(), command.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t facts;
  posix_spawn_file_actions_init(&files);
  for (int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_adddup2(&files, log, stream);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0); // last: the log may have its number
  posix_spawnattr_init(&facts);
  posix_spawnattr_setflags(&facts, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(&child, words.front().c_str(), &files, &facts, arguments.data(), environ);
  posix_spawnattr_destroy(&facts);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// Looks at the child again and again, each time after a sixteenth of the time that it has taken so far: an alarm, as
/// LLVM's own wait sets it, reaches any thread of the process and takes the place of the caller's. What waitpid says
/// of it, or nullopt where its time is over.
static std::optional<Expected<int>> waitUntil(pid_t child, unsigned seconds) {
  constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(100), longest = std::chrono::milliseconds(50);
  Clock::time_point start = Clock::now();
  while (true) {
    int status = 0;
    pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child)
      return status;
    if (ended < 0 && errno != EINTR) // a host that ignores or collects its children
      return createStringError(
          Twine("no word of how it ended (") + std::strerror(errno) +
          "); this process must neither ignore SIGCHLD nor wait for children that it did not start");
    std::chrono::nanoseconds taken = Clock::now() - start;
    if (taken >= std::chrono::seconds(seconds))
      return std::nullopt;
    std::this_thread::sleep_for(std::clamp(taken / 16, shortest, longest));
  }
}

static void end(pid_t child) {
  ::kill(-child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
}

/// The exit status in what waitpid said, or why there is none. 126 and 127 are a shell's for what it cannot start.
static Expected<int> exitStatus(int status) {
  if (WIFSIGNALED(status))
    return createStringError(Twine(::strsignal(WTERMSIG(status))) + (WCOREDUMP(status) ? " (core dumped)" : ""));
  if (WEXITSTATUS(status) == 127)
    return createStringError(std::strerror(ENOENT));
  if (WEXITSTATUS(status) == 126)
    return createStringError("Program could not be executed");
  return WEXITSTATUS(status);
}

Expected<ProgramRun> runProgram(ArrayRef<StringRef> command, std::optional<unsigned> seconds) {
  Expected<unsigned> limit = seconds ? Expected<unsigned>(*seconds) : toolSeconds();
  if (!limit)
    return limit.takeError();
  Expected<UniqueFile> log = UniqueFile::temporary("log");
  if (!log)
    return log.takeError();
  pid_t child = 0;
  if (int error = start(command, log->descriptor(), child))
    return createStringError("expected " + command.front() + " to start, but got: " + std::strerror(error));
  SignalEnd withUs(child);
  std::optional<Expected<int>> ended = waitUntil(child, *limit);
  if (!ended) {
    end(child);
    return createStringError("expected " + command.front() + " to end within " + Twine(*limit) +
                             " s, but it did not; if it needs longer, set " + variable + " to more seconds");
  }
  Expected<int> status = *ended ? exitStatus(**ended) : std::move(*ended);
  if (!status)
    return createStringError("expected " + command.front() +
                             " to end by itself, but got: " + toString(status.takeError()));
  return ProgramRun{*status, log->read()};
}

} // namespace attune
