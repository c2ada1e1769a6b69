//===- Rewrite.h - Turns device code into code for the host -----*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared buffers become addresses of the arena, device instructions calls into the machine, loads and stores are led
// through its checks, and each kernel gets an entry that reads its parameters from slots.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_REWRITE_H
#define ATTUNE_EMULATOR_REWRITE_H

#include "SharedMemory.h"
#include "Site.h"

#include "llvm/Support/Error.h"

namespace llvm {
class DataLayout;
class Module;
} // namespace llvm

namespace attune::emulator {

struct KernelInfo {
  std::string name, entry; ///< the symbol of the entry
  unsigned parameters = 0;
  uint64_t maxThreads = 1024; ///< from its attributes
  std::array<uint64_t, 3> required{}; ///< .reqntid, in each dimension; 0: as many as one likes
  uint64_t blocksAtOnce = 0;    ///< .minnctapersm
};

struct RewriteResult {
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<KernelInfo> kernels;
  std::vector<std::string> constants; ///< symbols of global variables outside shared memory
};

/// The module must already have the host's data layout. `machine` is the address the code passes back.
llvm::Expected<RewriteResult> rewriteForHost(llvm::Module &module, SharedMemory &shared, Machine *machine, bool check);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_REWRITE_H
