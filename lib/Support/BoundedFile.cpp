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
  if (known && S_ISREG(facts.st_mode))
    return BoundedFile(path, descriptor, facts.st_size);
  ::close(descriptor);
  return failAt(path, "expected a tensor file, but got a folder or a device");
}

BoundedFile::~BoundedFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

llvm::Error BoundedFile::read(int64_t offset, char *out, int64_t count) const {
  if (offset < 0 || count < 0 || offset > size_ || count > size_ - offset)
    return fail("expected " + llvm::Twine(count) + " bytes at " + llvm::Twine(offset) + ", but got a file of " +
                llvm::Twine(size_));
  for (int64_t done = 0; done < count;) {
    ssize_t more = ::pread(descriptor_, out + done, count - done, offset + done);
    if (more == 0)
      return fail("expected " + llvm::Twine(count) + " readable bytes, but got an early end");
    if (more < 0 && errno != EINTR)
      return fail("expected " + llvm::Twine(count) + " readable bytes, but got " + std::strerror(errno));
    done += std::max<ssize_t>(more, 0);
  }
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
