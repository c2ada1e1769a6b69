//===- DeviceEmulator.h - Runs device code on the CPU -----------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes kernels, as PTX text or as an LLVM module for nvptx64, on this CPU and checks them while they run: bounds,
// alignment, uninitialised reads, races, copies in flight, divergence, deadlocks, bank conflicts. Each GPU thread is a
// fiber; the blocks of a launch run one after another. What it does not model is refused by name when the emulator is
// created.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_DEVICEEMULATOR_H
#define ATTUNE_EMULATOR_DEVICEEMULATOR_H

#include "attune/Emulator/EmulatorReport.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attune {

struct EmulatorOptions {
  bool check = true;            ///< false: only values; an access out of bounds is then undefined
  bool shuffleSchedule = false; ///< run blocks and warps in a drawn order, switching between warps at warp instructions
  uint64_t seed = 1;            ///< of the drawn order, and of the errors of approximations
  /// Sums of matrix products as published measurements of the chip's matrix units describe them, and approximate
  /// instructions as far off as they may be; else both as exact as can be.
  bool pessimistic = false;
  size_t staticSharedLimit = 48 * 1024;
  size_t sharedLimit = 163 * 1024; ///< static and dynamic together, of LLVM IR; PTX names an architecture
  std::string chip;                ///< that it runs on, as sm_90a; empty: what PTX is for, and sm_80 for LLVM IR
  unsigned maxFindings = 64;       ///< kept with their text; all are counted
};

class DeviceEmulator {
public:
  /// Takes the module as the translation of a gpu.module gives it, and its context. Fails if it holds an instruction
  /// that is not modelled.
  static llvm::Expected<std::unique_ptr<DeviceEmulator>> create(std::unique_ptr<llvm::Module> module,
                                                                std::unique_ptr<llvm::LLVMContext> context,
                                                                EmulatorOptions options = {});
  /// Takes PTX text. Fails, with the line, if it is wrong, if it holds what is not modelled, or if the chip could not load
  /// it. The text is not needed afterwards.
  static llvm::Expected<std::unique_ptr<DeviceEmulator>> createFromPtx(llvm::StringRef text,
                                                                       EmulatorOptions options = {});
  ~DeviceEmulator();

  /// Makes `bytes` bytes at `base` known as global memory; accesses outside all known buffers are findings.
  void addGlobal(void *base, size_t bytes, llvm::StringRef name);
  void clearGlobals();

  /// Runs a kernel to its end. `params` has one 8-byte slot per kernel parameter (narrow values in the low bytes).
  /// Faults of the program are findings of the report; an error means that the launch itself was wrong, or that the
  /// kernel could not go on (deadlock, divergence).
  llvm::Error launch(llvm::StringRef kernel, Dim3 grid, Dim3 block, size_t dynamicSharedBytes,
                     llvm::ArrayRef<uint64_t> params);

  /// Of all launches since creation or the last reset.
  const EmulatorReport &report() const;
  void resetReport();

  std::vector<std::string> kernels() const;
  /// Static shared memory of the module, without the gaps that the emulator puts between its buffers.
  size_t staticSharedBytes() const;

private:
  struct Impl;
  explicit DeviceEmulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace attune

#endif // ATTUNE_EMULATOR_DEVICEEMULATOR_H
