//===- Handle.h - A created library: device, code, threads, scratch -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_HANDLE_H
#define ATTUNE_RT_COMMON_HANDLE_H

#include "Process.h"
#include "Tensor.h"

namespace attune::rt {
class ThreadPool;
struct CudaCode;
struct Product;
} // namespace attune::rt

struct attune_rt_handle {
  /// Of a GPU, in a child of a fork: the driver has no context there, and nothing can be asked of it.
  bool leftBehind;
  const attune_rt_descriptor *descriptor; ///< the library's, or `own`
  attune_rt_descriptor own;               ///< where the variant has a tensor table of its own: the library's with that
  const attune_rt_variant *variant;
  DLDevice device;

  // On the CPU.
  int32_t threads;
  attune_parallel_for parallelFor; // null: the pool, or the caller alone if there is none
  void *parallelForContext;
  attune::rt::ThreadPool *pool;
  char *scratch;
  size_t scratchStride, scratchBytes; // from one thread's scratch to the next, and all together

  // On a GPU.
  attune::rt::CudaCode *cuda;
  attune::rt::Product *products; ///< that cuBLASLt computes
  uint32_t productCount;

  /// Held during prepare and run: `running` and scratch are the handle's. A host whose parallel_for lets a waiting thread
  /// pick up another run of the same handle gets an error, not a deadlock.
  attune::rt::ProcessLock lock;
  /// Held for a moment: by questions about sizes, which need not wait for a run, and by prepare when all that it made
  /// takes its place. Taken after `lock`.
  attune::rt::ProcessLock questionLock;

  // Written by create, then by prepare under both locks.
  bool prepared;
  /// While prepare puts in its place what it made: a child of a fork would find some of it.
  std::atomic<bool> changing;
  /// What the parameters bound; where every run begins.
  attune::rt::Binding binding;
  /// The parameters' copies and the prepared tensors; one block, in host memory or in the device's.
  char *kept;

  /// The slots of a run and of a question: allocated by create, so that neither allocates.
  attune::rt::Arguments running, question;
  char *slotMemory;
};

namespace attune::rt {

constexpr size_t pageBytes = 4096;

inline size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Gives back everything that a handle has, itself too.
void freeHandle(attune_rt_handle &handle);

/// In a child of a fork, before the handle's first use there: the threads are gone, and what they had half done is undone.
void leaveParent(attune_rt_handle &handle);

/// Refuses a handle that has no device in this process.
attune_status checkProcess(const attune_rt_handle &handle, const char *function);

inline Place placeOf(const attune_rt_handle &handle, const char *function) {
  return {handle.descriptor->name, function};
}

inline bool onCpu(const attune_rt_handle &handle) { return handle.device.device_type == kDLCPU; }

/// Checks that prepare has been called. The caller holds one of its locks.
attune_status checkPrepared(const attune_rt_handle &handle, const Place &place);

/// Holds the handle's lock; `status` says whether it could be had.
class HandleLock {
public:
  HandleLock(attune_rt_handle &handle, const Place &place);
  ~HandleLock();
  HandleLock(const HandleLock &) = delete;
  HandleLock &operator=(const HandleLock &) = delete;
  attune_status status = ATTUNE_OK;

private:
  attune_rt_handle &handle;
};

/// Holds the handle's question lock.
struct QuestionLock : LockScope {
  explicit QuestionLock(attune_rt_handle &handle) : LockScope(handle.questionLock) {}
};

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_HANDLE_H
