//===- KernelRun.h - One kernel on buffers of the command line --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_KERNELRUN_H
#define ATTUNE_EMULATOR_KERNELRUN_H

#include "attune/Emulator/Buffers.h"
#include "attune/Emulator/DeviceEmulator.h"

namespace attune::emulator {

/// What attn-emulate runs and what it prints of it.
struct KernelRun {
  std::string input;  ///< device code: a path, or "-"
  std::string kernel; ///< empty: the only one
  Dim3 grid, block;
  size_t dynamicShared = 0;
  EmulatorOptions options;
  bool counters = false, timing = false;
};

/// Runs the kernel and prints findings. Whether there were none; an error if the run could not be made or not ended.
llvm::Expected<bool> runKernel(const KernelRun &run, llvm::ArrayRef<CommandBuffer> buffers,
                               llvm::ArrayRef<uint64_t> parameters, llvm::raw_ostream &out);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_KERNELRUN_H
