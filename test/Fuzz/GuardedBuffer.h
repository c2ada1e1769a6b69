//===- GuardedBuffer.h - Memory between pages that nobody may touch -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of a compiled library have no red zones of a sanitizer: a step over either end of this is a fault.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_GUARDEDBUFFER_H
#define ATTUNE_TEST_FUZZ_GUARDEDBUFFER_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace attune::fuzz {

class GuardedBuffer {
public:
  static constexpr size_t bytes = 1 << 15, page = 4096;

  GuardedBuffer() {
    void *all = mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory = static_cast<uint8_t *>(all) + page;
    if (all == MAP_FAILED || mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0)
      std::abort();
  }
  GuardedBuffer(const GuardedBuffer &) = delete;

  uint8_t *begin() { return memory; }
  uint8_t *end() { return memory + bytes; }
  void fill(uint8_t byte) { std::memset(memory, byte, bytes); }
  bool isFilled(uint8_t byte) const { return *memory == byte && std::memcmp(memory, memory + 1, bytes - 1) == 0; }

private:
  uint8_t *memory;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_GUARDEDBUFFER_H
