//===- EmulatedRun.cpp - Device code on the CPU ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans are host code: they are compiled here and run, and each kernel that they launch runs in the emulator. Every tensor
// and every workspace is a buffer that the emulator knows, so an access outside them is found. As in the runtime, the
// prepare plan runs first and fills the prepared tensors; what no kernel has written is NaN, so that reading it shows in
// the result.
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/DeviceEmulator.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Pipeline/Pipelines.h"
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
  llvm::ArrayRef<DeviceKernelDescription> kernels;
  std::string message; // of the first launch that failed

  void launch(int64_t index, const uint64_t *slots, int64_t count, Dim3 grid) {
    const DeviceKernelDescription &kernel = kernels[index];
    if (!message.empty() || grid.count() == 0)
      return;
    auto size = [](int32_t value) { return static_cast<uint32_t>(value); };
    Dim3 block{size(kernel.block[0]), size(kernel.block[1]), size(kernel.block[2])};
    llvm::ArrayRef<uint64_t> params(slots, static_cast<size_t>(count));
    if (llvm::Error error = emulator.launch(kernel.name, grid, block, static_cast<size_t>(kernel.sharedBytes), params))
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

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Adds the slots of a row-major tensor: address, sizes, strides; zeros for an absent one.
static void appendSlots(std::vector<uint64_t> &slots, const HostTensor *tensor, size_t rank) {
  if (!tensor) {
    slots.insert(slots.end(), 1 + 2 * rank, 0);
    return;
  }
  slots.push_back(reinterpret_cast<uint64_t>(tensor->bytes.data()));
  slots.insert(slots.end(), tensor->shape.begin(), tensor->shape.end());
  std::vector<uint64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * static_cast<uint64_t>(tensor->shape[i]);
  slots.insert(slots.end(), strides.begin(), strides.end());
}

namespace {
/// The tensors of a run in the order of the interface, the prepared ones among them.
struct Tensors {
  const LibraryDescription &interface;
  std::vector<HostTensor *> all;
  std::vector<std::unique_ptr<HostTensor>> prepared;

  Tensors(const LibraryDescription &interface, llvm::ArrayRef<HostTensor *> given)
      : interface(interface), all(given.begin(), given.end()) {
    for (auto [tensor, description] : llvm::zip_equal(all, interface.tensors)) {
      if (description.role != ATTUNE_RT_PREPARED)
        continue;
      prepared.push_back(std::make_unique<HostTensor>(
          HostTensor::zeros(elementTypeOf(description.dtype), description.dims)));
      tensor = prepared.back().get();
      llvm::fill(tensor->bytes, '\xff');
    }
  }

  /// What a run's plan takes.
  std::vector<uint64_t> slots() const {
    std::vector<uint64_t> result;
    for (auto [tensor, description] : llvm::zip_equal(all, interface.tensors))
      appendSlots(result, tensor, description.dims.size());
    return result;
  }

  /// What the prepare plan takes: the parameters, then the prepared tensors.
  std::vector<uint64_t> prepareSlots() const {
    std::vector<uint64_t> result;
    for (attune_rt_role role : {ATTUNE_RT_PARAMETER, ATTUNE_RT_PREPARED})
      for (auto [tensor, description] : llvm::zip_equal(all, interface.tensors))
        if (description.role == role)
          appendSlots(result, tensor, description.dims.size());
    return result;
  }
};
} // namespace

/// The plan that the runtime would take for these tensors.
static const PlanDescription &choosePlan(const VariantDescription &variant, const Tensors &tensors) {
  std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> sizes = bindSizes(tensors.interface, tensors.all);
  auto fromLength = [&](uint32_t plan) { return variant.plans[plan].fromLength; };
  return variant.plans[rt::pickPlan(static_cast<uint32_t>(variant.plans.size()), fromLength, sizes[ATTUNE_RT_QUERIES],
                                    sizes[ATTUNE_RT_KEYS])];
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

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

/// What runs is the text that a library of this code holds.
static llvm::Expected<std::unique_ptr<DeviceEmulator>> makeEmulator(const DeviceCode &code, StringRef target,
                                                                    bool pessimistic) {
  EmulatorOptions options;
  options.chip = target.str();
  options.pessimistic = pessimistic;
  return DeviceEmulator::createFromPtx(code.host.description.variants.front().ptx, options);
}

namespace {
/// Runs plans; their workspaces live as long as it does, since the emulator knows them.
class PlanRunner {
public:
  PlanRunner(DeviceEmulator &emulator, llvm::ArrayRef<DeviceKernelDescription> kernels, llvm::orc::LLJIT &jit)
      : emulator(emulator), kernels(kernels), jit(jit) {}

  llvm::Error run(const PlanDescription &plan, std::vector<uint64_t> slots) {
    auto run = jit.lookup(plan.planFunction), size = jit.lookup(plan.workspaceFunction);
    if (!run || !size)
      return llvm::joinErrors(run ? llvm::Error::success() : run.takeError(),
                              size ? llvm::Error::success() : size.takeError());
    auto bytes = static_cast<size_t>(size->toPtr<int64_t (*)(const void *)>()(slots.data()));
    void *workspace = allocate(bytes, plan.form);
    if (!workspace)
      return llvm::createStringError("expected " + llvm::Twine(bytes) + " bytes of workspace, but got none");
    slots.push_back(reinterpret_cast<uint64_t>(workspace));
    Launcher launcher{emulator, kernels, ""};
    run->toPtr<void (*)(void *, const void *)>()(&launcher, slots.data());
    return launcher.message.empty() ? llvm::Error::success() : llvm::createStringError(launcher.message);
  }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  void *allocate(size_t bytes, StringRef form) {
    workspaces.emplace_back(std::aligned_alloc(64, bytes + 64 - bytes % 64));
    void *workspace = workspaces.back().get();
    if (!workspace)
      return nullptr;
    memset(workspace, 0xff, bytes);
    emulator.addGlobal(workspace, bytes, ("workspace of " + form).str());
    return workspace;
  }

  DeviceEmulator &emulator;
  llvm::ArrayRef<DeviceKernelDescription> kernels;
  llvm::orc::LLJIT &jit;
  std::vector<std::unique_ptr<void, Free>> workspaces;
};
} // namespace

static llvm::Error runPlans(DeviceCode &code, DeviceEmulator &emulator, const Tensors &tensors) {
  auto jit = compileHost(code.host);
  if (!jit)
    return jit.takeError();
  const VariantDescription &variant = code.host.description.variants.front();
  PlanRunner runner(emulator, variant.kernels, **jit);
  if (variant.prepare)
    if (llvm::Error error = runner.run(*variant.prepare, tensors.prepareSlots()))
      return error;
  return runner.run(choosePlan(variant, tensors), tensors.slots());
}

llvm::Error attune::emulate(DeviceCode &code, StringRef target, llvm::ArrayRef<HostTensor *> given,
                            EmulatorReport &report, bool pessimistic) {
  auto emulator = makeEmulator(code, target, pessimistic);
  if (!emulator)
    return emulator.takeError();
  Tensors tensors(code.host.description, given);
  for (auto [tensor, description] : llvm::zip_equal(tensors.all, tensors.interface.tensors))
    if (tensor)
      (*emulator)->addGlobal(tensor->bytes.data(), tensor->bytes.size(), description.name);
  llvm::Error error = runPlans(code, **emulator, tensors);
  report = (*emulator)->report();
  return error;
}

llvm::Error attune::runEmulated(Compilation &compilation, llvm::ArrayRef<HostTensor *> given,
                                std::vector<LaunchWork> *work, bool pessimistic) {
  std::optional<DeviceCode> code = compileForGpu(compilation);
  if (!code)
    return llvm::createStringError("the spec could not be compiled");
  if (failed(addPtx(compilation, *code)))
    return llvm::createStringError("the device code could not be made PTX");
  EmulatorReport report;
  llvm::Error error = emulate(*code, compilation.target(), given, report, pessimistic);
  if (work)
    *work = report.launches;
  if (report.clean())
    return error;
  report.printFindings(llvm::errs());
  return llvm::joinErrors(std::move(error), llvm::createStringError("the emulator found faults in the device code"));
}
