//===- UniqueFileTest.cpp - Files that are there whole or not at all ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/UniqueFile.h"
#include "attune/Support/TensorFiles.h"

#include "TemporaryFolder.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune;
using testing::HasSubstr;

namespace {

std::string written(llvm::StringRef path, llvm::StringRef text) {
  return llvm::toString(writeFile(path, [&](llvm::raw_ostream &os) { os << text; }));
}

std::string contentOf(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "none";
}

std::vector<std::string> filesIn(llvm::StringRef folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(folder, code), end; at != end && !code; at.increment(code))
    names.push_back(llvm::sys::path::filename(at->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

unsigned modeOf(const std::string &path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

/// $TMPDIR as long as it lives.
struct TemporaryVariable {
  std::optional<std::string> former = llvm::sys::Process::GetEnv("TMPDIR");
  explicit TemporaryVariable(const std::string &folder) { ::setenv("TMPDIR", folder.c_str(), 1); }
  ~TemporaryVariable() { former ? ::setenv("TMPDIR", former->c_str(), 1) : ::unsetenv("TMPDIR"); }
};

} // namespace

TEST(WriteFile, TakesThePlaceOfAFileAndItsMode) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_EQ(written(path, "after"), "");
  EXPECT_EQ(contentOf(path), "after");
  EXPECT_EQ(modeOf(path), 0640u);
  EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{"a"});
}

TEST(WriteFile, KeepsWhatMayNotBeWritten) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write everything";
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before");
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_EQ(written(path, "after"), "expected to write " + path + ", but got: Permission denied");
  EXPECT_EQ(contentOf(path), "before");
}

TEST(WriteFile, GoesWhereALinkPoints) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before"), link = folder.file("link");
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_EQ(written(link, "after"), "");
  EXPECT_EQ(contentOf(path), "after");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
}

TEST(WriteFile, GoesWhereALinkPointsThatIsNotThereYet) {
  TemporaryFolder folder;
  std::string link = folder.file("link");
  ASSERT_EQ(::symlink("later", link.c_str()), 0);
  EXPECT_EQ(written(link, "text"), "");
  EXPECT_EQ(contentOf(folder.file("later")), "text");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
}

/// What a child does with no rights of its own that a folder's mode does not give; whether it did.
static bool asNobody(llvm::function_ref<bool()> body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit((::geteuid() != 0 || ::setuid(65534) == 0) && body() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(WriteFile, WritesAFileWhoseFolderMayNotBeWritten) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before");
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder.str().c_str(), 0555), 0);
  EXPECT_TRUE(asNobody([&] { return written(path, "after").empty(); }));
  EXPECT_EQ(contentOf(path), "after");
  EXPECT_EQ(modeOf(path), 0666u);
  EXPECT_TRUE(asNobody([&] { // a new one
    return written(folder.file("b"), "b") == "expected to write " + folder.file("b") + ", but got: Permission denied";
  }));
  ASSERT_EQ(::chmod(folder.str().c_str(), 0755), 0);
  EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{"a"});
}

/// As containers do it with single files.
TEST(WriteFile, WritesAFileThatIsMountedOnItsOwn) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before"), under = folder.fileOf("under", "before");
  pid_t child = ::fork();
  if (child == 0) {
    bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                   ::mount(path.c_str(), under.c_str(), nullptr, MS_BIND, nullptr) == 0;
    ::_exit(!mounted ? 2 : written(under, "after").empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
    GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contentOf(path), "after");
  EXPECT_EQ(filesIn(folder.str()), (std::vector<std::string>{"a", "under"}));
}

TEST(WriteFile, TakesNamesOfAllKinds) {
  TemporaryFolder folder;
  for (llvm::StringRef name : {"100%%%%%%%%", "with space", "w\xc3\xaft", "line\nbreak", "$(x)"}) {
    ASSERT_FALSE(llvm::sys::fs::create_directory(folder.file(name)));
    EXPECT_EQ(written(folder.file(name) + "/" + name.str(), "text"), "");
    EXPECT_EQ(contentOf(folder.file(name) + "/" + name.str()), "text");
  }
}

TEST(WriteFile, SaysWhyNot) {
  TemporaryFolder folder;
  EXPECT_EQ(written("/dev/full", "text"), "expected to write /dev/full, but got: No space left on device");
  EXPECT_EQ(written("/dev/null", "text"), "");
  EXPECT_THAT(written(folder.file("absent/a"), "text"), HasSubstr("absent/a, but got: No such file or directory"));
  EXPECT_THAT(written(folder.str(), "text"), HasSubstr(folder.str() + ", but got: Is a directory"));
}

/// A full disk, as a limit on the sizes of files.
TEST(WriteFile, LeavesWhatWasThereWhereAllOfItDoesNotFit) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("a", "before");
  struct rlimit former;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &former), 0);
  struct rlimit small = {1000, former.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message = written(path, std::string(100000, 'x'));
  std::string tensorMessage =
      llvm::toString(writeNpy(folder.file("t.npy"), HostTensor::zeros(ElementType::F32, {10000})));
  ::setrlimit(RLIMIT_FSIZE, &former);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("/a, but got: File too large"));
  EXPECT_THAT(tensorMessage, HasSubstr("t.npy, but got: File too large"));
  EXPECT_EQ(contentOf(path), "before");
  EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{"a"});
}

/// A link under a name that somebody could know ahead leads to a file that is not to be written.
TEST(WriteFile, NobodyKnowsTheNameOfTheDraft) {
  TemporaryFolder folder;
  std::string dear = folder.fileOf("dear", "kept");
  ASSERT_EQ(::symlink(dear.c_str(), folder.file("t.npy.part").c_str()), 0);
  ASSERT_FALSE(llvm::errorToBool(writeNpy(folder.file("t.npy"), HostTensor::zeros(ElementType::F32, {1}))));
  EXPECT_EQ(contentOf(dear), "kept");
}

TEST(UniqueFile, IsThisUsersAndGoesWithItsScope) {
  TemporaryFolder folder;
  TemporaryVariable variable(folder.str());
  mode_t former = ::umask(0);
  {
    llvm::Expected<UniqueFile> file = UniqueFile::temporary("o");
    ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
    EXPECT_EQ(modeOf(file->path().str()), 0600u);
    EXPECT_FALSE(llvm::errorToBool(file->write("text")));
    EXPECT_EQ(file->read(), "text");
    llvm::Expected<UniqueFolder> below = UniqueFolder::temporary();
    ASSERT_TRUE(static_cast<bool>(below)) << llvm::toString(below.takeError());
    EXPECT_EQ(modeOf(llvm::sys::path::parent_path(below->file()).str()), 0700u);
    EXPECT_EQ(written(below->file(), "text"), "");
    EXPECT_EQ(filesIn(folder.str()).size(), 2u);
  }
  ::umask(former);
  EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{});
}

TEST(UniqueFile, NeedsAFolderInWhichItStays) {
  TemporaryFolder folder;
  TemporaryVariable variable(folder.str());
  for (unsigned mode : {0777, 0770, 0702}) {
    ASSERT_EQ(::chmod(folder.str().c_str(), mode), 0);
    std::string message = messageOf(UniqueFile::temporary("o"));
    EXPECT_THAT(message, HasSubstr("expected a folder for temporary files that only you may write"));
    EXPECT_THAT(message, HasSubstr("set TMPDIR to another"));
  }
  ASSERT_EQ(::chmod(folder.str().c_str(), 01777), 0);
  EXPECT_TRUE(static_cast<bool>(UniqueFile::temporary("o")));
  ASSERT_EQ(::chmod(folder.str().c_str(), 0700), 0);
}

TEST(UniqueFile, DoesNotTakeThePlaceOfADevice) {
  TemporaryFolder folder;
  llvm::Expected<UniqueFile> file = UniqueFile::beside(folder.file("a"));
  ASSERT_TRUE(static_cast<bool>(file));
  EXPECT_THAT(llvm::toString(file->moveTo("/dev/null")), HasSubstr("/dev/null, but got: a folder or a device there"));
  EXPECT_EQ(llvm::toString(file->moveTo(folder.file("a"))), "");
  EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{"a"});
}

TEST(UniqueFile, GoesWithASignal) {
  TemporaryFolder folder;
  TemporaryVariable variable(folder.str());
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    pid_t child = ::fork();
    if (child == 0) {
      removeOnSignals();
      auto file = UniqueFile::temporary("o");
      auto below = UniqueFolder::temporary();
      bool made = file && below && written(below->file(), "text").empty() && filesIn(folder.str()).size() == 2;
      if (made)
        ::raise(signal);
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(filesIn(folder.str()), std::vector<std::string>{});
  }
}
