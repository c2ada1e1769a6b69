//===- SplitGradients.cpp - Gradients of few long sequences, in parts -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/SplitGradients.h"
#include "KernelsFit.h"

#include "attune/Attn/Attn.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Packed.h"
#include "attune/Graph/Metric.h"
#include "attune/Graph/Passes.h"
#include "attune/Kernel/Schedule.h"

namespace attune::graph {
#define GEN_PASS_DEF_SPLITGRADIENTS
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// So many parts that each core has one; fewer of sequences that are known to be short, since each costs its sums a second time.
static int64_t partsOf(attn::CausalReadoutGradientOp op, const cost::DeviceDescription &device) {
  constexpr int64_t leastTokens = 256; // of a part
  ArrayRef<int64_t> shape = op.getQueryFeatures().getType().getShape();
  int64_t batch = ShapedType::isDynamic(shape[0]) ? 1 : std::max<int64_t>(1, shape[0]);
  auto parts = static_cast<int64_t>(device.cores / static_cast<double>(batch * shape[1]));
  return ShapedType::isDynamic(shape[2]) ? parts : std::min(parts, shape[2] / leastTokens);
}

bool graph::splitGradients(func::FuncOp function, const cost::DeviceDescription &device) {
  if (attn::isPacked(function)) // whose sequences run side by side, and have lengths that only the device knows
    return false;
  int64_t most = 1;
  SmallVector<attn::CausalReadoutGradientOp> cut;
  function.walk([&](attn::CausalReadoutGradientOp op) {
    int64_t parts = op.getErase() ? 1 : partsOf(op, device);
    if (parts > 1)
      most = std::max(most, parts), cut.push_back(op);
  });
  if (cut.empty())
    return false;
  auto say = [&](bool split) {
    for (attn::CausalReadoutGradientOp op : cut)
      attn::decide(op, [&](attn::Execution &execution) { execution.split = split; });
  };
  auto schedule = function->getAttrOfType<tile::ScheduleAttr>("tile.schedule");
  if (!schedule)
    schedule = kernel::defaultSchedule(device.kind, kernel::storageOf(function));
  schedule = schedule.withParts(most);
  say(true);
  if (device.kind == tile::TargetKind::GPU && !kernelsFit(function, schedule, device.target)) // states that parts begin with take shared memory
    return say(false), false;
  function->setAttr("tile.schedule", schedule);
  return true;
}

namespace {
struct SplitGradients : public graph::impl::SplitGradientsBase<SplitGradients> {
  using SplitGradientsBase::SplitGradientsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SplitGradientsBase::getDependentDialects(registry);
    graph::addDialectsOfKernels(registry);
  }

  void runOnOperation() override {
    llvm::Expected<cost::DeviceDescription> description = cost::DeviceDescription::named(device);
    if (!description) {
      emitError(getOperation().getLoc()) << llvm::toString(description.takeError());
      return signalPassFailure();
    }
    description->runOn(threads);
    numSplit += splitGradients(getOperation(), *description);
  }
};
} // namespace
