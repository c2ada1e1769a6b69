//===- PrintCounts.cpp - Print what each launch of a kernel does ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelCounts.h"
#include "attune/Cost/Passes.h"
#include "attune/Kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

namespace attune::cost {
#define GEN_PASS_DEF_TILEPRINTCOUNTS
#include "attune/Cost/Passes.h.inc"
} // namespace attune::cost

using namespace mlir;
using namespace attune;

namespace {
class TilePrintCounts : public cost::impl::TilePrintCountsBase<TilePrintCounts> {
public:
  using TilePrintCountsBase::TilePrintCountsBase;
  void runOnOperation() override;

private:
  LogicalResult print(tile::LaunchOp launch);
  int64_t sizeOf(func::FuncOp host, const cost::SizeInput &input) const;
};
} // namespace

int64_t TilePrintCounts::sizeOf(func::FuncOp host, const cost::SizeInput &input) const {
  auto held = host.getArgAttrOfType<TypeAttr>(input.argument, kernel::argumentTensorAttr);
  auto tensor = held ? dyn_cast<RankedTensorType>(held.getValue()) : RankedTensorType();
  if (tensor && input.dimension < tensor.getRank() && !tensor.isDynamicDim(input.dimension))
    return tensor.getDimSize(input.dimension);
  auto dims = host.getArgAttrOfType<StringAttr>(input.argument, kernel::argumentDimsAttr);
  char letter = dims && input.dimension < dims.size() ? dims.getValue()[input.dimension] : 'q';
  int64_t ofKeys = keys ? keys : queries;
  return letter == 'b' ? int64_t(batch) : letter == 'k' ? ofKeys : int64_t(queries);
}

LogicalResult TilePrintCounts::print(tile::LaunchOp launch) {
  FailureOr<cost::KernelCounts> counts = cost::KernelCounts::compile(launch);
  if (failed(counts))
    return failure();
  auto host = launch->getParentOfType<func::FuncOp>();
  SmallVector<int64_t> sizes;
  for (const cost::SizeInput &input : counts->inputs())
    sizes.push_back(sizeOf(host, input));
  cost::EvaluatedCounts result = counts->evaluate(sizes, rare ? cost::Branches::Rare : cost::Branches::Usual);
  llvm::outs() << launch.getCallee() << ":";
  for (size_t i = 0; i < result.count.counts.size(); ++i)
    if (result.count.counts[i] != 0)
      llvm::outs() << ' ' << stringifyCounted(static_cast<tile::Counted>(i)) << ' '
                   << llvm::format("%.0f", result.count.counts[i]);
  llvm::outs() << (counts->hasSeveralAxes() ? " (several axes in a bound)" : "")
               << (result.isExact ? "\n" : " (sampled)\n");
  ++numLaunches;
  return success();
}

void TilePrintCounts::runOnOperation() {
  markAllAnalysesPreserved();
  auto walked = getOperation().walk(
      [&](tile::LaunchOp launch) { return failed(print(launch)) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (walked.wasInterrupted())
    signalPassFailure();
}
