//===- DeviceCode.h - From kernels to device code and the host part that launches it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_DEVICECODE_H
#define ATTUNE_PIPELINE_DEVICECODE_H

#include "attune/Emulator/EmulatorReport.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Support/HostTensor.h"
#include "attune/Target/EmitDevice.h"

namespace attune {

struct LaunchWork;

/// A spec compiled for a GPU: the kernels as a gpu.module in the llvm dialect, and the plans as LLVM IR for the host that
/// launch them by their place in `kernels`.
struct DeviceCode {
  mlir::OwningOpRef<mlir::ModuleOp> device;
  std::vector<DeviceKernel> kernels;
  LibraryModule host; ///< its description has one variant, still without images
};

/// Takes a compilation for a GPU to device code. Null, with diagnostics, if that fails.
std::optional<DeviceCode> compileForGpu(Compilation &compilation);

/// PTX of the device code, kernels that are equal made once; it goes into the description's variant.
mlir::LogicalResult addPtx(Compilation &compilation, DeviceCode &code);

/// PTX, and cubin if `ptxas` is there; both go into the description's variant.
mlir::LogicalResult addImages(Compilation &compilation, DeviceCode &code);

/// Runs device code that was compiled for `target` in the emulator, the prepare plan first, on tensors in the order of the
/// interface (null: an optional one that is not wanted, and those that the prepare plan fills). Findings are in `report`; an
/// error means that the kernels could not be run to their end. The host part is used up. `pessimistic` is that of the
/// emulator's options.
llvm::Error emulate(DeviceCode &code, llvm::StringRef target, llvm::ArrayRef<HostTensor *> tensors,
                    EmulatorReport &report, bool pessimistic = false);

/// Runs the spec in the emulator, its prepare plan first, on tensors in the order of the interface (null: an optional one
/// that is not wanted, and those that the prepare plan fills). Findings of the emulator go to standard error and are an
/// error. `work` takes what each launch did.
llvm::Error runEmulated(Compilation &compilation, llvm::ArrayRef<HostTensor *> tensors,
                        std::vector<LaunchWork> *work = nullptr, bool pessimistic = false);

} // namespace attune

#endif // ATTUNE_PIPELINE_DEVICECODE_H
