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

#include "attune/Support/RunProgram.h"
#include "attune/Support/UniqueFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <link.h>

using namespace attune::target;
using namespace llvm;

namespace {

Error refuse(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

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
std::string firstLines(StringRef text) {
  SmallVector<StringRef, 8> lines;
  text.split(lines, '\n', /*MaxSplit=*/6, /*KeepEmpty=*/false);
  if (lines.size() > 6)
    lines.pop_back();
  return lines.empty() ? "it said nothing" : join(lines, "; ");
}

Error runLinker(ArrayRef<std::string> command, std::optional<unsigned> seconds) {
  SmallVector<StringRef> arguments(command.begin(), command.end());
  Expected<attune::ProgramRun> run = attune::runProgram(arguments, seconds);
  if (!run)
    return run.takeError();
  if (run->status == 0)
    return Error::success();
  return refuse("expected " + sys::path::filename(command.front()) +
                " to link the library, but it failed: " + firstLines(run->said));
}

/// The objects in files of their own, for as long as those live.
Expected<std::vector<attune::UniqueFile>> writeObjects(ArrayRef<SmallVector<char, 0>> objects) {
  std::vector<attune::UniqueFile> files;
  for (ArrayRef<char> object : objects) {
    Expected<attune::UniqueFile> file = attune::UniqueFile::temporary("o");
    if (!file)
      return file.takeError();
    if (Error error = file->write(StringRef(object.data(), object.size())))
      return std::move(error);
    files.push_back(std::move(*file));
  }
  return std::move(files);
}

/// Written beside its place and moved there: a program that has the old one mapped keeps it whole.
Error copyTo(StringRef place, StringRef from) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> library = MemoryBuffer::getFile(from, /*IsText=*/false, false);
  if (!library || (*library)->getBufferSize() == 0)
    return refuse("expected the linker to write the library, but got " +
                  (library ? "an empty file" : library.getError().message()));
  Expected<attune::UniqueFile> output = attune::UniqueFile::beside(place, /*mode=*/0777);
  if (!output)
    return output.takeError();
  if (Error error = output->write((*library)->getBuffer()))
    return error;
  return output->moveTo(place);
}

} // namespace

Expected<std::string> attune::target::findLinker(StringRef wanted) {
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

Error attune::target::linkLibrary(ArrayRef<SmallVector<char, 0>> objects, StringRef soname, StringRef path,
                                  const LinkOptions &options) {
  Expected<std::string> archive =
      options.runtimeArchive.empty() ? findRuntimeArchive() : Expected<std::string>(options.runtimeArchive);
  if (!archive)
    return archive.takeError();
  Expected<std::string> linker = findLinker(options.linker);
  if (!linker)
    return linker.takeError();

  Expected<std::vector<UniqueFile>> files = writeObjects(objects);
  if (!files)
    return files.takeError();
  SmallVector<std::string> paths;
  for (const UniqueFile &file : *files)
    paths.push_back(file.path().str());
  // An ld.lld takes no folder that has '%' in its name. Until it is done nobody else shall write what will be loaded.
  Expected<UniqueFolder> linked = UniqueFolder::temporary();
  if (!linked)
    return linked.takeError();
  if (Error error = runLinker(linkCommand(*linker, paths, *archive, soname, linked->file()), options.seconds))
    return error;
  return copyTo(throughLinks(path), linked->file());
}
