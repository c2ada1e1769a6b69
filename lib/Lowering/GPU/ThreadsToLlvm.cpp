//===- ThreadsToLlvm.cpp - The code of one thread in the LLVM dialect ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream expands maxima and minima into comparisons and selections, for targets that have no such instructions: four
// instructions for each that a GPU does in one (max.f32, max.NaN.f32). So only rounded divisions are expanded here.
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune::device {
#define GEN_PASS_DEF_THREADSTOLLVM
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;

namespace {
struct ThreadsToLlvmPass : device::impl::ThreadsToLlvmBase<ThreadsToLlvmPass> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
