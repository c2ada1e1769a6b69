//===- TemporaryFolder.h - A folder that goes away with the test ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H
#define ATTUNE_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H

#include "attune/Support/HostTensor.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

namespace attune {

class TemporaryFolder {
public:
  TemporaryFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("attune-test", path)); }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  std::string file(llvm::StringRef name) const { return (path + "/" + name).str(); }
  std::string str() const { return path.str().str(); }
  /// A file of exactly these bytes.
  std::string fileOf(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code error;
    llvm::raw_fd_ostream(file(name), error) << bytes;
    EXPECT_FALSE(error);
    return file(name);
  }

private:
  llvm::SmallString<128> path;
};

/// The message of a result that must have failed.
template <typename T> std::string messageOf(llvm::Expected<T> result) {
  if (!result)
    return llvm::toString(result.takeError());
  ADD_FAILURE() << "expected an error";
  return "";
}

} // namespace attune

#endif // ATTUNE_TEST_UNIT_SUPPORT_TEMPORARYFOLDER_H
