//===- DeviceCode.cpp - From kernels to device code and the host part that launches it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/DeviceCode.h"

#include "EqualKernels.h"

#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Pipeline/Describe.h"
#include "attune/Support/DebugOutput.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace attune;
using namespace attune::target;

#define DEBUG_TYPE "device-code"

/// Kernels and launches, with grids as a device has them.
static OwningOpRef<ModuleOp> withFoldedGrids(Compilation &compilation) {
  OwningOpRef<ModuleOp> module(compilation.module().clone());
  PassManager manager(&compilation.context());
  manager.addPass(device::createFoldGrids());
  return succeeded(manager.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
}

namespace {
/// Lets passes run on several kernels at a time, for as long as it lives: elsewhere locks would cost more than they bring.
class SideBySide {
public:
  explicit SideBySide(MLIRContext &context) : context(context) { context.enableMultithreading(); }
  ~SideBySide() { context.disableMultithreading(); }

private:
  MLIRContext &context;
};
} // namespace

/// The kernels alone, in the LLVM dialect of the chip, with these matrix instructions.
static OwningOpRef<ModuleOp> lowerKernels(Compilation &compilation, ModuleOp module, device::Products products) {
  OwningOpRef<ModuleOp> device(module.clone());
  for (func::FuncOp host : llvm::make_early_inc_range(device->getOps<func::FuncOp>()))
    host.erase();
  PassManager manager(&compilation.context());
  device::GpuOptions options;
  options.chip = compilation.target().str();
  options.products = products;
  device::buildTileToGpuPipeline(manager, options);
  SideBySide threads(compilation.context());
  return succeeded(manager.run(*device)) ? std::move(device) : OwningOpRef<ModuleOp>();
}

/// With the matrix instructions that are asked for. Where none are, wgmma is tried first: its operands lie in shared memory, for which plans, whose
/// sizes are those of mma.sync, need not have the room. Any other error is one.
static OwningOpRef<ModuleOp> lowerKernels(Compilation &compilation, ModuleOp module) {
  StringRef asked = compilation.products();
  if (!asked.empty() || !device::hasProducts(compilation.target(), device::Products::Wgmma))
    return lowerKernels(compilation, module, asked == "wgmma" ? device::Products::Wgmma : device::Products::MmaSync);
  bool lacksRoom = false;
  {
    ScopedDiagnosticHandler watch(&compilation.context(), [&](Diagnostic &diagnostic) {
      lacksRoom |= StringRef(diagnostic.str()).starts_with(tile::noScheduleFits);
      return success(lacksRoom);
    });
    if (OwningOpRef<ModuleOp> device = lowerKernels(compilation, module, device::Products::Wgmma); device || !lacksRoom)
      return device;
  }
  ATTUNE_DEBUG() << "products by mma.sync: those of wgmma have no room";
  return lowerKernels(compilation, module, device::Products::MmaSync);
}

/// Plans need no more than any x86-64 has.
static constexpr llvm::StringLiteral hostIsa = "host";

/// The plans alone, as LLVM IR; they name kernels by their place among the module's.
static std::unique_ptr<llvm::Module> lowerHost(Compilation &compilation, OwningOpRef<ModuleOp> host,
                                               llvm::LLVMContext &context) {
  PassManager manager(&compilation.context());
  cpu::CpuOptions options;
  options.isas = {hostIsa.str()};
  options.device = true;
  cpu::buildTileToCpuPipeline(manager, options);
  return succeeded(manager.run(*host)) ? cpu::translateCpuModule(*host, context) : nullptr;
}

static PlanDescription describePlan(const PlanName &plan) {
  return {plan.form, plan.from, cpu::variantName(plan.function, hostIsa), cpu::workspaceName(cpu::variantName(plan.function, hostIsa)), 0};
}

static std::optional<attune_rt_product> describeProduct(const DeviceKernel &kernel) {
  if (!kernel.product)
    return std::nullopt;
  Type type = kernel.product->type;
  uint32_t dtype = type.isF16() ? ATTUNE_RT_F16 : type.isBF16() ? ATTUNE_RT_BF16 : ATTUNE_RT_F32;
  return attune_rt_product{0, dtype, 0, kernel.product->heads, kernel.product->width, kernel.product->depth};
}

static VariantDescription describeVariant(Compilation &compilation, const std::vector<DeviceKernel> &kernels) {
  VariantDescription variant;
  variant.target = ATTUNE_RT_CUDA;
  StringRef arch = compilation.target();
  arch.consume_front("sm_");
  variant.archSpecific = arch.consume_back("a");
  arch.getAsInteger(10, variant.arch);
  for (const PlanName &plan : planNames(compilation.module()))
    variant.plans.push_back(describePlan(plan));
  if (func::FuncOp prepare = prepareFunction(compilation.module()))
    variant.prepare = describePlan({prepare.getName().str(), "prepare", 0});
  for (const DeviceKernel &kernel : kernels)
    variant.kernels.push_back({kernel.name,
                               {static_cast<int32_t>(kernel.blockSize), 1, 1},
                               static_cast<int32_t>(kernel.sharedBytes),
                               describeProduct(kernel)});
  return variant;
}

/// A file of kernels may be one for the CPU.
static LogicalResult checkSchedules(ModuleOp module) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (!kernel.getSchedule() || kernel.getSchedule()->getTarget() != tile::TargetKind::GPU)
      return kernel.emitError() << "expected kernels with a schedule for a GPU, but got tile.kernel @"
                                << kernel.getSymName() << " without";
  return success();
}

std::optional<DeviceCode> attune::compileForGpu(Compilation &compilation) {
  if (failed(compilation.advance(Stage::Tile)) || failed(checkSchedules(compilation.module())))
    return std::nullopt;
  OwningOpRef<ModuleOp> module = withFoldedGrids(compilation);
  DeviceCode code;
  if (!module)
    return std::nullopt;
  code.device = lowerKernels(compilation, *module);
  if (!code.device || failed(compilation.dump(Stage::Llvm, *code.device, "-device")))
    return std::nullopt;
  code.kernels = deviceKernels(*code.device);
  code.host.context = std::make_unique<llvm::LLVMContext>();
  code.host.module = lowerHost(compilation, std::move(module), *code.host.context);
  if (!code.host.module)
    return std::nullopt;
  code.host.description = compilation.interface();
  code.host.description.variants.push_back(describeVariant(compilation, code.kernels));
  return code;
}

/// Registers that are spilled in loops cost time, not correctness: the schedule's promise was wrong, and that is said.
static void warnOfSpills(Location loc, ArrayRef<KernelResources> kernels) {
  for (const KernelResources &kernel : kernels)
    if (kernel.spillsInLoops())
      emitWarning(loc) << "expected kernel " << kernel.name << " to fit the registers, but got " << kernel.spillStores
                       << " bytes of spills: it will be slower than predicted";
}

/// Without a `ptxas` that knows the code, the library holds PTX alone, which the driver assembles.
static bool canAssemble(Location loc, StringRef chip) {
  std::optional<std::string> ptxas = findPtxas();
  std::string reason = ptxas ? whyPtxasCannot(*ptxas, chip) : "";
  if (!reason.empty())
    emitWarning(loc) << reason << ": the library holds PTX alone";
  return ptxas && reason.empty();
}

LogicalResult attune::addPtx(Compilation &compilation, DeviceCode &code) {
  mergeEqualKernels(code);
  FailureOr<std::string> ptx = emitPtx(*code.device, compilation.target());
  if (succeeded(ptx))
    code.host.description.variants.front().ptx = std::move(*ptx);
  return ptx;
}

LogicalResult attune::addImages(Compilation &compilation, DeviceCode &code) {
  if (failed(addPtx(compilation, code)))
    return failure();
  Location loc = code.device->getLoc();
  if (!canAssemble(loc, compilation.target()))
    return success();
  VariantDescription &variant = code.host.description.variants.front();
  FailureOr<Cubin> cubin = emitCubinInRegisters(loc, variant.ptx, compilation.target());
  if (failed(cubin))
    return failure();
  warnOfSpills(loc, cubin->kernels);
  variant.cubin = std::move(cubin->bytes);
  return success();
}
