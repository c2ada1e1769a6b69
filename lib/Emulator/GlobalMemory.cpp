//===- GlobalMemory.cpp - Registered buffers of global memory -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GlobalMemory.h"

#include <algorithm>

namespace attune::emulator {

void GlobalMemory::add(void *base, size_t bytes, llvm::StringRef name, bool constant) {
  Buffer buffer{static_cast<char *>(base), bytes, name.str(), nullptr, constant, {}};
  auto place = std::upper_bound(buffers.begin(), buffers.end(), buffer.begin,
                                [](char *address, const Buffer &other) { return address < other.begin; });
  buffers.insert(place, std::move(buffer));
}

void GlobalMemory::beginLaunch() {
  order.beginLaunch();
  for (Buffer &buffer : buffers)
    buffer.writers.reset(), buffer.readConstant.clear();
}

static bool holds(const GlobalMemory::Buffer &buffer, const char *address, size_t bytes) {
  return address >= buffer.begin && size_t(address - buffer.begin) <= buffer.bytes &&
         bytes <= buffer.bytes - size_t(address - buffer.begin);
}

GlobalMemory::Buffer *GlobalMemory::find(const void *pointer, size_t bytes) {
  auto *address = static_cast<const char *>(pointer);
  if (last < buffers.size() && holds(buffers[last], address, bytes))
    return &buffers[last];
  auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                [](const char *a, const Buffer &buffer) { return a < buffer.begin; });
  // A registered buffer may lie inside another one (a view of a workspace), so look further back too.
  for (auto it = after; it != buffers.begin();)
    if (holds(*--it, address, bytes)) {
      last = size_t(it - buffers.begin());
      return &*it;
    }
  return nullptr;
}

const GlobalMemory::Buffer *GlobalMemory::before(const void *pointer) const {
  auto *address = static_cast<const char *>(pointer);
  auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                [](const char *a, const Buffer &buffer) { return a < buffer.begin; });
  return after == buffers.begin() ? nullptr : &*std::prev(after);
}

/// What ld.global.nc reads stays as it is for the whole of the launch, before and after, whatever orders.
std::optional<GlobalConflict> GlobalMemory::accessConstant(Buffer &buffer, size_t begin, size_t bytes,
                                                           const Access &access) {
  if (access.constant && buffer.readConstant.empty())
    buffer.readConstant.resize(buffer.bytes);
  for (size_t offset = begin; offset < begin + bytes; ++offset) {
    const Writer writer = buffer.writers ? buffer.writers.get()[offset] : Writer{};
    if (access.constant && writer.block)
      return GlobalConflict{offset, writer.block - 1, writer.thread};
    if (access.store && !buffer.readConstant.empty() && buffer.readConstant[offset])
      return GlobalConflict{offset, 0, 0, /*constant=*/true};
    if (access.constant)
      buffer.readConstant[offset] = true;
  }
  return std::nullopt;
}

std::optional<GlobalConflict> GlobalMemory::access(Buffer &buffer, const void *address, size_t bytes,
                                                   const OrderClock &clock, const Access &access) {
  size_t begin = size_t(static_cast<const char *>(address) - buffer.begin);
  std::optional<GlobalConflict> conflict;
  if (access.constant || (access.store && !buffer.readConstant.empty()))
    conflict = accessConstant(buffer, begin, bytes, access);
  if (!buffer.writers) {
    if (!access.store)
      return conflict;
    // Zero pages come from the system as they are touched.
    buffer.writers.reset(static_cast<Writer *>(std::calloc(buffer.bytes, sizeof(Writer))));
    if (!buffer.writers)
      return conflict;
  }
  for (size_t offset = begin; offset < begin + bytes; ++offset) {
    Writer &writer = buffer.writers.get()[offset];
    // 8.7: two atomic accesses do not race if the scope of each includes the other's thread.
    Atomicity enough = writer.block == access.block + 1 ? Atomicity::Block : Atomicity::Device;
    bool written = writer.block && !(writer.atomic >= enough && access.atomic >= enough);
    auto isOrdered = [&] {
      if (writer.block != access.block + 1)
        return order.sees(clock, {access.block, access.thread}, {writer.block - 1, writer.thread}, writer.time);
      return writer.thread == access.thread || writer.time <= clock.seen(access.thread / 32, writer.thread / 32);
    };
    if (written && !conflict && !isOrdered())
      conflict = {offset, writer.block - 1, writer.thread};
    if (access.store)
      writer = {access.block + 1, access.thread, access.atomic, clock.now()};
  }
  return conflict;
}

} // namespace attune::emulator
