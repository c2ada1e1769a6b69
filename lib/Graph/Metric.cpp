//===- Metric.cpp - The price of a whole plan -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Metric.h"
#include "CountedPlan.h"
#include "KernelsFit.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using cost::AttentionShape;

/// Places in a plan.
using Parts = SmallVector<size_t, 2>;

llvm::Expected<tile::ScheduleAttr> Metric::scheduleOf(func::FuncOp function, ArrayRef<AttentionShape> attentions,
                                                      cost::Slices slices) {
  // The tiles of projections and compressions are smaller than those of attention.
  SmallVector<AttentionShape, 1> mechanisms;
  llvm::copy_if(attentions, std::back_inserter(mechanisms), [](const AttentionShape &shape) { return shape.isAttention(); });
  cost::TriedKernels kernels;
  kernels.areMade = [&](tile::ScheduleAttr tried) { return kernelsFit(function, tried, machine.target); };
  kernels.liveBytes = [&](tile::ScheduleAttr tried, double enough) {
    return liveBytes(function, attentions, tried, counter, enough);
  };
  kernels.seconds = [&](tile::ScheduleAttr tried) {
    PricedPlan plan{SmallVector<AttentionShape, 1>(attentions), tried};
    llvm::Error error = count(function, plan);
    double seconds = error ? 0 : longSeconds(function, plan);
    llvm::consumeError(std::move(error)); // told of the schedule that is taken
    return seconds;
  };
  return cost::chooseSchedule(mechanisms, storageOf(function), machine, kernels, slices);
}

double Metric::longSeconds(func::FuncOp function, const PricedPlan &plan) const {
  constexpr int64_t length = 4096;
  int64_t known = sizesOf(function).queries;
  double scale = ShapedType::isDynamic(known) ? 1 : static_cast<double>(length) / static_cast<double>(std::max<int64_t>(known, 1));
  double seconds = 0;
  for (const PricedKernel &kernel : kernels(plan, {1, length, length, scale}))
    seconds += kernel.price.seconds();
  return seconds;
}

/// What kernels of a GPU cannot do yet.
static StringRef refusalOnGpu(ArrayRef<AttentionShape> attentions) {
  auto any = [&](auto AttentionShape::*member) {
    return llvm::any_of(attentions, [&](const AttentionShape &shape) { return static_cast<bool>(shape.*member); });
  };
  if (any(&AttentionShape::projectsInLoad))
    return "projections in the load hold registers that the kernels of a GPU do not have (not supported yet)";
  if (any(&AttentionShape::projectsOutput))
    return "rows as wide as the model hold registers that the kernels of a GPU do not have (not supported yet)";
  if (any(&AttentionShape::keysMapped))
    return "features of f32 that are read in the place of keys take shared memory that their products need (not supported yet)";
  if (any(&AttentionShape::together))
    return "a kernel of several bodies takes the registers and the shared memory of the largest one for every block (not "
           "supported yet)";
  return "";
}

/// Why no kernel computes an attention with the output projection as its epilogue; empty if one does, or if there is none.
static StringRef epilogueRefusal(const AttentionShape &shape) {
  if (!shape.projectsOutput)
    return "";
  if (shape.family == cost::Family::Softmax && shape.split)
    return "each head ends in a program of its own, where its last piece of keys arrives, and none has all heads of a token";
  if (shape.fused)
    return "a kernel that keeps a state has all tokens of one head, and no kernel has all heads of a token";
  if (shape.family == cost::Family::Kernel && shape.form == attn::Form::Chunked)
    return "chunks follow one another within a head, and no kernel has all heads of a token";
  return "";
}

llvm::Expected<PricedPlan> Metric::partition(func::FuncOp function, cost::Slices slices) {
  PricedPlan plan{attentionsOf(function), {}};
  if (machine.kind == tile::TargetKind::GPU)
    if (StringRef reason = refusalOnGpu(plan.attentions); !reason.empty())
      return llvm::createStringError(reason);
  for (const AttentionShape &shape : plan.attentions)
    if (StringRef reason = epilogueRefusal(shape); !reason.empty())
      return llvm::createStringError(reason);
  llvm::Expected<tile::ScheduleAttr> schedule = scheduleOf(function, plan.attentions, slices);
  return withSchedule(function, std::move(plan), std::move(schedule));
}

llvm::Expected<PricedPlan> Metric::partitionForOne(func::FuncOp function) {
  PricedPlan plan{attentionsOf(function), {}};
  SmallVector<AttentionShape, 1> ofOne = plan.attentions;
  for (AttentionShape &shape : ofOne)
    shape.queries = 1;
  llvm::Expected<tile::ScheduleAttr> schedule = scheduleOf(function, ofOne, cost::Slices::None);
  return withSchedule(function, std::move(plan), std::move(schedule));
}

llvm::Expected<PricedPlan> Metric::withSchedule(func::FuncOp function, PricedPlan plan, llvm::Expected<tile::ScheduleAttr> schedule) {
  if (!schedule)
    return schedule.takeError();
  plan.schedule = *schedule;
  if (llvm::Error error = count(function, plan))
    return error;
  return plan;
}

llvm::Error Metric::count(func::FuncOp function, PricedPlan &plan) {
  auto counted = countPlan(function, plan.attentions, plan.schedule, counter);
  if (!counted)
    return counted.takeError();
  plan.counted = std::move(*counted);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

static int64_t sizeAt(const SizeMeaning &meaning, const RuntimeSizes &sizes) {
  using Kind = SizeMeaning::Kind;
  bool unknown = ShapedType::isDynamic(meaning.known);
  if (meaning.kind == Kind::Fixed || (meaning.kind == Kind::Batch && !unknown))
    return meaning.known;
  if (meaning.kind == Kind::Batch)
    return sizes.batch;
  if (unknown)
    return meaning.kind == Kind::Queries ? sizes.queries : sizes.keys;
  return std::max<int64_t>(1, std::llround(static_cast<double>(meaning.known) * sizes.scale));
}

const cost::WorkEstimate &graph::workOf(const CountedKernel &kernel, const RuntimeSizes &sizes) {
  std::vector<int64_t> inputs;
  for (const SizeMeaning &meaning : kernel.inputs)
    inputs.push_back(sizeAt(meaning, sizes));
  return kernel.workAt(std::move(inputs));
}

/// Attentions by their launches: each has its own, but parts of a mixture that run together.
static SmallVector<Parts> byLaunches(const PricedPlan &plan) {
  SmallVector<Parts> all;
  for (auto [place, shape] : llvm::enumerate(plan.attentions)) {
    auto isMixture = [&](const Parts &parts) { return plan.attentions[parts.front()].together == shape.together; };
    auto *mixture = llvm::find_if(all, isMixture);
    if (shape.together && mixture != all.end())
      mixture->push_back(place);
    else
      all.push_back({place});
  }
  return all;
}

/// The kernels of some parts in common launches: the first of each, then the second ones.
static std::vector<PricedKernel> kernelsOf(const Parts &parts, const PricedPlan &plan, const RuntimeSizes &sizes,
                                           const cost::DeviceDescription &device) {
  size_t longest = 0;
  for (size_t part : parts)
    longest = std::max<size_t>(longest, plan.counted[part].size());
  std::vector<PricedKernel> launches;
  for (size_t stage = 0; stage < longest; ++stage) {
    SmallVector<cost::WorkEstimate, 4> works;
    SmallVector<StringRef> names;
    Parts places;
    for (size_t part : parts)
      if (stage < plan.counted[part].size()) {
        const CountedKernel &kernel = *plan.counted[part][stage];
        works.push_back(workOf(kernel, sizes)), names.push_back(kernel.name), places.push_back(part);
      }
    launches.push_back({{llvm::join(names, " + "), cost::workTogether(works)}, cost::priceTogether(works, device), places});
  }
  return launches;
}

PlanPrice Metric::price(const PricedPlan &plan, const RuntimeSizes &sizes) {
  PlanPrice total;
  bool first = true;
  for (const Parts &parts : byLaunches(plan)) {
    Key key{{}, {sizes.batch, sizes.queries, sizes.keys, sizes.scale}};
    for (size_t part : parts) {
      llvm::append_range(key.first, plan.counted[part]);
      key.first.push_back(nullptr); // between parts
    }
    auto [place, missing] = cache.try_emplace(std::move(key));
    PlanPrice &price = place->second;
    if (missing)
      for (auto [index, launch] : llvm::enumerate(kernelsOf(parts, plan, sizes, machine))) {
        price.seconds += launch.price.seconds();
        index == 0 ? void(price.work = launch.kernel.work) : void(price.work += launch.kernel.work);
      }
    total.seconds += price.seconds;
    first ? void(total.work = price.work) : void(total.work += price.work);
    first = false;
  }
  return total;
}

std::vector<PricedKernel> Metric::kernels(const PricedPlan &plan, const RuntimeSizes &sizes) const {
  std::vector<PricedKernel> kernels;
  for (const Parts &parts : byLaunches(plan))
    llvm::move(kernelsOf(parts, plan, sizes, machine), std::back_inserter(kernels));
  return kernels;
}
