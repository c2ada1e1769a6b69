//===- Multiprocessor.h - What a multiprocessor of an architecture holds -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_MULTIPROCESSOR_H
#define ATTUNE_EMULATOR_MULTIPROCESSOR_H

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>

namespace attune::emulator {

/// CUDA C++ Programming Guide, "Compute Capabilities": technical specifications per compute capability.
struct Multiprocessor {
  unsigned capability;
  size_t sharedOfBlock, shared; ///< bytes; each block takes a KiB of the second for itself
  uint64_t threads, blocks;

  static const Multiprocessor *find(unsigned capability) {
    static constexpr size_t kib = 1024;
    static constexpr Multiprocessor known[] = {{80, 163 * kib, 164 * kib, 2048, 32},
                                               {86, 99 * kib, 100 * kib, 1536, 16},
                                               {87, 163 * kib, 164 * kib, 1536, 16},
                                               {89, 99 * kib, 100 * kib, 1536, 24},
                                               {90, 227 * kib, 228 * kib, 2048, 32}};
    for (const Multiprocessor &one : known)
      if (one.capability == capability)
        return &one;
    return nullptr;
  }

  /// How many blocks fit at once, as far as shared memory and threads say; registers do not exist here.
  uint64_t fitting(uint64_t blockThreads, size_t blockShared) const {
    uint64_t warps = (blockThreads + 31) / 32, byThreads = threads / 32 / (warps ? warps : 1);
    uint64_t byShared = shared / (blockShared + 1024);
    uint64_t least = byThreads < byShared ? byThreads : byShared;
    return least < blocks ? least : blocks;
  }
};

/// sm_90a: 90, and that it runs what is special to it.
struct Chip {
  unsigned capability = 0;
  bool specific = false;

  /// False if the name is none.
  static bool parse(llvm::StringRef name, Chip &chip) {
    if (!name.consume_front("sm_"))
      return false;
    chip.specific = name.consume_back("a");
    return !name.getAsInteger(10, chip.capability);
  }
  /// Whether it loads PTX of this target.
  bool runs(Chip target) const {
    return target.specific ? specific && capability == target.capability : capability >= target.capability;
  }
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_MULTIPROCESSOR_H
