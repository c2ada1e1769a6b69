//===- RunProgramTest.cpp - Programs that end, or are ended -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/RunProgram.h"

#include "attune/Support/CleanUp.h"

#include "TemporaryFolder.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attune;
using testing::HasSubstr;

static llvm::Expected<ProgramRun> shell(llvm::StringRef text, std::optional<unsigned> seconds = std::nullopt) {
  return runProgram({"/bin/sh", "-c", text}, seconds);
}

TEST(RunProgram, GivesTheStatusAndWhatWasSaid) {
  llvm::Expected<ProgramRun> run = shell("echo out; echo err >&2; read nothing; exit 3");
  ASSERT_TRUE(static_cast<bool>(run)) << llvm::toString(run.takeError());
  EXPECT_EQ(run->status, 3);
  EXPECT_EQ(run->said, "out\nerr\n");
}

TEST(RunProgram, EndsOneThatTakesTooLong) {
  std::string message = messageOf(shell("exec sleep 600", 1));
  EXPECT_EQ(message,
            "expected /bin/sh to end within 1 s, but it did not; if it needs longer, set ATTUNE_TOOL_SECONDS to more "
            "seconds");
  std::string elsewhere;
  std::thread([&] { elsewhere = messageOf(shell("exec sleep 600", 1)); }).join();
  EXPECT_EQ(elsewhere, message);
}

TEST(RunProgram, SaysWhatBecameOfIt) {
  EXPECT_THAT(messageOf(runProgram({"/nowhere/ld"})), HasSubstr("expected /nowhere/ld to "));
  EXPECT_THAT(messageOf(shell("kill -9 $$")), HasSubstr("expected /bin/sh to end by itself, but got: Killed"));
}

/// What a caller has asked for comes to the caller.
TEST(RunProgram, LeavesAlarmsAndTheirHandlerAlone) {
  static volatile sig_atomic_t rung;
  rung = 0;
  auto former = std::signal(SIGALRM, [](int) { rung = 1; });
  ::alarm(1);
  llvm::Expected<ProgramRun> run = shell("sleep 2");
  EXPECT_TRUE(static_cast<bool>(run)) << llvm::toString(run.takeError());
  EXPECT_EQ(rung, 1);
  ::alarm(0);
  std::signal(SIGALRM, former);
}

TEST(RunProgram, EndsWhatTheProgramStarted) {
  TemporaryFolder folder;
  std::string message = messageOf(shell("(sleep 2; echo late > " + folder.file("late") + ") & wait", 1));
  EXPECT_THAT(message, HasSubstr("within 1 s"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_FALSE(llvm::sys::fs::exists(folder.file("late")));
}

/// A signal that ends this program reaches what it has started, which is in no terminal's group.
TEST(RunProgram, EndsThemWithASignal) {
  TemporaryFolder folder;
  pid_t child = ::fork();
  if (child == 0) {
    removeOnSignals();
    std::thread([] { ::sleep(1), ::kill(::getpid(), SIGTERM); }).detach();
    llvm::consumeError(shell("sleep 3; echo late > " + folder.file("late")).takeError());
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  ::sleep(3);
  EXPECT_FALSE(llvm::sys::fs::exists(folder.file("late")));
}

TEST(RunProgram, SaysSoWhereTheHostCollectsItsChildren) {
  auto former = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THAT(messageOf(shell("exit 0")),
              HasSubstr("but got: no word of how it ended (No child processes); this process must"));
  std::signal(SIGCHLD, former);
}

TEST(RunProgram, TakesItsLimitFromTheEnvironment) {
  for (const char *wrong : {"", "0", "-1", "1e3", "86401", "99999999999999999999", "ten"}) {
    ::setenv("ATTUNE_TOOL_SECONDS", wrong, 1);
    EXPECT_EQ(messageOf(shell("true")),
              "ATTUNE_TOOL_SECONDS: expected 1 to 86400 seconds, but got '" + std::string(wrong) + "'");
  }
  ::setenv("ATTUNE_TOOL_SECONDS", "1", 1);
  EXPECT_THAT(messageOf(shell("exec sleep 600")), HasSubstr("within 1 s"));
  ::unsetenv("ATTUNE_TOOL_SECONDS");
  EXPECT_EQ(llvm::cantFail(toolSeconds()), 120u);
}
