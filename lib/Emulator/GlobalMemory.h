//===- GlobalMemory.h - Registered buffers of global memory -----*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds are those of the registered buffers. Once a buffer has been written in a launch, each of its bytes remembers its last
// writer: two blocks of one launch must not meet there unless fences and atomics order them, nor two threads of a block
// without a barrier between.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_GLOBALMEMORY_H
#define ATTUNE_EMULATOR_GLOBALMEMORY_H

#include "BlockOrder.h"

#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune::emulator {

struct GlobalConflict {
  uint64_t offset; ///< in the buffer
  uint32_t block;  ///< linear index of the other block
  uint16_t thread; ///< the other thread
  bool constant = false; ///< nobody may write, for ld.global.nc has read there; who has, is not known
};

/// Among which threads an access is one step.
enum class Atomicity : uint16_t { None, Block, Device };

class GlobalMemory {
public:
  struct Writer {
    uint32_t block; ///< linear index + 1; 0: not written in this launch
    uint16_t thread;
    Atomicity atomic;
    uint32_t time;
  };
  struct FreeShadow {
    void operator()(Writer *shadow) const { std::free(shadow); }
  };
  struct Buffer {
    char *begin;
    size_t bytes;
    std::string name;
    std::unique_ptr<Writer, FreeShadow> writers;
    bool constant = false;          ///< of the state space .const
    std::vector<bool> readConstant; ///< bytes that ld.global.nc has read in this launch
  };

  void add(void *base, size_t bytes, llvm::StringRef name, bool constant = false);
  void clear() { buffers.clear(); }
  void beginLaunch();

  /// The buffer that holds all of an access, or null.
  Buffer *find(const void *address, size_t bytes);
  /// The buffer that begins last at or before the address, for messages.
  const Buffer *before(const void *address) const;

  struct Access {
    uint32_t block; ///< linear index
    uint16_t thread;
    bool store;
    Atomicity atomic;
    bool constant = false; ///< ld.global.nc: of memory that nobody writes in this launch
  };
  /// Of the blocks of the launch.
  BlockOrder order;

  std::optional<GlobalConflict> access(Buffer &buffer, const void *address, size_t bytes, const OrderClock &clock,
                                       const Access &access);

private:
  std::optional<GlobalConflict> accessConstant(Buffer &buffer, size_t begin, size_t bytes, const Access &access);

  std::vector<Buffer> buffers; ///< by address
  size_t last = 0;
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_GLOBALMEMORY_H
