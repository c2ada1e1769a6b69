//===- MachineMemory.cpp - How much memory there is -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/MachineMemory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <unistd.h>

namespace attune {

/// Files of the kernel say nothing of their size.
static std::string contentOf(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

/// The least of a group and of those that it is part of. In a container the names may be those outside of it, and only
/// the last one is there.
static int64_t leastLimit(const std::string &mount, llvm::StringRef group, llvm::StringRef file) {
  int64_t least = INT64_MAX, limit = 0;
  for (bool last = false; !last; group = llvm::sys::path::parent_path(group)) {
    last = group.empty() || group == "/";
    // "max", and no file, are no limit.
    if (!llvm::StringRef(contentOf(mount + (last ? "" : group) + "/" + file)).getAsInteger(10, limit) && limit > 0)
      least = std::min(least, limit);
  }
  return least;
}

int64_t groupMemory(llvm::StringRef mount, llvm::StringRef list) {
  int64_t least = INT64_MAX;
  std::string lines = contentOf(list);
  for (llvm::StringRef line : llvm::split(lines, '\n')) { // NUMBER:CONTROLLERS:GROUP
    auto [controllers, group] = line.split(':').second.split(':');
    if (controllers.empty())
      least = std::min(least, leastLimit(mount.str(), group, "memory.max"));
    else if (llvm::is_contained(llvm::split(controllers, ','), "memory"))
      least = std::min(least, leastLimit(mount.str() + "/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

int64_t machineMemory() {
  static const int64_t least =
      std::min(static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE), groupMemory());
  return least;
}

} // namespace attune
