//===- Device.h - Kernels compiled for a GPU, and run in the emulator -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_LOWERINGGPU_DEVICE_H
#define ATTUNE_TEST_LOWERINGGPU_DEVICE_H

#include "../LoweringCPU/Problems.h"

#include "attune/Emulator/DeviceEmulator.h"
#include "attune/Tile/Tile.h"
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Target/EmitDevice.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>

namespace attune::test {

/// A context with all dialects that kernels go through.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A problem's function with a schedule for a GPU.
std::string gpuSource(const Problem &problem, tile::WarpGrid warps = {4, 1});

/// A plan for a GPU: its kernels, lowered, and its host function, which the tests interpret.
struct DevicePlan {
  mlir::OwningOpRef<mlir::ModuleOp> kernels, host;
  std::string chip;
};

/// Lowers the kernels of a module. Null, after diagnostics, if that fails.
std::optional<DevicePlan> lowerPlan(mlir::OwningOpRef<mlir::ModuleOp> module, const std::string &chip = "sm_80",
                                    device::Products products = device::Products::MmaSync);

/// Cuts `source` into kernels and lowers them. Null, after diagnostics, if that fails.
std::optional<DevicePlan> compilePlan(mlir::MLIRContext &context, const std::string &source,
                                      const std::string &chip = "sm_80");

/// A plan in the emulator.
class EmulatedPlan {
public:
  explicit EmulatedPlan(const DevicePlan &plan, bool shuffled = false, uint64_t seed = 1);
  /// Launches what the host function launches.
  void run(const std::vector<Tensor> &arguments);
  const EmulatorReport &report() const { return emulator->report(); }

private:
  mlir::ModuleOp host;
  std::vector<DeviceKernel> kernels;
  std::unique_ptr<DeviceEmulator> emulator;
};

} // namespace attune::test

#endif // ATTUNE_TEST_LOWERINGGPU_DEVICE_H
