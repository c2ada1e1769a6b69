//===- EqualKernels.cpp - Kernels that are made twice are kept once ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EqualKernels.h"

#include "attune/Lowering/GPU/Passes.h"
#include "attune/Tile/Product.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attune;

/// Everything but the name, and what else may compute it: parameters, threads of a block, shared memory.
static DictionaryAttr attributesOf(LLVM::LLVMFuncOp function) {
  NamedAttrList attributes(function->getAttrDictionary());
  attributes.erase(function.getSymNameAttrName());
  attributes.erase(tile::Product::attributeName);
  return attributes.getDictionary(function.getContext());
}

static bool areEqual(LLVM::LLVMFuncOp one, LLVM::LLVMFuncOp other) {
  return attributesOf(one) == attributesOf(other) &&
         OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Erases what is equal to an earlier kernel; gives the names of what stays in its place.
static llvm::StringMap<std::string> eraseEqual(mlir::gpu::GPUModuleOp device) {
  llvm::StringMap<std::string> kept;
  SmallVector<LLVM::LLVMFuncOp> different;
  for (auto function : llvm::make_early_inc_range(device.getOps<LLVM::LLVMFuncOp>())) {
    if (!function->hasAttr(device::blockSizeName))
      continue;
    auto *same = llvm::find_if(different, [&](LLVM::LLVMFuncOp other) { return areEqual(function, other); });
    if (same == different.end()) {
      different.push_back(function);
      continue;
    }
    kept[function.getSymName()] = same->getSymName().str();
    function.erase();
  }
  return kept;
}

void attune::mergeEqualKernels(DeviceCode &code) {
  auto device = code.device->lookupSymbol<mlir::gpu::GPUModuleOp>(device::kernelModuleName);
  if (!device)
    return;
  llvm::StringMap<std::string> kept = eraseEqual(device);
  for (target::VariantDescription &variant : code.host.description.variants)
    for (target::DeviceKernelDescription &kernel : variant.kernels)
      if (auto found = kept.find(kernel.name); found != kept.end())
        kernel.name = found->second;
}
