//===- RuntimeArchive.cpp - Where the runtime's archive lies --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/LinkLibrary.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <dlfcn.h>

using namespace llvm;

namespace {

constexpr StringLiteral archiveName = "libattune_rt.a";
constexpr StringLiteral variable = "ATTUNE_RUNTIME_ARCHIVE";

int anchor = 0; // an address in this program or plugin

/// Files that hold this code: the program, and the plugin if it is one.
SmallVector<SmallString<256>, 2> binaries() {
  SmallVector<SmallString<256>, 2> result;
  result.emplace_back(sys::fs::getMainExecutable(nullptr, &anchor));
  Dl_info info;
  if (dladdr(&anchor, &info) && info.dli_fname) {
    SmallString<256> path(info.dli_fname);
    sys::fs::make_absolute(path);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (path != result.front())
      result.push_back(path);
  }
  return result;
}

} // namespace

Expected<std::string> attune::target::findRuntimeArchive() {
  if (std::optional<std::string> given = sys::Process::GetEnv(variable)) {
    if (sys::fs::exists(*given))
      return *given;
    return createStringError(inconvertibleErrorCode(), variable + ": expected the path of " + archiveName +
                                                           ", but there is no file '" + *given + "'");
  }
  std::string tried;
  for (StringRef binary : binaries())
    for (StringRef folder : {"lib", "lib64", "lib/x86_64-linux-gnu", ""}) {
      SmallString<256> path(sys::path::parent_path(binary));
      if (!folder.empty())
        sys::path::append(path, "..", folder);
      sys::path::append(path, archiveName);
      sys::path::remove_dots(path, /*remove_dot_dot=*/true);
      if (sys::fs::exists(path))
        return path.str().str();
      tried += (tried.empty() ? "" : ", ") + path.str().str();
    }
  return createStringError(inconvertibleErrorCode(), "expected the runtime's archive at one of " + tried +
                                                         ", but there is none; set " + variable + " to its path");
}
