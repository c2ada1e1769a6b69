//===- Device.cpp - Kernels compiled for a GPU, and run in the emulator --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "attune/InitAll.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/GPU/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;

std::unique_ptr<MLIRContext> test::makeContext() {
  DialectRegistry registry;
  attune::registerAllDialects(registry);
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, mlir::gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static std::string tensorType(const test::Attention &attention, int64_t heads, int64_t width) {
  return "tensor<?x" + std::to_string(heads) + "x?x" + std::to_string(width) + "x" + attention.dtype + ">";
}

static std::string operation(const test::Attention &attention) {
  std::string causal = attention.causal ? "causal, " : "", lengths = attention.lengths ? " lengths(%l : tensor<?xi32>)" : "";
  if (attention.form == "softmax")
    return "attn.softmax %q, %k, %v" + lengths + " {" + causal + "scale = 1.250000e-01 : f64}";
  return "ATTN_FORM_" + attention.form;
}

std::string test::Attention::source() const {
  std::string q = tensorType(*this, heads, width), k = tensorType(*this, sharedHeads, width);
  std::string v = tensorType(*this, sharedHeads, valueWidth), o = tensorType(*this, heads, valueWidth);
  std::string inputs = "%q: " + q + ", %k: " + k + ", %v: " + v + (lengths ? ", %l: tensor<?xi32>" : "");
  std::string result = "func.func @plan(" + inputs + ") -> " + o;
  if (!schedule.empty())
    result += " attributes {tile.schedule = " + schedule + "}";
  return result + " {\n  %o = " + operation(*this) + " : " + q + ", " + k + ", " + v + " -> " + o + "\n  return %o : " + o +
         "\n}\n";
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> test::compileKernels(MLIRContext &context, const std::string &source, const std::string &chip) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return nullptr;
  PassManager cut(&context);
  kernel::AttnToTileOptions options;
  options.target = tile::TargetKind::GPU;
  cut.addPass(kernel::createAttnToTile(options));
  if (failed(cut.run(*module)))
    return nullptr;
  for (auto host : llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
    host.erase();
  PassManager lower(&context);
  device::buildTileToGpuPipeline(lower, {chip, 0});
  return failed(lower.run(*module)) ? nullptr : std::move(module);
}
