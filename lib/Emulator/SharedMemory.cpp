//===- SharedMemory.cpp - Shared memory of a block and its shadow ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SharedMemory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace attune::emulator {

/// Between two buffers: wide enough to catch an access one row of a tile beyond the end.
static constexpr size_t gapBytes = 512;

SharedMemory::~SharedMemory() {
  if (region)
    munmap(region, regionBytes);
}

bool SharedMemory::allocate(size_t bytes) {
  size = (bytes + 4095) & ~size_t(4095);
  regionBytes = size + windowBytes;
#ifdef MAP_32BIT
  void *mapped = mmap(nullptr, regionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (mapped == MAP_FAILED)
    mapped = mmap(nullptr, regionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#else
  void *mapped = mmap(nullptr, regionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
  if (mapped == MAP_FAILED)
    return false;
  region = static_cast<char *>(mapped);
  arena = region + (windowBytes - uintptr_t(region) % windowBytes) % windowBytes;
  return true;
}

void *SharedMemory::place(std::string name, size_t bytes, size_t alignment, bool dynamic) {
  size_t begin = used + gapBytes;
  begin = (begin + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) + alignment;
  buffers.push_back({std::move(name), uint32_t(begin), uint32_t(bytes), dynamic});
  if (dynamic)
    return arena + begin;
  used = begin + bytes;
  staticSize += bytes;
  return arena + begin;
}

void SharedMemory::setDynamicBytes(size_t bytes) {
  size_t end = 0;
  for (Buffer &buffer : buffers) {
    if (buffer.dynamic)
      buffer.bytes = uint32_t(bytes);
    end = std::max(end, size_t(buffer.begin) + buffer.bytes);
  }
  used = end;
}

void SharedMemory::beginBlock(unsigned numWarps) {
  warps = numWarps;
  words = uint32_t((used + 3) / 4);
  // Byte cells are set when their word is split, so only their room is needed here.
  if (cells.size() < size_t(words) * 5)
    cells.resize(size_t(words) * 5);
  if (reads.size() < size_t(words) * 5 * warps)
    reads.resize(size_t(words) * 5 * warps);
  std::fill_n(cells.begin(), words, Cell());
  std::fill_n(reads.begin(), size_t(words) * warps, 0);
  std::memset(arena, 0x7f, used); // a value that shows: 0x7f7f is NaN as a half and 3.4e38 as a bfloat
}

const SharedMemory::Buffer *SharedMemory::bufferOf(uint32_t offset, uint32_t bytes) const {
  for (const Buffer &buffer : buffers)
    if (offset >= buffer.begin && uint64_t(offset) + bytes <= uint64_t(buffer.begin) + buffer.bytes)
      return &buffer;
  return nullptr;
}

const SharedMemory::Buffer *SharedMemory::nearestBuffer(uint32_t offset) const {
  auto distance = [&](const Buffer &buffer) -> int64_t {
    if (offset < buffer.begin)
      return int64_t(buffer.begin) - offset;
    return std::max<int64_t>(0, int64_t(offset) - (int64_t(buffer.begin) + buffer.bytes - 1));
  };
  auto nearest =
      std::min_element(buffers.begin(), buffers.end(), [&](auto &a, auto &b) { return distance(a) < distance(b); });
  return nearest == buffers.end() ? nullptr : &*nearest;
}

void SharedMemory::split(uint32_t word) {
  cells[word].flags |= Split;
  for (uint32_t byte = 4 * word; byte < 4 * word + 4; ++byte) {
    cells[words + byte] = cells[word];
    std::copy_n(&reads[size_t(word) * warps], warps, &reads[size_t(words + byte) * warps]);
  }
}

template <typename Visit> void SharedMemory::forEachCell(uint32_t offset, uint32_t bytes, Visit visit) {
  uint32_t end = offset + bytes;
  while (offset < end) {
    uint32_t word = offset / 4, wordEnd = std::min(end, 4 * word + 4);
    bool whole = offset % 4 == 0 && wordEnd - offset == 4;
    if (whole && !(cells[word].flags & Split)) {
      visit(word);
    } else {
      if (!(cells[word].flags & Split))
        split(word);
      for (uint32_t byte = offset; byte < wordEnd; ++byte)
        visit(words + byte);
    }
    offset = wordEnd;
  }
}

/// A read, by another thread, that nothing orders before this access.
std::optional<SharedFault> SharedMemory::findReader(const OrderClock &clock, Accessor who, uint32_t cell) const {
  const uint32_t *row = &reads[size_t(cell) * warps];
  for (unsigned warp = 0; warp < warps; ++warp) {
    uint32_t time = row[warp] >> 8;
    uint8_t lane = uint8_t(row[warp]);
    if (time <= clock.seen(who.warp, warp) || (warp == who.warp && lane == who.lane && !who.wholeWarp))
      continue;
    uint16_t other = lane == manyLanes ? SharedFault::noThread : uint16_t(warp * 32 + lane);
    return SharedFault{FindingKind::Race, 0, other, false};
  }
  return std::nullopt;
}

void SharedMemory::noteRead(const OrderClock &clock, Accessor who, uint32_t cell) {
  uint32_t &entry = reads[size_t(cell) * warps + who.warp];
  uint8_t lane = who.wholeWarp ? manyLanes : who.lane;
  bool otherLane = (entry >> 8) > clock.seen(who.warp, who.warp) && uint8_t(entry) != lane;
  entry = clock.now() << 8 | (otherLane ? manyLanes : lane);
}

std::optional<SharedFault> SharedMemory::touch(const OrderClock &clock, Accessor who, SharedAccess kind,
                                               uint32_t index) {
  Cell &cell = cells[index];
  std::optional<SharedFault> fault;
  bool bothAtomic = kind == SharedAccess::Atomic && (cell.flags & AtomicWrite);
  bool reads = kind == SharedAccess::Read || kind == SharedAccess::Atomic || kind == SharedAccess::AsyncRead;
  bool onlyReads = reads && kind != SharedAccess::Atomic;
  if (cell.flags & InFlight)
    fault = {FindingKind::CopyInFlight, 0, cell.writer, true};
  else if (cell.asyncReads && !onlyReads)
    fault = {FindingKind::CopyInFlight, 0, SharedFault::noThread, false};
  else if (cell.writeTime > clock.seen(who.warp, cell.writer / 32) && !bothAtomic &&
           (cell.writer != who.thread() || who.wholeWarp))
    fault = {FindingKind::Race, 0, cell.writer, true};

  if (reads && !fault && !(cell.flags & Initialised))
    fault = {FindingKind::UninitialisedRead, 0, 0, false};
  if (kind == SharedAccess::AsyncRead) {
    bool generic = cell.writer != OrderClock::asyncThread;
    if (!fault && generic && !clock.isFenced(who.thread(), cell.writer, cell.writeTime))
      fault = {FindingKind::ProxyOrder, 0, cell.writer, true};
    ++cell.asyncReads;
    return fault;
  }
  if (kind == SharedAccess::Read) {
    noteRead(clock, who, index);
    return fault;
  }
  if (!fault)
    fault = findReader(clock, who, index);
  cell.writeTime = clock.now();
  cell.writer = who.thread();
  cell.flags = uint8_t((cell.flags & Split) | Initialised | (kind == SharedAccess::CopyBegin ? InFlight : 0) |
                       (kind == SharedAccess::Atomic ? AtomicWrite : 0));
  return fault;
}

std::optional<SharedFault> SharedMemory::access(const OrderClock &clock, Accessor who, SharedAccess kind,
                                                uint32_t offset, uint32_t bytes) {
  std::optional<SharedFault> first;
  forEachCell(offset, bytes, [&](uint32_t cell) {
    std::optional<SharedFault> fault = touch(clock, who, kind, cell);
    if (fault && !first) {
      first = fault;
      first->offset = cell < words ? 4 * cell : cell - words;
    }
  });
  return first;
}

void SharedMemory::land(const OrderClock &clock, uint16_t thread, uint32_t offset, uint32_t bytes) {
  forEachCell(offset, bytes, [&](uint32_t index) {
    Cell &cell = cells[index];
    cell.flags = uint8_t((cell.flags & ~InFlight) | Initialised);
    cell.writeTime = clock.now();
    cell.writer = thread;
  });
}

void SharedMemory::endAsyncRead(const OrderClock &clock, Accessor who, uint32_t offset, uint32_t bytes) {
  forEachCell(offset, bytes, [&](uint32_t cell) {
    cells[cell].asyncReads -= cells[cell].asyncReads != 0;
    noteRead(clock, who, cell);
  });
}

} // namespace attune::emulator
