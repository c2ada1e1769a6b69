//===- Device.cpp - Kernels compiled for a GPU ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "attune/InitAll.h"
#include "attune/Kernel/Passes.h"

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
                  mlir::tensor::TensorDialect>();
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

static void replace(std::string &text, const std::string &from, const std::string &to) {
  size_t place = text.find(from);
  if (place != std::string::npos)
    text.replace(place, from.size(), to);
}

std::string test::gpuSource(const Problem &problem, tile::WarpGrid warps) {
  std::string source = problem.source();
  replace(source, "target = cpu", "target = gpu");
  std::string onCpu = problem.dtype == "bf16" ? "bf16" : "f32";
  replace(source, "operand = " + onCpu + ", warps = 1, stages = 1", "operand = " + problem.dtype + ", warps = " + std::to_string(warps.count()) +
              ", stages = 2, warp_columns = " + std::to_string(warps.columns));
  return source;
}

std::optional<test::DevicePlan> test::compilePlan(MLIRContext &context, const std::string &source,
                                                  const std::string &chip) {
  auto module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return std::nullopt;
  PassManager cut(&context);
  kernel::AttnToTileOptions options;
  options.target = tile::TargetKind::GPU;
  cut.addPass(kernel::createAttnToTile(options));
  return failed(cut.run(*module)) ? std::nullopt : lowerPlan(std::move(module), chip);
}
