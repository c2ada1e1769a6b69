//===- UniqueFile.h - Files under names that nobody knows ahead ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_UNIQUEFILE_H
#define ATTUNE_SUPPORT_UNIQUEFILE_H

#include "attune/Support/CleanUp.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <utility>

namespace attune {

/// A file that this program has made, under a drawn name. It is gone with its scope, and when a signal ends a program
/// that cleans up (CleanUp.h), unless it was moved to a place of its own.
class UniqueFile {
public:
  /// In the folder of `place`; the umask is taken off the mode. Where that folder may not be written and a file may
  /// that lies at `place`, it is a temporary one.
  static llvm::Expected<UniqueFile> beside(llvm::StringRef place, unsigned mode = 0666);
  /// In the folder for temporary files ($TMPDIR, else /tmp), for this user alone. An error where others could put
  /// another file in its place: the folder must be sticky if they may write it.
  static llvm::Expected<UniqueFile> temporary(llvm::StringRef ending);
  UniqueFile(UniqueFile &&other);
  UniqueFile(const UniqueFile &) = delete;
  ~UniqueFile();

  llvm::StringRef path() const { return path_; }
  /// Open for writing until `close`.
  int descriptor() const { return descriptor_; }
  /// What other programs have written into it.
  std::string read() const;
  /// Adds bytes; an error unless all are written.
  llvm::Error write(llvm::StringRef bytes);
  /// Takes the name `place`, and the mode of the file that had it; a file that keeps its name, as one that is mounted
  /// does, gets the content. An error if something else than a file has it.
  llvm::Error moveTo(llvm::StringRef place);

private:
  UniqueFile(std::string path, int descriptor);
  static llvm::Expected<UniqueFile> create(llvm::StringRef folder, llvm::StringRef ending, unsigned mode,
                                           llvm::StringRef shown);
  std::error_code close();

  std::string path_; ///< empty: it has been moved
  int descriptor_;
  std::optional<SignalRemoval> removal_;
};

/// A folder for one temporary file, which this user alone may enter: for programs that make files as the umask lets
/// them. It is gone with its scope, with all that is in it, and as a UniqueFile is.
class UniqueFolder {
public:
  static llvm::Expected<UniqueFolder> temporary();
  UniqueFolder(UniqueFolder &&other)
      : file_(std::exchange(other.file_, "")), fileRemoval(std::move(other.fileRemoval)),
        folderRemoval(std::move(other.folderRemoval)) {}
  ~UniqueFolder();

  /// Of the file, which is not there yet.
  llvm::StringRef file() const { return file_; }

private:
  explicit UniqueFolder(const std::string &path);
  std::string file_;
  SignalRemoval fileRemoval, folderRemoval;
};

/// Where a path leads if it is a symbolic link, in the end, whether or not there is something; else the path.
std::string throughLinks(llvm::StringRef path);

/// Writes a file, which is there whole or not at all: what `write` prints goes to a file beside it that then takes its
/// place, where a symbolic link points if it is one. Where no other can take its place it is overwritten. "-" is
/// standard output; it and devices are written directly. The error is `expected to write PATH, but got: …`, of opening,
/// writing or closing.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace attune

#endif // ATTUNE_SUPPORT_UNIQUEFILE_H
