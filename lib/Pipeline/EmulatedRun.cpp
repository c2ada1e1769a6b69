//===- EmulatedRun.cpp - Device code on the CPU ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan is host code: it is compiled here and run, and each kernel that it launches runs in the emulator. Every tensor
// and the workspace are buffers that the emulator knows, so an access outside them is found.
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/DeviceEmulator.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune-rt/PickPlan.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace attune;
using namespace attune::target;
using llvm::StringRef;

namespace {
/// What attune_rt_launch_device gets as its launcher.
struct Launcher {
  DeviceEmulator &emulator;
  llvm::ArrayRef<DeviceKernel> kernels;
  std::string message; // of the first launch that failed

  void launch(int64_t index, const uint64_t *slots, int64_t count, Dim3 grid) {
    const DeviceKernel &kernel = kernels[index];
    if (!message.empty() || grid.count() == 0)
      return;
    Dim3 block{static_cast<uint32_t>(kernel.blockSize), 1, 1};
    llvm::ArrayRef<uint64_t> params(slots, static_cast<size_t>(count));
    if (llvm::Error error = emulator.launch(kernel.name, grid, block, kernel.sharedBytes, params))
      message = llvm::toString(std::move(error));
  }
};
} // namespace

extern "C" {
static void emulateLaunch(void *launcher, int64_t kernel, const void *args, int64_t slots, int64_t gx, int64_t gy,
                          int64_t gz) {
  auto size = [](int64_t value) { return static_cast<uint32_t>(value); };
  static_cast<Launcher *>(launcher)->launch(kernel, static_cast<const uint64_t *>(args), slots,
                                            {size(gx), size(gy), size(gz)});
}
}

/// The slots of row-major tensors: address, sizes, strides.
static std::vector<uint64_t> tensorSlots(const LibraryDescription &interface, llvm::ArrayRef<HostTensor *> tensors) {
  std::vector<uint64_t> slots;
  for (auto [tensor, description] : llvm::zip_equal(tensors, interface.tensors)) {
    size_t rank = description.dims.size();
    if (!tensor) {
      slots.insert(slots.end(), 1 + 2 * rank, 0);
      continue;
    }
    slots.push_back(reinterpret_cast<uint64_t>(tensor->bytes.data()));
    slots.insert(slots.end(), tensor->shape.begin(), tensor->shape.end());
    std::vector<uint64_t> strides(rank, 1);
    for (size_t i = rank - 1; i > 0; --i)
      strides[i - 1] = strides[i] * static_cast<uint64_t>(tensor->shape[i]);
    slots.insert(slots.end(), strides.begin(), strides.end());
  }
  return slots;
}

/// The plan that the runtime would take for these tensors.
static const PlanDescription &choosePlan(const VariantDescription &variant, const LibraryDescription &interface,
                                         llvm::ArrayRef<HostTensor *> tensors) {
  std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> sizes = bindSizes(interface, tensors);
  auto fromLength = [&](uint32_t plan) { return variant.plans[plan].fromLength; };
  return variant.plans[rt::pickPlan(static_cast<uint32_t>(variant.plans.size()), fromLength, sizes[ATTUNE_RT_QUERIES],
                                    sizes[ATTUNE_RT_KEYS])];
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> compileHost(LibraryModule &host) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  host.module->setDataLayout((*jit)->getDataLayout());
  llvm::orc::SymbolMap symbols;
  symbols[(*jit)->mangleAndIntern("attune_rt_launch_device")] = {llvm::orc::ExecutorAddr::fromPtr(&emulateLaunch),
                                                                 llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  llvm::orc::ThreadSafeModule module(std::move(host.module), std::move(host.context));
  if (llvm::Error error = (*jit)->addIRModule(std::move(module)))
    return std::move(error);
  return std::move(*jit);
}

static llvm::Expected<std::unique_ptr<DeviceEmulator>> makeEmulator(DeviceCode &code) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = translateDeviceModule(*code.device, *context);
  if (failed(module))
    return llvm::createStringError("the device code could not be translated");
  return DeviceEmulator::create(std::move(*module), std::move(context));
}

/// Runs one plan; the workspace begins as NaN, so that reading what was never written shows in the result.
static llvm::Error runPlan(DeviceCode &code, DeviceEmulator &emulator, const PlanDescription &plan,
                           std::vector<uint64_t> slots) {
  auto jit = compileHost(code.host);
  if (!jit)
    return jit.takeError();
  auto run = (*jit)->lookup(plan.planFunction), size = (*jit)->lookup(plan.workspaceFunction);
  if (!run || !size)
    return llvm::joinErrors(run ? llvm::Error::success() : run.takeError(),
                            size ? llvm::Error::success() : size.takeError());
  auto bytes = static_cast<size_t>(size->toPtr<int64_t (*)(const void *)>()(slots.data()));
  std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(64, bytes + 64 - bytes % 64), &std::free);
  if (!workspace)
    return llvm::createStringError("expected " + llvm::Twine(bytes) + " bytes of workspace, but got none");
  memset(workspace.get(), 0xff, bytes);
  emulator.addGlobal(workspace.get(), bytes, "workspace");
  slots.push_back(reinterpret_cast<uint64_t>(workspace.get()));
  Launcher launcher{emulator, code.kernels, ""};
  run->toPtr<void (*)(void *, const void *)>()(&launcher, slots.data());
  return launcher.message.empty() ? llvm::Error::success() : llvm::createStringError(launcher.message);
}

llvm::Error attune::runEmulated(Compilation &compilation, llvm::ArrayRef<HostTensor *> tensors) {
  std::optional<DeviceCode> code = compileForGpu(compilation);
  if (!code)
    return llvm::createStringError("the spec could not be compiled");
  auto emulator = makeEmulator(*code);
  if (!emulator)
    return emulator.takeError();
  const LibraryDescription &interface = compilation.interface();
  for (auto [tensor, description] : llvm::zip_equal(tensors, interface.tensors))
    if (tensor)
      (*emulator)->addGlobal(tensor->bytes.data(), tensor->bytes.size(), description.name);
  const PlanDescription plan = choosePlan(code->host.description.variants.front(), interface, tensors);
  llvm::Error error = runPlan(*code, **emulator, plan, tensorSlots(interface, tensors));
  const EmulatorReport &report = (*emulator)->report();
  if (report.clean())
    return error;
  report.printFindings(llvm::errs());
  return llvm::joinErrors(std::move(error), llvm::createStringError("the emulator found faults in the device code"));
}
