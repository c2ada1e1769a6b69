//===- ReadModule.cpp - Reads device code from a file ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/ReadModule.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace llvm;

/// LLVM IR has neither of these words outside comments; MLIR of device code always has the first.
static bool isMlir(StringRef text) { return text.contains("gpu.module") && !text.contains("define "); }

static std::unique_ptr<Module> translateMlir(StringRef text, LLVMContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::DLTIDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::MLIRContext mlirContext(registry, mlir::MLIRContext::Threading::DISABLED);
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext);
  if (!parsed)
    return nullptr;
  auto modules = parsed->getOps<mlir::gpu::GPUModuleOp>();
  if (modules.empty()) {
    errs() << "error: expected a gpu.module, but got none\n";
    return nullptr;
  }
  return mlir::translateModuleToLLVMIR(*modules.begin(), context, "device");
}

Expected<std::unique_ptr<MemoryBuffer>> emulator::readInput(StringRef path) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read '" + path + "': " + buffer.getError().message());
  return std::move(*buffer);
}

bool emulator::isPtx(StringRef text) {
  for (text = text.ltrim(); text.starts_with("//"); text = text.ltrim())
    text = text.split('\n').second;
  return text.starts_with(".version");
}

std::unique_ptr<Module> emulator::readModule(MemoryBufferRef text, LLVMContext &context) {
  if (isMlir(text.getBuffer()))
    return translateMlir(text.getBuffer(), context);
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(text, diagnostic, context);
  if (!module)
    diagnostic.print("attn-emulate", errs());
  return module;
}
