//===- BoundedFile.h - A file read with its size known -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_SUPPORT_BOUNDEDFILE_H
#define ATTUNE_LIB_SUPPORT_BOUNDEDFILE_H

#include "attune/Support/HostTensor.h"

#include <utility>

namespace attune {

/// A regular file of known size; reading past its end is an error, never a wait or a large allocation.
class BoundedFile {
public:
  static llvm::Expected<BoundedFile> open(llvm::StringRef path);
  BoundedFile(BoundedFile &&other)
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  ~BoundedFile();

  int64_t size() const { return size_; }
  /// `count` bytes from `offset` into `out`, which has room for them.
  llvm::Error read(int64_t offset, char *out, int64_t count) const;
  /// An error `PATH: error: message`.
  llvm::Error fail(const llvm::Twine &message) const;

private:
  BoundedFile(llvm::StringRef path, int descriptor, int64_t size) : path_(path), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_;
  int64_t size_;
};

/// Writes all of `parts` to `path`, which is there whole or not at all.
llvm::Error writeWhole(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

} // namespace attune

#endif // ATTUNE_LIB_SUPPORT_BOUNDEDFILE_H
