//===- LinkLibrary.cpp - Object code and the runtime to a shared library --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ld.lld is called directly, with the C library that this very program runs on: no development files are needed and
// no compiler driver is started. Any other linker is a driver such as cc, which knows where its C library is.
//
//===----------------------------------------------------------------------===//

#include "attune/Target/LinkLibrary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <link.h>

using namespace attune::target;
using namespace llvm;

namespace {

Error refuse(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

Expected<std::string> findLinker(StringRef wanted) {
  if (!wanted.empty()) {
    if (ErrorOr<std::string> found = sys::findProgramByName(wanted))
      return *found;
    return refuse("expected the linker '" + wanted + "', but there is none; give its path or another");
  }
  for (StringRef name : {"ld.lld-22", "ld.lld", "cc", "gcc", "clang"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return refuse("expected a linker (ld.lld-22, ld.lld, cc, gcc or clang) on PATH, but there is none; install lld-22");
}

bool isLld(StringRef linker) { return sys::path::filename(linker).starts_with("ld.lld"); }

/// The files of the C library that are loaded into this program. Before glibc 2.34 threads and dlopen were apart.
SmallVector<std::string, 4> loadedCLibrary() {
  SmallVector<std::string, 4> files;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        StringRef name = sys::path::filename(info->dlpi_name);
        for (StringRef part : {"libc.so.", "libpthread.so.", "libdl.so.", "ld-linux"})
          if (name.starts_with(part))
            static_cast<SmallVector<std::string, 4> *>(result)->push_back(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

SmallVector<std::string> linkCommand(StringRef linker, ArrayRef<std::string> objects, StringRef archive,
                                     StringRef soname, StringRef output) {
  bool lld = isLld(linker);
  SmallVector<std::string> command = {linker.str(), "-shared", "-o", output.str()};
  if (!lld)
    command.push_back("-nostartfiles"); // there are no constructors
  auto flag = [&](std::initializer_list<StringRef> words) {
    if (lld)
      for (StringRef word : words)
        command.push_back(word.str());
    else
      command.push_back("-Wl," + join(words, ","));
  };
  flag({"-soname", soname});
  flag({"--gc-sections"});
  flag({"--strip-all"});
  flag({"--exclude-libs", "ALL"});
  flag({"-z", "relro"});
  flag({"-z", "now"});
  flag({"-z", "noexecstack"});
  flag({"-z", "defs"});
  flag({"--hash-style=gnu"});
  flag({"--build-id=none"});
  flag({"--as-needed"});
  append_range(command, objects);
  command.push_back(archive.str());
  if (lld)
    append_range(command, loadedCLibrary());
  else
    command.insert(command.end(), {"-lpthread", "-ldl"});
  return command;
}

/// The first lines that the linker wrote, on one line.
std::string firstLines(StringRef file) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(file);
  if (!text)
    return "it said nothing";
  SmallVector<StringRef, 8> lines;
  (*text)->getBuffer().split(lines, '\n', /*MaxSplit=*/6, /*KeepEmpty=*/false);
  if (lines.size() > 6)
    lines.pop_back();
  return lines.empty() ? "it said nothing" : join(lines, "; ");
}

Error runLinker(ArrayRef<std::string> command, StringRef log) {
  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::optional<StringRef> streams[] = {StringRef(), log, log};
  std::string reason;
  int status = sys::ExecuteAndWait(command.front(), arguments, std::nullopt, streams, 0, 0, &reason);
  if (status == 0)
    return Error::success();
  return refuse("expected " + sys::path::filename(command.front()) +
                " to link the library, but it failed: " + (reason.empty() ? firstLines(log) : reason));
}

/// A file that is gone at the end of the scope.
struct TemporaryFile {
  SmallString<128> path;
  FileRemover remover;
  Error create(StringRef suffix) {
    if (std::error_code code = sys::fs::createTemporaryFile("attune", suffix, path))
      return refuse("expected to write a temporary file, but could not: " + code.message());
    remover.setFile(path);
    return Error::success();
  }
};

Error writeBytes(ArrayRef<char> bytes, StringRef path) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return refuse("expected to write '" + path + "', but could not: " + code.message());
  return Error::success();
}

} // namespace

Error attune::target::linkLibrary(ArrayRef<SmallVector<char, 0>> objects, StringRef soname, StringRef path,
                                  const LinkOptions &options) {
  Expected<std::string> archive =
      options.runtimeArchive.empty() ? findRuntimeArchive() : Expected<std::string>(options.runtimeArchive);
  if (!archive)
    return archive.takeError();
  Expected<std::string> linker = findLinker(options.linker);
  if (!linker)
    return linker.takeError();

  TemporaryFile log;
  if (Error error = log.create("log"))
    return error;
  std::vector<TemporaryFile> files(objects.size());
  SmallVector<std::string> paths;
  for (auto [file, bytes] : zip_equal(files, objects)) {
    if (Error error = file.create("o"))
      return error;
    if (Error error = writeBytes(bytes, file.path))
      return error;
    paths.push_back(file.path.str().str());
  }
  // Linked beside its place and moved there: a program that has the old one mapped keeps it whole.
  SmallString<128> output;
  sys::fs::createUniquePath(path + ".%%%%%%", output, /*MakeAbsolute=*/false);
  FileRemover outputRemover(output);
  if (Error error = runLinker(linkCommand(*linker, paths, *archive, soname, output), log.path))
    return error;
  if (std::error_code code = sys::fs::rename(output, path))
    return refuse("expected to write '" + path + "', but could not: " + code.message());
  outputRemover.releaseFile();
  return Error::success();
}
