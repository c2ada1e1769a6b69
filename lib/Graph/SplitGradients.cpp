//===- SplitGradients.cpp - Gradients of few long sequences, in parts -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/SplitGradients.h"
#include "KernelsFit.h"
#include "LengthModel.h"

#include "attune/Attn/Attn.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Packed.h"
#include "attune/Graph/Metric.h"
#include "attune/Graph/Passes.h"
#include "attune/Graph/PriceBackward.h"
#include "attune/Kernel/BuildKernels.h"
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

/// Says of the gradients that shall run in parts that they do, and in how many; nothing: none does.
static std::optional<tile::ScheduleAttr> cutReadouts(func::FuncOp function, tile::ScheduleAttr schedule, const cost::DeviceDescription &device) {
  int64_t most = 1;
  function.walk([&](attn::CausalReadoutGradientOp op) {
    bool isWhole = op.getErase() || (op.getLogarithms() && op.getDecay());
    int64_t parts = isWhole ? 1 : partsOf(op, device);
    if (parts > 1)
      attn::decide(op, [](attn::Execution &execution) { execution.split = true; });
    most = std::max(most, parts);
  });
  return most > 1 ? std::optional(schedule.withParts(most)) : std::nullopt;
}

static void undo(func::FuncOp function) {
  function.walk([](attn::CausalReadoutGradientOp op) { attn::decide(op, [](attn::Execution &execution) { execution.split = false; }); });
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The widest rows of tokens that a function has.
static int64_t widest(func::FuncOp function) {
  int64_t width = 0;
  function.walk([&](Operation *op) {
    for (Type type : op->getOperandTypes())
      if (auto tokens = dyn_cast<RankedTensorType>(type); tokens && tokens.getRank() == 4 && !tokens.isDynamicDim(3))
        width = std::max(width, tokens.getDimSize(3));
  });
  return width;
}

/// What is chosen without prices: threads of a GPU hold rows of up to 64 columns in registers; of wider ones two warps have a half each, and of more than
/// 128 columns four have a quarter of half as many rows.
static tile::ScheduleAttr usualSchedule(func::FuncOp function, const cost::DeviceDescription &device) {
  constexpr int64_t columnsOfWarp = 64;
  tile::ScheduleAttr schedule = kernel::defaultSchedule(device.kind, kernel::storageOf(function));
  int64_t columns = device.kind == tile::TargetKind::GPU ? widest(function) : 0, warps = 2 * schedule.getWarps();
  if (columns > 2 * columnsOfWarp)
    return schedule.withTiles(schedule.getQueryTile() / 2, schedule.getQueryTile() / 2).withWarps(warps, 4);
  return columns > columnsOfWarp ? schedule.withWarps(warps, 2) : schedule;
}

/// What warps hand to those beside them takes shared memory, and so do rows of hundreds of columns, of which kernels of gradients hold up to four tiles,
/// and wide states. The schedules that are tried, the usual one first, then slices of columns, then tiles of fewer rows: with all warps, and at last,
/// as tokens that rotate need it, with those that have all columns of their rows.
static SmallVector<tile::ScheduleAttr> schedulesToTry(tile::ScheduleAttr usual, tile::ScheduleAttr plain) {
  constexpr int64_t rowsOfWarp = 16, slices[] = {64, 32, 16};
  SmallVector<tile::ScheduleAttr> tried{usual}, ofOneColumn;
  if (usual.getQueryTile() == plain.getQueryTile())
    tried.push_back(plain);
  auto add = [&](SmallVectorImpl<tile::ScheduleAttr> &to, tile::ScheduleAttr schedule) {
    for (int64_t columns : slices)
      to.push_back(schedule.withSlices(columns, columns));
  };
  add(tried, usual);
  for (int64_t rows = plain.getQueryTile() / 2; rows >= rowsOfWarp; rows /= 2)
    for (int64_t warps : {usual.getWarps(), rows / rowsOfWarp}) {
      tile::ScheduleAttr fewer = plain.withTiles(rows, rows).withWarps(warps, warps * rowsOfWarp / rows);
      SmallVectorImpl<tile::ScheduleAttr> &to = fewer.getWarpColumns() > 1 ? tried : ofOneColumn;
      to.push_back(fewer), add(to, fewer);
    }
  llvm::append_range(tried, ofOneColumn);
  return tried;
}

/// Seconds of the kernels of a function at the length at which prices are told; infinite where they cannot be built.
static double secondsWith(func::FuncOp function, tile::ScheduleAttr schedule, const cost::DeviceDescription &device) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
  func::FuncOp copy = function.clone();
  copy->setAttr("tile.schedule", schedule);
  module->push_back(copy);
  LengthModel lengths(sizesOf(function));
  ScopedDiagnosticHandler quiet(function.getContext(), [](mlir::Diagnostic &) { return success(); });
  if (failed(kernel::buildKernels(*module, copy, device.kind)))
    return HUGE_VAL;
  llvm::Expected<BackwardPlan> plan = priceBackward(*module, "", lengths.sizesAt(lengths.reference()), device);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return HUGE_VAL;
  }
  return plan->seconds;
}

/// The pieces of sums over tokens whose price is least. Two cores have enough of long ones.
static tile::ScheduleAttr withPieces(func::FuncOp function, tile::ScheduleAttr schedule, const cost::DeviceDescription &device) {
  constexpr double few = 8;
  if (device.cores < few)
    return schedule;
  double least = secondsWith(function, schedule, device);
  tile::ScheduleAttr best = schedule;
  for (int64_t piece = schedule.getPiece() / 2; piece >= 256; piece /= 2) {
    double seconds = secondsWith(function, schedule.withPiece(piece), device);
    if (seconds >= least)
      break;
    least = seconds, best = schedule.withPiece(piece);
  }
  return best;
}

bool graph::splitGradients(func::FuncOp function, const cost::DeviceDescription &device) {
  auto given = function->getAttrOfType<tile::ScheduleAttr>("tile.schedule");
  tile::ScheduleAttr plain = kernel::defaultSchedule(device.kind, kernel::storageOf(function)), usual = given ? given : usualSchedule(function, device);
  auto fits = [&](tile::ScheduleAttr schedule) { return device.kind != tile::TargetKind::GPU || kernelsFit(function, schedule, device.target); };
  if (!given && usual != plain) {
    SmallVector<tile::ScheduleAttr> tried = schedulesToTry(usual, plain);
    auto *found = llvm::find_if(tried, fits);
    usual = found == tried.end() ? plain : *found; // whose error names what there is
  }
  // The lengths of packed sequences are what only the device knows, and they run side by side.
  std::optional<tile::ScheduleAttr> parts = attn::isPacked(function) ? std::nullopt : cutReadouts(function, usual, device);
  if (parts && !fits(*parts)) // states that parts begin with take shared memory
    undo(function), parts = std::nullopt;
  tile::ScheduleAttr schedule = withPieces(function, parts.value_or(usual), device);
  if (parts || schedule != plain)
    function->setAttr("tile.schedule", schedule);
  return parts.has_value();
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
