//===- Handle.h - A created library: device, code, threads, scratch -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_HANDLE_H
#define ATTUNE_RT_COMMON_HANDLE_H

#include "Tensor.h"

#include <pthread.h>

namespace attune::rt {
class ThreadPool;
struct CudaCode;
} // namespace attune::rt

struct attune_rt_handle {
  /// `liveMagic` from create to destroy, to catch handles that are not.
  uint32_t magic;
  bool prepared;
  const attune_rt_descriptor *descriptor;
  const attune_rt_variant *variant;
  DLDevice device;

  // On the CPU.
  int32_t threads;
  attune_parallel_for parallelFor; // null: the pool, or the caller alone if there is none
  void *parallelForContext;
  attune::rt::ThreadPool *pool;
  char *scratch;
  size_t scratchStride; // bytes from one thread's scratch to the next
  /// Held during prepare and a CPU run: scratch is the handle's. Error-checking, so that a host whose parallel_for
  /// lets a waiting thread pick up another run of the same handle gets an error, not a deadlock.
  pthread_mutex_t lock;

  // On a GPU.
  attune::rt::CudaCode *cuda;

  /// Copies of the parameters; one block, and their slots at the positions of the tensor table.
  char *parameters;
  attune::rt::Arguments parameterArguments;
};

namespace attune::rt {

constexpr uint32_t liveMagic = 0x41545455;
constexpr size_t pageBytes = 4096;

/// Checks that `handle` is one, and starts the message of an entry point afresh.
attune_status enterHandle(const attune_rt_handle *handle, const char *function);

inline Place placeOf(const attune_rt_handle &handle, const char *function) {
  return {handle.descriptor->name, function};
}

inline bool onCpu(const attune_rt_handle &handle) { return handle.device.device_type == kDLCPU; }

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

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_HANDLE_H
