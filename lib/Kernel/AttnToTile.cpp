//===- AttnToTile.cpp - attn functions to kernels and host code -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GroupHeads.h"
#include "HostBuilder.h"
#include "Prepare.h"
#include "Signature.h"
#include "Supported.h"
#include "attune/Kernel/BuildKernels.h"
#include "attune/Kernel/Passes.h"
#include "attune/Kernel/Schedule.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "Packed.h"
#include "attune/Attn/Backward.h"
#include "attune/Attn/Packed.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace attune::kernel {
#define GEN_PASS_DEF_ATTNTOTILE
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

#define DEBUG_TYPE "attn-to-tile"

/// Where a state's tokens end: what has no places, and leaves no state, does not read it.
static bool isPosition(func::FuncOp source, unsigned argument) {
  auto name = source.getArgAttrOfType<StringAttr>(argument, "attn.name");
  return name && name.getValue() == "state.position";
}

/// An argument that no kernel reads would silently change the library's interface. A parameter may have cancelled.
/// Nor do gradients need all that the function takes.
static LogicalResult checkAllUsed(func::FuncOp source) {
  if (attn::isBackward(source))
    return success();
  for (BlockArgument argument : source.getArguments())
    if (argument.use_empty() && !source.getArgAttr(argument.getArgNumber(), "attn.parameter") &&
        !source.getArgAttr(argument.getArgNumber(), attn::offsetsAttr) && !isPosition(source, argument.getArgNumber()))
      return source.emitError() << "expected every argument to be part of the attention, but argument "
                                << argument.getArgNumber() << " is not";
  return success();
}

static bool isTensorOfLibrary(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : Type();
  return element && tensor.getRank() > 0 &&
         (element.isF32() || element.isF16() || element.isBF16() || element.isInteger(32));
}

/// What a library can take and give.
static LogicalResult checkSignature(func::FuncOp source) {
  if (!source.getBody().hasOneBlock())
    return source.emitError() << "expected a function of one block, but got several";
  for (Type type : llvm::concat<const Type>(source.getArgumentTypes(), source.getResultTypes()))
    if (!isTensorOfLibrary(type))
      return source.emitError() << "expected tensors of f32, f16, bf16 or i32 with at least one dimension, but got "
                                << type;
  llvm::SmallPtrSet<Value, 4> results;
  for (Value result : source.getBody().front().getTerminator()->getOperands())
    if (isa<BlockArgument>(result) || !results.insert(result).second)
      return source.emitError() << "expected results that the attention computes, each once, but got an argument or one "
                                   "result twice";
  return success();
}

/// Why a function cannot be lowered, as an error.
static LogicalResult check(func::FuncOp source, tile::TargetKind target) {
  if (failed(checkSignature(source)) || failed(checkSupported(source, target)) || failed(checkSketches(source)))
    return failure();
  if (!storageOf(source))
    return source.emitError() << "expected a function with results of f32, f16 or bf16, but got " << source.getFunctionType();
  return checkAllUsed(source);
}

/// `prepares`: whether the function that fills the library's prepared tensors is still to be made. `weights`: those
/// that any of its plans packs or folds.
static LogicalResult lowerFunction(ModuleOp module, func::FuncOp source, tile::TargetKind target, bool prepares,
                                   ArrayRef<PreparedWeight> weights, bool printRegions, bool packs) {
  if (failed(check(source, target)))
    return failure();
  attn::splitSequenceSoftmaxes(source.getBody().front());
  IRMapping memories;
  func::FuncOp host = makeHost(source, memories);
  PreparedTensors tensors = addPreparedArguments(host, source, weights);
  auto schedule = source->getAttrOfType<tile::ScheduleAttr>("tile.schedule");
  if (!schedule)
    schedule = defaultSchedule(target, storageOf(source));
  ATTUNE_DEBUG() << "@" << source.getName() << ": " << schedule << ", " << weights.size() << " prepared weights";
  if (prepares && failed(buildPrepareFunction(module, host, source, weights, schedule)))
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(&host.getBody().front());
  BuildSite site{module, builder, source.getLoc()};
  llvm::raw_ostream *regions = printRegions ? &llvm::errs() : nullptr;
  GroupedHeads groups(site, source, memories, schedule, regions);
  if (failed(groups.begin()))
    return failure();
  HostBuilder hostBuilder(site, source, memories, tensors, host.getName().str(), schedule, regions);
  if (failed(hostBuilder.build(source)) || failed(groups.end()))
    return failure();
  func::ReturnOp::create(builder, source.getLoc());
  // Kernels that are counted are those of one sequence of all tokens.
  if (packs && failed(packSequences(host)))
    return failure();
  source.erase();
  return success();
}

LogicalResult kernel::buildKernels(ModuleOp module, func::FuncOp source, tile::TargetKind target) {
  FailureOr<SmallVector<PreparedWeight>> weights = preparedWeights(source, target);
  return failed(weights) ? failure() : lowerFunction(module, source, target, /*prepares=*/false, *weights,
                                                   /*printRegions=*/false, /*packs=*/false);
}

namespace {
struct AttnToTile : public kernel::impl::AttnToTileBase<AttnToTile> {
  using AttnToTileBase::AttnToTileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions = llvm::filter_to_vector(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
      return llvm::any_of(function.getOps(), [](Operation &op) { return isa<attn::AttnDialect>(op.getDialect()); });
    });
    auto isPlan = [](func::FuncOp function) { return function->hasAttr("attn.plan"); };
    FailureOr<SmallVector<PreparedWeight>> ofPlans = preparedWeights(llvm::filter_to_vector(functions, isPlan), target);
    if (failed(ofPlans))
      return signalPassFailure();
    bool prepared = false;
    for (func::FuncOp function : functions) {
      bool plan = isPlan(function);
      FailureOr<SmallVector<PreparedWeight>> weights = plan ? ofPlans : preparedWeights(function, target);
      if (failed(weights) || failed(lowerFunction(module, function, target, !prepared || !plan, *weights, printRegions, /*packs=*/true)))
        return signalPassFailure();
      // The plans of a library share one.
      prepared |= plan;
      ++numFunctions;
    }
  }
};
} // namespace
