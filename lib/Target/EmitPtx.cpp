//===- EmitPtx.cpp - Device code as LLVM IR and PTX ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Target/EmitDevice.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral triple = "nvptx64-nvidia-cuda";
/// PTX 7.8 knows every instruction used here, and drivers since CUDA 11.8 take it. What is special to one architecture
/// came with 8.0.
static StringRef featuresOf(StringRef chip) { return chip.ends_with("a") ? "+ptx80" : "+ptx78"; }

//===----------------------------------------------------------------------===//
// The LLVM module
//===----------------------------------------------------------------------===//

static mlir::gpu::GPUModuleOp deviceModule(ModuleOp module) {
  return module.lookupSymbol<mlir::gpu::GPUModuleOp>(attune::device::kernelModuleName);
}

std::vector<DeviceKernel> attune::deviceKernels(ModuleOp module) {
  std::vector<DeviceKernel> kernels;
  mlir::gpu::GPUModuleOp device = deviceModule(module);
  if (!device)
    return kernels;
  auto number = [](Operation *op, StringRef name) {
    auto attribute = op->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  for (auto function : device.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(attune::device::blockSizeName))
      kernels.push_back({function.getSymName().str(), number(function, attune::device::blockSizeName),
                         number(function, attune::device::sharedBytesName), tile::Product::of(function)});
  return kernels;
}

/// What all lanes of a warp perform together must not come under a condition in which they differ. Intrinsics say so
/// themselves; of inline assembly MLIR cannot.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallInst>(&instruction);
      auto *assembly = call ? dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (assembly && StringRef(assembly->getAsmString()).contains(".aligned"))
        call->setConvergent();
    }
}

FailureOr<std::unique_ptr<llvm::Module>> attune::translateDeviceModule(ModuleOp module, llvm::LLVMContext &context) {
  mlir::gpu::GPUModuleOp device = deviceModule(module);
  if (!device)
    return module.emitError() << "expected a gpu.module @" << attune::device::kernelModuleName
                              << "; lower the kernels for a GPU first";
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  auto result = mlir::translateModuleToLLVMIR(device, context, attune::device::kernelModuleName);
  if (!result)
    return device.emitError() << "expected device code that translates to LLVM IR";
  result->setTargetTriple(llvm::Triple(triple));
  markConvergent(*result);
  return result;
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

static std::unique_ptr<llvm::TargetMachine> makeTarget(StringRef chip, std::string &error) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(triple), chip, featuresOf(chip), options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Simplification, but nothing that moves code out of loops: the addresses of shared memory are cheap to compute and many,
/// and hoisted they would fill the registers (chunked attention, d = 64: 56 bytes of spills). The assembler hoists by what
/// it has registers for.
static constexpr llvm::StringLiteral passes =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,adce)";

static void simplify(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  llvm::cantFail(builder.parsePassPipeline(pipeline, passes));
  pipeline.run(module, modules);
}

namespace {
/// Leaves out what makes registers hold values longer:
/// * Loop strength reduction: it carries an address for each copy and each row of shared memory through the loop. Softmax at
///   d = 64 takes 128 registers without and 161 with it.
/// * Sinking, in kernels that sum several loads: it moves arithmetic to the block of its one use. Loads with a guard are blocks
///   of their own, so all sums would come after the last load, and all that was loaded would wait for them. The readout of
///   focused features with a convolution of nine taps, f32, takes 96 registers without and 248 with it. Elsewhere what
///   sinks is addresses of guarded loads, to where they are needed.
class NoLongLives : public llvm::OptPassGate {
public:
  explicit NoLongLives(const llvm::Module &module) {
    for (const llvm::Function &function : module)
      if (function.hasFnAttribute(attune::device::sumsLoadsName))
        sumLoads.insert(("function (" + function.getName() + ")").str());
  }
  bool shouldRunPass(StringRef name, StringRef place) const override {
    return name != "Loop Strength Reduction" && (name != "machine-sink" || !sumLoads.contains(place));
  }
  bool isEnabled() const override { return true; }

private:
  llvm::StringSet<> sumLoads; // places, as LLVM describes them to a gate
};
} // namespace

/// Device code is complete: nothing is linked to it, so what it calls and does not define would be missed by the driver
/// first.
static LogicalResult checkComplete(const llvm::Module &device, ModuleOp module) {
  for (const llvm::Function &function : device)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return module.emitError() << "expected device code that is complete, but got a call of " << function.getName()
                                << ", of a device library; compile for the cpu until this operation has device code";
  return success();
}

FailureOr<std::string> attune::emitPtx(ModuleOp module, StringRef chip) {
  llvm::LLVMContext context;
  auto translated = translateDeviceModule(module, context);
  if (failed(translated))
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> target = makeTarget(chip, error);
  if (!target)
    return module.emitError() << "expected an LLVM with the NVPTX target, but got: " << error;
  llvm::Module &device = **translated;
  NoLongLives gate(device);
  context.setOptPassGate(gate);
  device.setDataLayout(target->createDataLayout());
  simplify(device, *target);
  if (failed(checkComplete(device, module)))
    return failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager printer;
  if (target->addPassesToEmitFile(printer, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError() << "expected the NVPTX target to emit assembly for " << chip;
  printer.run(device);
  return std::string(text);
}
