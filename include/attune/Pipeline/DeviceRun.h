//===- DeviceRun.h - A library's tensors in the memory of a GPU -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_DEVICERUN_H
#define ATTUNE_PIPELINE_DEVICERUN_H

#include "attune/Pipeline/CudaDevice.h"
#include "attune/Pipeline/LoadedLibrary.h"

namespace attune {

class DeviceRun {
public:
  /// Copies the tensors of a run, as LoadedLibrary::run takes them, to the device that the library's handle was made for, and
  /// allocates the workspace. Library and tensors must outlive it.
  static llvm::Expected<std::unique_ptr<DeviceRun>> make(LoadedLibrary &library, std::shared_ptr<CudaDevice> device,
                                                         llvm::ArrayRef<HostTensor *> tensors);
  ~DeviceRun();

  /// Enqueues it.
  llvm::Error run();
  /// Runs it once; the device's seconds.
  llvm::Expected<double> timed();
  /// Waits, and copies that one of the tensors back.
  llvm::Error fetch(HostTensor &tensor);
  /// Of all tensors.
  size_t bytes() const;

private:
  DeviceRun(LoadedLibrary &library, std::shared_ptr<CudaDevice> device) : library(library), device(std::move(device)) {}
  llvm::Error place(llvm::ArrayRef<HostTensor *> given);

  LoadedLibrary &library;
  std::shared_ptr<CudaDevice> device;
  llvm::SmallVector<HostTensor *> tensors;
  llvm::SmallVector<uint64_t> addresses; ///< of the tensors; 0: an absent one
  uint64_t workspace = 0;
  size_t workspaceBytes = 0;
};

} // namespace attune

#endif // ATTUNE_PIPELINE_DEVICERUN_H
