//===- SharedMemory.h - Shared memory of a block and its shadow --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each buffer stands at an odd multiple of its declared alignment, so that a buffer whose alignment is too small for an
// instruction shows itself, and gaps between the buffers catch an access that leaves its own.
//
// The shadow has a cell for each 4-byte word. When a word is first touched by parts (two half numbers of two threads),
// it is split for good into a cell for each byte; so neighbours in one word are no race.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_SHAREDMEMORY_H
#define ATTUNE_EMULATOR_SHAREDMEMORY_H

#include "OrderClock.h"

#include "attune/Emulator/EmulatorReport.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace attune::emulator {

/// Who touches shared memory. `wholeWarp`: ldmatrix and stmatrix, where the row that one lane names goes to several.
struct Accessor {
  uint16_t warp;
  uint8_t lane;
  bool wholeWarp = false;
  uint16_t thread() const { return uint16_t(warp * 32 + lane); }
};

/// AsyncRead: by the async proxy, over when `endAsyncRead` says so.
enum class SharedAccess : uint8_t { Read, Write, Atomic, CopyBegin, AsyncRead };

struct SharedFault {
  FindingKind kind;
  uint32_t offset;    ///< of the first word or byte concerned
  uint16_t other = 0; ///< the other thread of a race; `noThread`: several lanes of a warp; or OrderClock::asyncThread
  bool otherWrote = false;
  static constexpr uint16_t noThread = 0xffff;
};

class SharedMemory {
public:
  struct Buffer {
    std::string name;
    uint32_t begin, bytes;
    bool dynamic;
  };

  SharedMemory() = default;
  SharedMemory(const SharedMemory &) = delete;
  ~SharedMemory();

  /// Reserves the arena: room for the buffers placed later, in the low 4 GiB if possible, as a shared address may pass
  /// through a 32-bit register.
  bool allocate(size_t bytes);
  /// Places a buffer and returns its address; all dynamic buffers begin at one address.
  void *place(std::string name, size_t bytes, size_t alignment, bool dynamic);
  void setDynamicBytes(size_t bytes);
  size_t staticBytes() const { return staticSize; }
  size_t bytesUsed() const { return used; }
  size_t capacity() const { return size; }

  /// Forgets the last block: undefined contents, empty shadow.
  void beginBlock(unsigned warps);

  bool contains(const void *address) const { return size_t(static_cast<const char *>(address) - arena) < size; }
  uint32_t offsetOf(const void *address) const { return uint32_t(static_cast<const char *>(address) - arena); }
  char *at(uint32_t offset) const { return arena + offset; }
  /// Shared addresses of hardware have 18 bits, and descriptors keep no more; the arena begins at a multiple of that.
  char *atWindow(uint32_t address) const { return arena + address % windowBytes; }
  const Buffer *bufferOf(uint32_t offset, uint32_t bytes) const;
  const Buffer *nearestBuffer(uint32_t offset) const;

  /// Enters an access into the shadow; gives the first fault that it shows.
  std::optional<SharedFault> access(const OrderClock &clock, Accessor who, SharedAccess kind, uint32_t offset,
                                    uint32_t bytes);
  /// A copy has landed. A cp.async is visible to its own thread, and to others after a barrier; a bulk copy belongs to
  /// `OrderClock::asyncThread`.
  void land(const OrderClock &clock, uint16_t thread, uint32_t offset, uint32_t bytes);
  /// An AsyncRead is over: from here on it is a read of that thread.
  void endAsyncRead(const OrderClock &clock, Accessor who, uint32_t offset, uint32_t bytes);

private:
  enum Flags : uint8_t { Initialised = 1, InFlight = 2, Split = 4, AtomicWrite = 8 };
  struct Cell {
    uint32_t writeTime = 0;
    uint16_t writer = 0;
    uint16_t asyncReads = 0; ///< in flight
    uint8_t flags = 0;
  };
  static constexpr size_t windowBytes = size_t(1) << 18;
  static constexpr uint8_t manyLanes = 0xff;

  template <typename Visit> void forEachCell(uint32_t offset, uint32_t bytes, Visit visit);
  void split(uint32_t word);
  std::optional<SharedFault> touch(const OrderClock &clock, Accessor who, SharedAccess kind, uint32_t cell);
  std::optional<SharedFault> findReader(const OrderClock &clock, Accessor who, uint32_t cell) const;
  void noteRead(const OrderClock &clock, Accessor who, uint32_t cell);

  char *region = nullptr, *arena = nullptr;
  size_t regionBytes = 0, size = 0, used = 0, staticSize = 0;
  uint32_t words = 0; ///< cells [0, words) are words, cell words + i is byte i
  unsigned warps = 1;
  std::vector<Buffer> buffers;
  std::vector<Cell> cells;
  std::vector<uint32_t> reads; ///< [cell, warp]: time of the last read << 8 | lane
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_SHAREDMEMORY_H
