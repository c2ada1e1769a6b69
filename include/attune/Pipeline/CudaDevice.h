//===- CudaDevice.h - A GPU's memory and clock, through the driver -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a caller of a compiled library needs of a GPU beside the library, whose own runtime is not ours to call: memory, copies,
// and times by events. The driver is opened at run time, in the device's primary context, which the library uses too.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_CUDADEVICE_H
#define ATTUNE_PIPELINE_CUDADEVICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace attune {

class CudaDevice {
public:
  /// The first GPU.
  static llvm::Expected<std::shared_ptr<CudaDevice>> open();
  ~CudaDevice();

  /// At least one byte.
  llvm::Expected<uint64_t> allocate(size_t bytes);
  void free(uint64_t address);
  llvm::Error copyIn(uint64_t to, llvm::ArrayRef<char> from);
  /// After all work that was enqueued.
  llvm::Error copyOut(llvm::MutableArrayRef<char> to, uint64_t from);

  /// Seconds that the device takes for what `work` enqueues, by events.
  llvm::Expected<double> seconds(llvm::function_ref<llvm::Error()> work);
  /// Bytes read and written a second by a copy within its memory, of more than its caches hold.
  llvm::Expected<double> copyRate();

private:
  struct Driver;
  class Current;
  CudaDevice();
  llvm::Error check(int result, llvm::StringRef call);

  std::unique_ptr<Driver> driver;
  int device = 0;
  void *context = nullptr;
};

} // namespace attune

#endif // ATTUNE_PIPELINE_CUDADEVICE_H
