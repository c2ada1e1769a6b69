//===- TemporaryFile.h - Bytes in a file, for readers of files ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_TEMPORARYFILE_H
#define ATTUNE_TEST_FUZZ_TEMPORARYFILE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace attune::fuzz {

/// Of a name of its own, since several fuzzers run at once; gone with the process.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &suffix = "") {
    const char *folder = std::getenv("TMPDIR");
    path = std::string(folder ? folder : "/tmp") + "/attune-fuzz-XXXXXX" + suffix;
    if (int file = mkstemps(path.data(), static_cast<int>(suffix.size())); file < 0 || close(file) != 0)
      std::abort();
  }
  ~TemporaryFile() { unlink(path.c_str()); }

  TemporaryFile(const TemporaryFile &) = delete;

  /// The file with these bytes in it.
  const std::string &holding(const uint8_t *data, size_t size) {
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (!file || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0)
      std::abort();
    return path;
  }

private:
  std::string path;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_TEMPORARYFILE_H
