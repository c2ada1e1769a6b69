//===- EmitPtx.cpp - Device code as LLVM IR and PTX ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Target/EmitDevice.h"

#include "ModuleToPtx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <thread>

using namespace mlir;
using namespace attune;

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
  result->setTargetTriple(llvm::Triple(deviceTriple));
  markConvergent(*result);
  return result;
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

/// Device code is complete: nothing is linked to it, so what it calls and does not define would be missed by the driver
/// first.
static LogicalResult checkComplete(const llvm::Module &device, ModuleOp module) {
  for (const llvm::Function &function : device)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return module.emitError() << "expected device code that is complete, but got a call of " << function.getName()
                                << ", of a device library; compile for the cpu until this operation has device code";
  return success();
}

FailureOr<std::string> attune::emitPtx(ModuleOp module, StringRef chip, unsigned threads) {
  llvm::LLVMContext context;
  auto translated = translateDeviceModule(module, context);
  if (failed(translated) || failed(checkComplete(**translated, module)))
    return failure();
  unsigned count = threads ? threads : std::thread::hardware_concurrency();
  llvm::Expected<std::string> ptx = moduleToPtxInParts(**translated, chip, count);
  if (!ptx)
    return module.emitError() << llvm::toString(ptx.takeError());
  return std::move(*ptx);
}
