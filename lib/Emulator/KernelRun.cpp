//===- KernelRun.cpp - One kernel on buffers of the command line ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/KernelRun.h"

#include "attune/Emulator/ReadModule.h"

#include "llvm/Support/Format.h"

#include <chrono>

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static double milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

static Expected<std::unique_ptr<DeviceEmulator>> load(StringRef input, const EmulatorOptions &options) {
  auto text = readInput(input);
  if (!text)
    return text.takeError();
  if (isPtx((*text)->getBuffer()))
    return DeviceEmulator::createFromPtx((*text)->getBuffer(), options);
  auto context = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> module = readModule(**text, *context);
  if (!module)
    return createStringError(inconvertibleErrorCode(), "no device code");
  return DeviceEmulator::create(std::move(module), std::move(context), options);
}

Expected<bool> emulator::runKernel(const KernelRun &run, ArrayRef<CommandBuffer> buffers, ArrayRef<uint64_t> parameters,
                                   raw_ostream &out) {
  auto start = std::chrono::steady_clock::now();
  auto emulator = load(run.input, run.options);
  if (!emulator)
    return emulator.takeError();
  std::vector<std::string> kernels = (*emulator)->kernels();
  if (kernels.empty())
    return createStringError(inconvertibleErrorCode(), "expected a kernel (ptx_kernel), but the module has none");
  for (const CommandBuffer &buffer : buffers)
    (*emulator)->addGlobal(buffer.data(), buffer.bytes(), buffer.name);
  double prepared = milliseconds(start);
  start = std::chrono::steady_clock::now();
  Error error = (*emulator)->launch(run.kernel.empty() ? kernels.front() : run.kernel, run.grid, run.block,
                                    run.dynamicShared, parameters);
  double ran = milliseconds(start);
  const EmulatorReport &report = (*emulator)->report();
  report.printFindings(out);
  if (error)
    return std::move(error);
  if (run.counters)
    report.printCounters(out);
  if (run.timing)
    out << format("preparing %.1f ms, running %.1f ms\n", prepared, ran);
  return report.clean();
}
