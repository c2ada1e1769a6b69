//===- DeviceEmulator.cpp - Runs device code on the CPU -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/DeviceEmulator.h"

#include "Compile.h"
#include "Machine.h"
#include "Multiprocessor.h"
#include "PtxTranslate.h"
#include "Rewrite.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static Error fail(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

/// Room in the arena for the gaps between buffers and for their odd alignment.
static constexpr size_t arenaSlack = 128 * 1024;

struct DeviceEmulator::Impl {
  explicit Impl(EmulatorOptions given)
      : options(given), log(options.maxFindings), machine(options, shared, global, log), random(options.seed) {}

  Error reserve();
  Error readChip(Chip &chip) const;
  Error build(orc::ThreadSafeModule owned);
  Error buildFromIr(orc::ThreadSafeModule owned);
  Error buildFromPtx(StringRef text);
  Error checkSize(const KernelInfo &kernel, Dim3 block, size_t dynamicBytes) const;
  Error checkLaunch(const KernelInfo &kernel, Dim3 grid, Dim3 block, size_t dynamicBytes, size_t parameters) const;
  Error launch(StringRef kernel, Dim3 grid, Dim3 block, size_t dynamicBytes, ArrayRef<uint64_t> params);
  std::vector<uint64_t> blocksInOrder(Dim3 grid);
  void registerConstants();
  void collectUse();

  EmulatorOptions options;
  SharedMemory shared;
  GlobalMemory global;
  FindingLog log;
  Machine machine;
  RewriteResult program;
  std::unique_ptr<orc::LLJIT> compiler;
  std::vector<std::tuple<std::string, uint64_t, bool>> constantSizes; ///< with their bytes; of .const?
  std::mt19937_64 random;                         ///< the order of blocks
  const Multiprocessor *multiprocessor = nullptr; ///< of PTX
};

Error DeviceEmulator::Impl::reserve() {
  if (!shared.allocate(options.sharedLimit + arenaSlack))
    return fail("expected memory for the shared memory of a block, but got none");
  return Error::success();
}

/// Leaves it as it is if none was named.
Error DeviceEmulator::Impl::readChip(Chip &chip) const {
  if (!options.chip.empty() && !Chip::parse(options.chip, chip))
    return fail("expected a chip as sm_80, but got '" + options.chip + "'");
  return Error::success();
}

Error DeviceEmulator::Impl::buildFromIr(orc::ThreadSafeModule owned) {
  Chip chip{machine.capability, false};
  if (Error error = joinErrors(readChip(chip), reserve()))
    return error;
  machine.capability = chip.capability;
  return build(std::move(owned));
}

Error DeviceEmulator::Impl::buildFromPtx(StringRef text) {
  auto context = std::make_unique<LLVMContext>();
  // The text says what it is for, which says how much there is; the base of shared memory does not change with its
  // size.
  Chip chip;
  if (Error error = readChip(chip))
    return error;
  options.sharedLimit = std::max(options.sharedLimit, Multiprocessor::find(90)->sharedOfBlock);
  if (Error error = reserve())
    return error;
  auto translated = ptx::translate(text, uint64_t(uintptr_t(shared.at(0))), *context);
  if (!translated)
    return translated.takeError();
  Chip target{translated->target, translated->specific};
  chip = options.chip.empty() ? target : chip;
  multiprocessor = Multiprocessor::find(chip.capability);
  if (!multiprocessor)
    return fail("expected PTX for sm_80, sm_86, sm_87, sm_89 or sm_90, but got sm_" + Twine(chip.capability));
  if (!chip.runs(target))
    return fail("expected PTX that " + options.chip + " loads, but its .target is sm_" + Twine(target.capability) +
                (target.specific ? "a" : ""));
  options.sharedLimit = multiprocessor->sharedOfBlock;
  machine.capability = chip.capability;
  return build(orc::ThreadSafeModule(std::move(translated->module), std::move(context)));
}

Error DeviceEmulator::Impl::build(orc::ThreadSafeModule owned) {
  Module *module = owned.getModuleUnlocked();
  auto host = createHostCompiler();
  if (!host)
    return host.takeError();
  compiler = std::move(*host);
  module->setTargetTriple(compiler->getTargetTriple());
  module->setDataLayout(compiler->getDataLayout());
  auto rewritten = rewriteForHost(*module, shared, &machine, options.check);
  if (!rewritten)
    return rewritten.takeError();
  program = std::move(*rewritten);
  if (shared.staticBytes() > options.staticSharedLimit)
    return fail("expected at most " + Twine(options.staticSharedLimit) + " bytes of static shared memory, but got " +
                Twine(shared.staticBytes()) + "; use dynamic shared memory for the rest");
  for (const std::string &name : program.constants)
    if (const GlobalVariable *variable = module->getGlobalVariable(name))
      constantSizes.push_back({name, module->getDataLayout().getTypeAllocSize(variable->getValueType()),
                               variable->getAddressSpace() == 4});
  StripDebugInfo(*module);
  if (Error error = addModule(*compiler, std::move(owned)))
    return error;
  registerConstants();
  // The whole module is compiled at the first look-up; better now than in the first launch.
  for (const KernelInfo &kernel : program.kernels)
    if (auto entry = compiler->lookup(kernel.entry); !entry)
      return entry.takeError();
  return Error::success();
}

void DeviceEmulator::Impl::registerConstants() {
  for (auto &[name, bytes, constant] : constantSizes) {
    auto symbol = compiler->lookup(name);
    if (symbol)
      global.add(symbol->toPtr<void *>(), bytes, name, constant);
    else
      consumeError(symbol.takeError());
  }
}

Error DeviceEmulator::Impl::checkLaunch(const KernelInfo &kernel, Dim3 grid, Dim3 block, size_t dynamicBytes,
                                        size_t parameters) const {
  if (grid.count() == 0 || block.count() == 0)
    return fail("expected a grid and a block without empty dimension for kernel '" + kernel.name + "'");
  if (grid.y > 65535 || grid.z > 65535)
    return fail("expected a grid of at most 65535 in y and z, but got " + Twine(grid.y) + " and " + Twine(grid.z));
  if (parameters != kernel.parameters)
    return fail("expected " + Twine(kernel.parameters) + " parameters for kernel '" + kernel.name + "', but got " +
                Twine(parameters));
  return checkSize(kernel, block, dynamicBytes);
}

/// Of a block: what its kernel allows, and what a multiprocessor holds.
Error DeviceEmulator::Impl::checkSize(const KernelInfo &kernel, Dim3 block, size_t dynamicBytes) const {
  if (block.count() > kernel.maxThreads)
    return fail("expected at most " + Twine(kernel.maxThreads) + " threads a block for kernel '" + kernel.name +
                "', but got " + Twine(block.count()));
  if (block.z > 64)
    return fail("expected at most 64 threads a block in z, but got " + Twine(block.z));
  auto [x, y, z] = kernel.required; // 11.4.3: each dimension is
  auto text = [](uint64_t x, uint64_t y, uint64_t z) { return (Twine(x) + ", " + Twine(y) + ", " + Twine(z)).str(); };
  if (x && (block.x != x || block.y != y || block.z != z))
    return fail("expected a block of " + text(x, y, z) + " threads, which kernel '" + kernel.name +
                "' requires, but got " + text(block.x, block.y, block.z));
  size_t bytes = shared.staticBytes() + dynamicBytes;
  if (bytes > options.sharedLimit)
    return fail("expected at most " + Twine(options.sharedLimit) + " bytes of shared memory, but got " +
                Twine(shared.staticBytes()) + " static and " + Twine(dynamicBytes) + " dynamic");
  uint64_t atOnce = multiprocessor ? multiprocessor->fitting(block.count(), bytes) : kernel.blocksAtOnce;
  if (atOnce < kernel.blocksAtOnce)
    return fail("expected " + Twine(kernel.blocksAtOnce) + " blocks of kernel '" + kernel.name +
                "' on a multiprocessor, as its .minnctapersm says, but threads and shared memory allow " +
                Twine(atOnce));
  return Error::success();
}

/// One after another, or in the drawn order.
std::vector<uint64_t> DeviceEmulator::Impl::blocksInOrder(Dim3 grid) {
  std::vector<uint64_t> blocks(grid.count());
  std::iota(blocks.begin(), blocks.end(), 0);
  if (options.shuffleSchedule)
    std::shuffle(blocks.begin(), blocks.end(), random);
  return blocks;
}

Error DeviceEmulator::Impl::launch(StringRef name, Dim3 grid, Dim3 block, size_t dynamicBytes,
                                   ArrayRef<uint64_t> params) {
  auto kernel = find_if(program.kernels, [&](const KernelInfo &info) { return info.name == name; });
  if (kernel == program.kernels.end())
    return fail("expected a kernel of the module, but got '" + name + "'");
  if (Error error = checkLaunch(*kernel, grid, block, dynamicBytes, params.size()))
    return error;
  auto entry = compiler->lookup(kernel->entry);
  if (!entry)
    return entry.takeError();
  shared.setDynamicBytes(dynamicBytes);
  global.beginLaunch();
  BlockLaunch launch{entry->toPtr<void (*)(const uint64_t *)>(), params.data(), name.str(), grid, block};
  for (uint64_t block : blocksInOrder(grid)) {
    Dim3 at{uint32_t(block % grid.x), uint32_t(block / grid.x % grid.y), uint32_t(block / grid.x / grid.y)};
    if (std::string problem = machine.runBlock(launch, at, program.sites); !problem.empty())
      return fail("kernel '" + name + "', block (" + Twine(at.x) + ", " + Twine(at.y) + ", " + Twine(at.z) +
                  ") cannot go on: " + problem);
  }
  return Error::success();
}

void DeviceEmulator::Impl::collectUse() {
  log.report.bankUse.clear();
  log.report.sectorUse.clear();
  for (const std::unique_ptr<Site> &site : program.sites) {
    if (site->bankUse.phases)
      log.report.bankUse.push_back(site->bankUse);
    if (site->sectorUse.sectors)
      log.report.sectorUse.push_back(site->sectorUse);
  }
}

//===----------------------------------------------------------------------===//
// Public interface
//===----------------------------------------------------------------------===//

DeviceEmulator::DeviceEmulator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
DeviceEmulator::~DeviceEmulator() = default;

Expected<std::unique_ptr<DeviceEmulator>>
DeviceEmulator::create(std::unique_ptr<Module> module, std::unique_ptr<LLVMContext> context, EmulatorOptions options) {
  auto impl = std::make_unique<Impl>(options);
  // Owned together, so that the module never outlives its context.
  if (Error error = impl->buildFromIr(orc::ThreadSafeModule(std::move(module), std::move(context))))
    return std::move(error);
  return std::unique_ptr<DeviceEmulator>(new DeviceEmulator(std::move(impl)));
}

Expected<std::unique_ptr<DeviceEmulator>> DeviceEmulator::createFromPtx(StringRef text, EmulatorOptions options) {
  auto impl = std::make_unique<Impl>(options);
  if (Error error = impl->buildFromPtx(text))
    return std::move(error);
  return std::unique_ptr<DeviceEmulator>(new DeviceEmulator(std::move(impl)));
}

void DeviceEmulator::addGlobal(void *base, size_t bytes, StringRef name) { impl->global.add(base, bytes, name); }

void DeviceEmulator::clearGlobals() {
  impl->global.clear();
  impl->registerConstants();
}

Error DeviceEmulator::launch(StringRef kernel, Dim3 grid, Dim3 block, size_t dynamicSharedBytes,
                             ArrayRef<uint64_t> params) {
  WorkCounters &counters = impl->log.report.counters;
  WorkCounters before = std::exchange(counters, WorkCounters());
  Error error = impl->launch(kernel, grid, block, dynamicSharedBytes, params);
  impl->log.report.launches.push_back({kernel.str(), counters});
  counters += before;
  impl->collectUse();
  return error;
}

const EmulatorReport &DeviceEmulator::report() const { return impl->log.report; }

void DeviceEmulator::resetReport() {
  impl->log.report = EmulatorReport();
  for (const std::unique_ptr<Site> &site : impl->program.sites) {
    site->findingIndex.fill(0);
    site->bankUse.requests = site->bankUse.phases = site->bankUse.waves = 0;
    site->sectorUse.requests = site->sectorUse.bytes = site->sectorUse.sectors = 0;
  }
}

std::vector<std::string> DeviceEmulator::kernels() const {
  std::vector<std::string> names;
  for (const KernelInfo &kernel : impl->program.kernels)
    names.push_back(kernel.name);
  return names;
}

size_t DeviceEmulator::staticSharedBytes() const { return impl->shared.staticBytes(); }
