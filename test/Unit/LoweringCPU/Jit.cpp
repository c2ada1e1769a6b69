//===- Jit.cpp - Runs a plan in this process -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Jit.h"

#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace attune;
using namespace attune::test;

/// Seconds of this process: time given to other programs does not count.
static double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

[[noreturn]] static void fail(const std::string &what) {
  llvm::errs() << what << "\n";
  std::abort();
}

template <typename T> static T check(llvm::Expected<T> value) {
  if (!value)
    fail(llvm::toString(value.takeError()));
  return std::move(*value);
}

void (*test::installTiles)() = nullptr;

bool test::machineHas(const std::string &isa) {
  if (isa == "amx") {
    if (!installTiles)
      return false;
    installTiles(); // where the processor has none, and where nobody asked for its tiles
    return machineHas("avx512_bf16");
  }
  if (isa == "avx512_bf16")
    return machineHas("avx512") && __builtin_cpu_supports("avx512bf16");
  return isa == "avx512" ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                         : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

//===----------------------------------------------------------------------===//
// Guarded memory
//===----------------------------------------------------------------------===//

Guarded::Guarded(size_t bytes, bool atEnd) {
  size_t page = sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
  mapped = body + 2 * page;
  map = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *first = static_cast<char *>(map) + page;
  mprotect(first, body, PROT_READ | PROT_WRITE);
  std::memset(first, 0xff, body); // NaN in every dtype
  start = atEnd ? first + (body - bytes) : first;
}

Guarded::~Guarded() { munmap(map, mapped); }

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> lower(MLIRContext &context, const std::string &source,
                                   const std::vector<std::string> &isas) {
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    fail("cannot parse:\n" + source);
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  manager.addPass(kernel::createTileSplitReduction());
  cpu::CpuOptions options;
  options.isas = isas;
  cpu::buildTileToCpuPipeline(manager, options);
  if (failed(manager.run(*module)))
    fail("cannot lower:\n" + source);
  return module;
}

static std::unique_ptr<llvm::TargetMachine> makeMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    fail(error);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

static std::unique_ptr<llvm::MemoryBuffer> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    fail("cannot emit an object");
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false);
}

static void launchTrampoline(void *launcher, void *kernel, const void *args, int64_t, int64_t gx, int64_t gy,
                             int64_t gz) {
  static_cast<Jit *>(launcher)->launch(kernel, args, gx, gy, gz);
}

namespace {
/// attune_rt_grid, of which kernels are addresses here.
struct Grid {
  void *kernel;
  const void *args;
  int64_t sizes[3];
};
} // namespace

static void togetherTrampoline(void *launcher, const Grid *grids, int64_t count) {
  for (const Grid &grid : llvm::ArrayRef(grids, static_cast<size_t>(count)))
    static_cast<Jit *>(launcher)->launch(grid.kernel, grid.args, grid.sizes[0], grid.sizes[1], grid.sizes[2]);
}

Jit::Jit(MLIRContext &context, const std::string &source, const std::vector<std::string> &isas) {
  double start = now();
  OwningOpRef<ModuleOp> module = lower(context, source, isas);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code = cpu::translateCpuModule(*module, llvmContext);
  if (!code)
    fail("cannot translate");
  spent.mlir = now() - start, start = now();
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine();
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  optimise(*code, *machine);
  if (const char *path = getenv("ATTUNE_DUMP_LL")) {
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    code->print(file, nullptr);
  }
  spent.optimise = now() - start, start = now();
  std::unique_ptr<llvm::MemoryBuffer> object = emitObject(*code, *machine);
  spent.codegen = now() - start;
  objectBytes = object->getBufferSize();
  if (const char *path = getenv("ATTUNE_DUMP_OBJECT")) {
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    file << object->getBuffer();
  }

  jit = check(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap symbols;
  symbols[jit->mangleAndIntern("attune_rt_launch")] = {llvm::orc::ExecutorAddr::fromPtr(&launchTrampoline),
                                                       llvm::JITSymbolFlags::Exported};
  symbols[jit->mangleAndIntern("attune_rt_launch_together")] = {llvm::orc::ExecutorAddr::fromPtr(&togetherTrampoline),
                                                                llvm::JITSymbolFlags::Exported};
  llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
  jit->getMainJITDylib().addGenerator(
      check(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix())));
  if (auto error = jit->addObjectFile(std::move(object)))
    fail(llvm::toString(std::move(error)));
  for (auto function : module->getOps<LLVM::LLVMFuncOp>())
    if (auto bytes = function->getAttrOfType<IntegerAttr>(cpu::scratchBytesAttr))
      scratchBytes[find(function.getName().str())] = bytes.getInt();
}

Jit::~Jit() {
  for (auto &[bytes, memory] : kept)
    free(memory);
}

void *Jit::find(const std::string &name) { return check(jit->lookup(name)).toPtr<void *>(); }

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void Jit::launch(void *kernel, const void *args, int64_t gx, int64_t gy, int64_t gz) {
  using Kernel = void (*)(const void *, int64_t, int64_t, int64_t, void *);
  int64_t bytes = scratchBytes.at(kernel);
  std::unique_ptr<Guarded> guarded;
  void *scratch;
  if (checked) {
    guarded = std::make_unique<Guarded>(bytes);
    scratch = guarded->data();
  } else {
    void *&memory = kept[bytes];
    memory = memory ? memory : aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    scratch = memory;
  }
  // Any order will do; from the last to the first shows a dependence on the usual one.
  for (int64_t z = gz; z-- > 0;)
    for (int64_t y = gy; y-- > 0;)
      for (int64_t x = gx; x-- > 0;)
        reinterpret_cast<Kernel>(kernel)(args, x, y, z, scratch);
}

void Jit::run(const std::string &plan, const std::string &isa, const std::vector<Tensor> &arguments) {
  std::vector<int64_t> slots;
  for (const Tensor &tensor : arguments) {
    slots.push_back(reinterpret_cast<int64_t>(tensor.data));
    slots.insert(slots.end(), tensor.sizes.begin(), tensor.sizes.end());
    slots.insert(slots.end(), tensor.strides.begin(), tensor.strides.end());
  }
  slots.push_back(0);
  auto workspace = reinterpret_cast<int64_t (*)(const void *)>(find(cpu::workspaceName(plan)));
  Guarded memory(workspace(slots.data()));
  slots.back() = reinterpret_cast<int64_t>(memory.data());
  reinterpret_cast<void (*)(void *, const void *)>(find(cpu::variantName(plan, isa)))(this, slots.data());
}
