//===- BoundedFile.cpp - A file read with its size known -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BoundedFile.h"

#include "attune/Support/UniqueFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attune {

static llvm::Error failAt(llvm::StringRef path, const llvm::Twine &message) {
  return tensorError(path + ": error: " + message);
}

llvm::Error BoundedFile::fail(const llvm::Twine &message) const { return failAt(path_, message); }

llvm::Expected<BoundedFile> BoundedFile::open(llvm::StringRef path) {
  // Opened first, so that what is looked at is what is read; without waiting, as a pipe would have it.
  int descriptor = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failAt(path, "expected a tensor file, but got " + llvm::Twine(std::strerror(errno)));
  struct stat facts;
  bool known = ::fstat(descriptor, &facts) == 0;
  std::FILE *file = known && S_ISREG(facts.st_mode) ? ::fdopen(descriptor, "rb") : nullptr;
  if (file)
    return BoundedFile(path, file, facts.st_size);
  ::close(descriptor);
  return failAt(path, "expected a tensor file, but got a folder or a device");
}

BoundedFile::~BoundedFile() {
  if (file_)
    std::fclose(static_cast<std::FILE *>(file_));
}

llvm::Error BoundedFile::read(int64_t offset, char *out, int64_t count) {
  if (offset < 0 || count < 0 || offset > size_ || count > size_ - offset)
    return fail("expected " + llvm::Twine(count) + " bytes at " + llvm::Twine(offset) + ", but got a file of " +
                llvm::Twine(size_));
  auto *file = static_cast<std::FILE *>(file_);
  if (::fseeko(file, offset, SEEK_SET) != 0 || std::fread(out, 1, count, file) != static_cast<size_t>(count))
    return fail("expected " + llvm::Twine(count) + " readable bytes, but got an early end");
  return llvm::Error::success();
}

llvm::Error writeWhole(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::Error error = writeFile(path, [&](llvm::raw_ostream &os) {
    for (llvm::StringRef part : parts)
      os << part;
  });
  return error ? failAt(path, llvm::toString(std::move(error))) : llvm::Error::success();
}

} // namespace attune
