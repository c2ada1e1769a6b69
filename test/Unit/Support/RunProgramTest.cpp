//===- RunProgramTest.cpp - Programs that end, or are ended -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/RunProgram.h"

#include "TemporaryFolder.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <thread>

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
