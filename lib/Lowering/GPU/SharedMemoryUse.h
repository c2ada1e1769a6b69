//===- SharedMemoryUse.h - Who has which shared memory, and when -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers are handed out while code is made and given back after their last use, so that memory serves several in turn.
// Between a write and a read by other threads there is a barrier, and also between the last access to a buffer and the
// first write to one that has its place.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_SHAREDMEMORYUSE_H
#define ATTUNE_LIB_LOWERING_GPU_SHAREDMEMORYUSE_H

#include "DeviceBuilder.h"

#include "llvm/ADT/DenseSet.h"

#include <map>

namespace attune::device {

/// Bytes begin … end − 1 of a block's shared memory.
struct SharedRange {
  int64_t begin, end;
  bool overlaps(SharedRange other) const { return begin < other.end && other.begin < end; }
};

struct SharedBuffer {
  int id;
  int64_t begin; // a multiple of the alignment asked for
};

class SharedMemoryUse {
public:
  static constexpr int64_t smallestAlignment = 128;
  SharedBuffer allocate(int64_t bytes, int64_t alignment = smallestAlignment);
  void release(int buffer);
  /// The most bytes in use at a time.
  int64_t peak() const { return highest; }

  void beforeRead(DeviceBuilder &code, int buffer);
  void beforeWrite(DeviceBuilder &code, int buffer);
  /// Whatever is written next waits for everyone.
  void waitBeforeNextWrite() { unordered = true; }
  void barrier(DeviceBuilder &code);
  /// Products read shared memory by themselves: what threads have written must be made known to them before a barrier.
  void readByProducts() { fencesWrites = true; }

  /// Loads and stores of a global memory through which threads of the block exchange what they have.
  void beforeLoad(DeviceBuilder &code, mlir::Value memory);
  void beforeStore(DeviceBuilder &code, mlir::Value memory);

private:
  std::optional<SharedRange> findFree(int64_t bytes, int64_t alignment, bool clean) const;
  bool isDirty(SharedRange range) const;

  int64_t highest = 0;
  int lastBuffer = 0;
  bool unordered = false, fencesWrites = false;
  std::map<int64_t, int64_t> taken;            // begin → end
  llvm::DenseMap<int, SharedRange> ranges;     // of the buffers in use
  llvm::DenseSet<int> written, read;           // since the last barrier
  llvm::SmallVector<SharedRange> left;         // accessed since the last barrier and given back
  llvm::DenseSet<mlir::Value> loaded, stored;  // since the last barrier
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_SHAREDMEMORYUSE_H
