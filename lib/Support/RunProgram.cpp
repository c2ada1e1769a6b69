//===- RunProgram.cpp - Programs that the compiler starts ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/RunProgram.h"

#include "attune/Support/UniqueFile.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <csignal>
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

/// Looks at the child again and again, each time after a sixteenth of the time that it has taken so far: an alarm, as
/// LLVM's own wait sets it, reaches any thread of the process and takes the place of the caller's.
static std::optional<sys::ProcessInfo> waitUntil(const sys::ProcessInfo &child, unsigned seconds, std::string &reason) {
  constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(100), longest = std::chrono::milliseconds(50);
  Clock::time_point start = Clock::now();
  while (true) {
    sys::ProcessInfo ended = sys::Wait(child, /*SecondsToWait=*/0, &reason, nullptr, /*Polling=*/true);
    if (ended.Pid != 0)
      return ended;
    std::chrono::nanoseconds taken = Clock::now() - start;
    if (taken >= std::chrono::seconds(seconds))
      return std::nullopt;
    std::this_thread::sleep_for(std::clamp(taken / 16, shortest, longest));
  }
}

static void end(const sys::ProcessInfo &child) {
  ::kill(child.Pid, SIGKILL);
  sys::Wait(child, std::nullopt);
}

Expected<ProgramRun> runProgram(ArrayRef<StringRef> command, std::optional<unsigned> seconds) {
  Expected<unsigned> limit = seconds ? Expected<unsigned>(*seconds) : toolSeconds();
  if (!limit)
    return limit.takeError();
  Expected<UniqueFile> log = UniqueFile::temporary("log");
  if (!log)
    return log.takeError();
  std::optional<StringRef> streams[] = {StringRef(), log->path(), log->path()};
  std::string reason;
  bool unable = false;
  sys::ProcessInfo child =
      sys::ExecuteNoWait(command.front(), command, std::nullopt, streams, /*MemoryLimit=*/0, &reason, &unable);
  if (unable)
    return createStringError("expected " + command.front() + " to start, but got: " + reason);
  std::optional<sys::ProcessInfo> ended = waitUntil(child, *limit, reason);
  if (!ended) {
    end(child);
    return createStringError("expected " + command.front() + " to end within " + Twine(*limit) +
                             " s, but it did not; if it needs longer, set " + variable + " to more seconds");
  }
  if (ended->ReturnCode < 0) // LLVM's codes for a program that did not start or that a signal ended
    return createStringError("expected " + command.front() + " to end by itself, but got: " + reason);
  return ProgramRun{ended->ReturnCode, log->read()};
}

} // namespace attune
