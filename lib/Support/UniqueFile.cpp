//===- UniqueFile.cpp - Files under names that nobody knows ahead -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/UniqueFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace attune {

static Error failure(const Twine &shown, const Twine &reason) {
  return createStringError("expected to write " + shown + ", but got: " + reason);
}

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }
static std::error_code lastErrorOf(int result) { return result == 0 ? std::error_code() : lastError(); }

/// Why not all of it could be written; the stream forgets it, or its destructor would end the program.
static std::error_code errorOf(raw_fd_ostream &stream) {
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

static std::error_code writeDirectly(raw_fd_ostream &stream, function_ref<void(raw_ostream &)> write) {
  write(stream);
  return errorOf(stream);
}

//===----------------------------------------------------------------------===//
// UniqueFile
//===----------------------------------------------------------------------===//

UniqueFile::UniqueFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), removal_(SignalRemoval(path_)) {}

UniqueFile::UniqueFile(UniqueFile &&other)
    : path_(std::exchange(other.path_, "")), descriptor_(std::exchange(other.descriptor_, -1)),
      removal_(std::move(other.removal_)) {}

UniqueFile::~UniqueFile() {
  (void)close();
  if (!path_.empty())
    (void)sys::fs::remove(path_);
}

/// Names are drawn until one is new: O_EXCL takes no file and follows no link that somebody has put there.
Expected<UniqueFile> UniqueFile::create(StringRef folder, StringRef ending, unsigned mode, StringRef shown) {
  for (int tries = 0; tries < 100; ++tries) {
    uint64_t drawn = uint64_t(sys::Process::GetRandomNumber()) << 32 | sys::Process::GetRandomNumber();
    SmallString<128> path(folder);
    sys::path::append(path, ".attune-" + utohexstr(drawn, /*LowerCase=*/true) + ending);
    int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno == EEXIST)
      continue;
    if (descriptor < 0)
      return failure(shown, lastError().message());
    return UniqueFile(path.str().str(), descriptor);
  }
  return failure(shown, "no name that is free");
}

static bool mayWrite(const Twine &path) { return ::faccessat(AT_FDCWD, path.str().c_str(), W_OK, AT_EACCESS) == 0; }

Expected<UniqueFile> UniqueFile::beside(StringRef place, unsigned mode) {
  StringRef folder = sys::path::parent_path(place);
  folder = folder.empty() ? "." : folder;
  return mayWrite(folder) || !mayWrite(place) ? create(folder, "", mode, place) : temporary("draft");
}

/// Whether nobody but this user, root and the folder's owner can rename what lies in it.
static bool keepsFiles(StringRef folder) {
  struct stat facts;
  return ::stat(folder.str().c_str(), &facts) != 0 || !(facts.st_mode & (S_IWGRP | S_IWOTH)) ||
         (facts.st_mode & S_ISVTX);
}

static Expected<std::string> temporaryFolder() {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  if (keepsFiles(folder))
    return folder.str().str();
  return createStringError("expected a folder for temporary files that only you may write, or with the sticky bit, but "
                           "got " +
                           folder + "; set TMPDIR to another, or chmod go-w " + folder);
}

Expected<UniqueFile> UniqueFile::temporary(StringRef ending) {
  Expected<std::string> folder = temporaryFolder();
  if (!folder)
    return folder.takeError();
  return create(*folder, "." + ending.str(), 0600, "a temporary file in " + *folder);
}

std::string UniqueFile::read() const {
  auto buffer = MemoryBuffer::getFile(path_, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

Error UniqueFile::write(StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return failure(path_, lastError().message());
    bytes = bytes.drop_front(std::max<ssize_t>(written, 0));
  }
  return Error::success();
}

/// Whether no file can take the place of what is there: in a folder that may not be written or that lies on another
/// disk, or of a file that is mounted on its own.
static bool keepsItsPlace(std::error_code renaming) {
  for (std::errc reason :
       {std::errc::cross_device_link, std::errc::permission_denied, std::errc::operation_not_permitted,
        std::errc::read_only_file_system, std::errc::device_or_resource_busy})
    if (renaming == reason)
      return true;
  return false;
}

/// The content of a file that is whole, into another that stays the one it is.
static std::error_code copyInto(const Twine &place, StringRef content) {
  int descriptor = ::open(place.str().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0)
    return lastError();
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  return writeDirectly(stream, [&](raw_ostream &os) { os << content; });
}

std::error_code UniqueFile::close() {
  int open = std::exchange(descriptor_, -1);
  return open >= 0 && ::close(open) != 0 ? lastError() : std::error_code();
}

Error UniqueFile::moveTo(StringRef place) {
  struct stat former;
  std::error_code code;
  bool taken = ::stat(place.str().c_str(), &former) == 0;
  if (taken && !S_ISREG(former.st_mode))
    return failure(place, "a folder or a device there");
  if (taken && !mayWrite(place)) // renaming would not ask
    return failure(place, lastError().message());
  if (taken && ::chmod(path_.c_str(), former.st_mode & 07777) != 0)
    code = lastError();
  if (!code)
    code = close(); // what the disk had no room for may be said only now
  if (!code)
    code = lastErrorOf(::rename(path_.c_str(), place.str().c_str()));
  if (code && taken && keepsItsPlace(code)) {
    code = copyInto(place, read());
    return code ? failure(place, code.message()) : Error::success(); // the draft goes with its scope
  }
  if (code)
    return failure(place, code.message());
  removal_.reset();
  path_.clear();
  return Error::success();
}

Expected<UniqueFolder> UniqueFolder::temporary() {
  Expected<std::string> folder = temporaryFolder();
  if (!folder)
    return folder.takeError();
  std::string path = *folder + "/.attune-XXXXXX";
  if (!::mkdtemp(path.data()))
    return failure("a temporary folder in " + *folder, lastError().message());
  return UniqueFolder(path);
}

UniqueFolder::UniqueFolder(const std::string &path) : file_(path + "/file"), fileRemoval(file_), folderRemoval(path) {}

UniqueFolder::~UniqueFolder() {
  if (!file_.empty()) // not one that was moved from
    (void)sys::fs::remove_directories(sys::path::parent_path(file_));
}

//===----------------------------------------------------------------------===//
// writeFile
//===----------------------------------------------------------------------===//

std::string throughLinks(StringRef path) {
  SmallString<256> place(path);
  for (int links = 0; links < 40; ++links) { // as many as the system follows
    char target[4096];
    ssize_t length = ::readlink(place.c_str(), target, sizeof(target));
    if (length < 0)
      return place.str().str();
    if (target[0] != '/')
      sys::path::remove_filename(place);
    else
      place.clear();
    sys::path::append(place, StringRef(target, length));
  }
  return path.str();
}

Error writeFile(StringRef path, function_ref<void(raw_ostream &)> write) {
  std::error_code code;
  std::string place = throughLinks(path);
  if (path == "-") {
    code = writeDirectly(outs(), write);
  } else if (sys::fs::exists(place) && !sys::fs::is_regular_file(place)) {
    raw_fd_ostream stream(place, code);
    code = code ? code : writeDirectly(stream, write);
  } else {
    Expected<UniqueFile> file = UniqueFile::beside(place);
    if (!file)
      return file.takeError();
    raw_fd_ostream stream(file->descriptor(), /*shouldClose=*/false);
    code = writeDirectly(stream, write);
    if (!code)
      return file->moveTo(place);
  }
  return code ? failure(path == "-" ? "standard output" : path, code.message()) : Error::success();
}

} // namespace attune
