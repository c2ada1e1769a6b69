//===- BoundedFile.cpp - A file read with its size known -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BoundedFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace attune {

static llvm::Error failAt(llvm::StringRef path, const llvm::Twine &message) {
  return tensorError(path + ": error: " + message);
}

llvm::Error BoundedFile::fail(const llvm::Twine &message) const { return failAt(path_, message); }

llvm::Expected<BoundedFile> BoundedFile::open(llvm::StringRef path) {
  std::string name = path.str();
  struct stat facts;
  if (::stat(name.c_str(), &facts) != 0)
    return failAt(path, "expected a tensor file, but got " + llvm::Twine(std::strerror(errno)));
  if (!S_ISREG(facts.st_mode))
    return failAt(path, "expected a tensor file, but got a folder or a device");
  std::FILE *file = std::fopen(name.c_str(), "rb");
  if (!file)
    return failAt(path, "expected a readable file, but got " + llvm::Twine(std::strerror(errno)));
  return BoundedFile(path, file, facts.st_size);
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
  std::string name = path.str(), draft = name + ".part";
  std::FILE *file = std::fopen(draft.c_str(), "wb");
  if (!file)
    return failAt(path, "expected a file that can be written, but got " + llvm::Twine(std::strerror(errno)));
  bool good = true;
  for (llvm::StringRef part : parts)
    good = good && std::fwrite(part.data(), 1, part.size(), file) == part.size();
  good = std::fclose(file) == 0 && good;
  if (good && std::rename(draft.c_str(), name.c_str()) == 0)
    return llvm::Error::success();
  std::string reason = std::strerror(errno);
  std::remove(draft.c_str());
  return failAt(path, "expected to write the whole file, but got " + reason);
}

} // namespace attune
