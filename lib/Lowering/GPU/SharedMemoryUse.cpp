//===- SharedMemoryUse.cpp - Who has which shared memory, and when ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SharedMemoryUse.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::device;

/// A small buffer rather takes new memory than wait for the last users of old.
static constexpr int64_t smallBytes = 2048;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool SharedMemoryUse::isDirty(SharedRange range) const {
  return llvm::any_of(left, [&](SharedRange other) { return range.overlaps(other); });
}

/// The lowest free range; `clean`: one that nobody may still be reading, and which does not make the whole much larger.
std::optional<SharedRange> SharedMemoryUse::findFree(int64_t bytes, int64_t alignment, bool clean) const {
  SmallVector<int64_t> starts{0};
  for (auto [begin, end] : taken)
    starts.push_back(end);
  if (clean)
    for (SharedRange range : left)
      starts.push_back(range.end);
  llvm::sort(starts);
  for (int64_t end : starts) {
    int64_t start = llvm::alignTo(end, alignment);
    SharedRange range{start, start + bytes};
    bool isFree = llvm::none_of(taken, [&](auto each) { return range.overlaps({each.first, each.second}); });
    bool grows = range.end > highest && bytes > smallBytes;
    if (isFree && !(clean && (isDirty(range) || grows)))
      return range;
  }
  return std::nullopt;
}

SharedBuffer SharedMemoryUse::allocate(int64_t bytes, int64_t alignment) {
  bytes = llvm::alignTo(bytes, smallestAlignment);
  std::optional<SharedRange> range = findFree(bytes, alignment, /*clean=*/true);
  if (!range)
    range = findFree(bytes, alignment, /*clean=*/false); // behind everything at the latest
  taken[range->begin] = range->end;
  ranges.insert({++lastBuffer, *range});
  highest = std::max(highest, range->end);
  return {lastBuffer, range->begin};
}

void SharedMemoryUse::release(int buffer) {
  SharedRange range = ranges.lookup(buffer);
  if (written.contains(buffer) || read.contains(buffer))
    left.push_back(range);
  taken.erase(range.begin);
  ranges.erase(buffer);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void SharedMemoryUse::barrier(DeviceBuilder &code) {
  if (fencesWrites)
    code.fenceForProducts();
  code.barrier();
  written.clear(), read.clear(), left.clear(), loaded.clear(), stored.clear();
  unordered = false;
}

void SharedMemoryUse::beforeRead(DeviceBuilder &code, int buffer) {
  if (written.contains(buffer))
    barrier(code);
  read.insert(buffer);
}

void SharedMemoryUse::beforeWrite(DeviceBuilder &code, int buffer) {
  if (unordered || read.contains(buffer) || isDirty(ranges.lookup(buffer)))
    barrier(code);
  written.insert(buffer);
}

void SharedMemoryUse::beforeLoad(DeviceBuilder &code, Value memory) {
  if (stored.contains(memory))
    barrier(code);
  loaded.insert(memory);
}

void SharedMemoryUse::beforeStore(DeviceBuilder &code, Value memory) {
  if (loaded.contains(memory) || stored.contains(memory))
    barrier(code);
  stored.insert(memory);
}
