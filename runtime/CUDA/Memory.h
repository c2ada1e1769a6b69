//===- Memory.h - Device memory and copies to and from it -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For prepare alone, which may allocate and wait; a run does neither. Allocation and copies need the code's context to be
// current (CudaScope).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_MEMORY_H
#define ATTUNE_RT_CUDA_MEMORY_H

#include "Common/Copy.h"
#include "Module.h"

namespace attune::rt {

/// Device memory that is freed at the end of the scope, unless it is taken.
class DeviceMemory {
public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// At least one byte, so that null means there is none. The driver aligns it to 256 bytes.
  attune_status allocate(const CudaCode &code, const Place &place, size_t bytes);
  char *take() {
    char *taken = data;
    data = nullptr;
    return taken;
  }
  char *data = nullptr; // a device address

private:
  const CudaCode *code = nullptr;
};

void freeOnDevice(const CudaCode &code, char *data);

/// Waits for all work of the context.
attune_status finishDeviceWork(const CudaCode &code, const Place &place);

attune_status copyToDevice(const CudaCode &code, const Place &place, char *to, const char *from, size_t bytes);

/// Brings a tensor of any strides to the host: all that lies between its first and its last byte. The view's address then
/// points into `host`.
attune_status fetchFromDevice(const CudaCode &code, const Place &place, const SlotView &view, size_t elementBytes,
                              Memory &host);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_MEMORY_H
