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

llvm::Expected<tile::ScheduleAttr> Metric::scheduleOf(ArrayRef<AttentionShape> attentions, Type storage,
                                                      const cost::IsMade &isMade,
                                                      const cost::LongSequence &seconds) const {
  // The tiles of projections and compressions are smaller than those of attention.
  SmallVector<AttentionShape, 1> mechanisms;
  for (const AttentionShape &shape : attentions)
    if (shape.family < cost::Family::Project)
      mechanisms.push_back(shape);
  llvm::Expected<tile::ScheduleAttr> schedule = cost::chooseSchedule(mechanisms, storage, machine, isMade, seconds);
  if (schedule && machine.kind == tile::TargetKind::CPU)
    if (llvm::Error error = cost::checkTiles(mechanisms, *schedule, machine))
      return error;
  return schedule;
}

double Metric::longSeconds(func::FuncOp function, ArrayRef<AttentionShape> attentions, tile::ScheduleAttr schedule) const {
  constexpr int64_t length = 4096;
  PricedPlan plan{SmallVector<AttentionShape, 1>(attentions), schedule,
                  countPlan(function, attentions, schedule, counter)};
  int64_t known = sizesOf(function).queries;
  double scale = ShapedType::isDynamic(known) ? 1 : static_cast<double>(length) / static_cast<double>(std::max<int64_t>(known, 1));
  double seconds = 0;
  for (const PricedKernel &kernel : kernels(plan, {1, length, length, scale}))
    seconds += kernel.price.seconds();
  return seconds;
}

llvm::Expected<PricedPlan> Metric::partition(func::FuncOp function) const {
  PricedPlan plan{attentionsOf(function), {}};
  bool inLoad = llvm::any_of(plan.attentions, [](const AttentionShape &shape) {
    return shape.queryModel || shape.keyModel || shape.valueModel;
  });
  if (inLoad && machine.kind == tile::TargetKind::GPU)
    return llvm::createStringError("projections in the load hold registers that the kernels of a GPU do not have (not "
                                   "supported yet)");
  for (const AttentionShape &shape : plan.attentions)
    if (std::string reason = epilogueRefusal(shape, machine.kind); !reason.empty())
      return llvm::createStringError(reason);
  bool mapped = llvm::any_of(plan.attentions, [](const AttentionShape &shape) { return shape.keysMapped; });
  if (mapped && machine.kind == tile::TargetKind::GPU)
    return llvm::createStringError("features of f32 that are read in the place of keys take shared memory that their "
                                   "products need (not supported yet)");
  bool together = llvm::any_of(plan.attentions, [](const AttentionShape &shape) { return shape.together; });
  if (together && machine.kind == tile::TargetKind::GPU)
    return llvm::createStringError("a kernel of several bodies takes the registers and the shared memory of the largest one for "
                                   "every block (not supported yet)");
  llvm::Expected<tile::ScheduleAttr> schedule =
      scheduleOf(plan.attentions, storageOf(function),
                 [&](tile::ScheduleAttr taken) { return kernelsFit(function, taken, machine.target); },
                 [&](tile::ScheduleAttr taken) { return longSeconds(function, plan.attentions, taken); });
  if (!schedule)
    return schedule.takeError();
  plan.schedule = *schedule;
  return plan;
}

void Metric::count(func::FuncOp function, PricedPlan &plan) {
  plan.counted = countPlan(function, plan.attentions, plan.schedule, counter);
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

static AttentionShape withSizes(AttentionShape shape, const RuntimeSizes &sizes) {
  shape.batch = ShapedType::isDynamic(shape.batch) ? sizes.batch : shape.batch;
  auto length = [&](int64_t known, int64_t unknown) {
    return ShapedType::isDynamic(known) ? unknown : std::max<int64_t>(1, std::llround(known * sizes.scale));
  };
  bool slots = shape.family == cost::Family::ProjectSlots; // whose number does not follow the sequence
  if (!slots)
    shape.queries = length(shape.queries, sizes.queries);
  if (!shape.fixedKeys)
    shape.keys = length(shape.keys, sizes.keys);
  return shape;
}

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

/// What a counted kernel does; what the function needs is the formula's.
static cost::WorkEstimate workOf(const CountedKernel &kernel, const RuntimeSizes &sizes, const cost::WorkEstimate &formula) {
  std::vector<int64_t> inputs;
  for (const SizeMeaning &meaning : kernel.inputs)
    inputs.push_back(sizeAt(meaning, sizes));
  cost::WorkEstimate work = kernel.workAt(std::move(inputs));
  work.usefulProducts = formula.usefulProducts;
  return work;
}

/// The kernels of an attention, by counts where they were counted.
static SmallVector<cost::KernelWork, 3> worksOf(const PricedPlan &plan, size_t attention, const RuntimeSizes &sizes) {
  auto works = cost::attentionWork(withSizes(plan.attentions[attention], sizes), plan.schedule);
  if (attention < plan.counted.size())
    for (auto [work, counted] : llvm::zip(works, plan.counted[attention]))
      work.work = workOf(*counted, sizes, work.work);
  return works;
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
  std::vector<SmallVector<cost::KernelWork, 3>> kernels;
  size_t longest = 0;
  for (size_t part : parts) {
    kernels.push_back(worksOf(plan, part, sizes));
    longest = std::max(longest, kernels.back().size());
  }
  std::vector<PricedKernel> launches;
  for (size_t stage = 0; stage < longest; ++stage) {
    SmallVector<cost::WorkEstimate, 4> works;
    SmallVector<StringRef> names;
    Parts places;
    for (auto [place, part] : llvm::zip_equal(parts, kernels))
      if (stage < part.size())
        works.push_back(part[stage].work), names.push_back(part[stage].kernel), places.push_back(place);
    launches.push_back({{llvm::join(names, " + "), cost::workTogether(works)}, cost::priceTogether(works, device), places});
  }
  return launches;
}

/// What a key of the cache says of an attention at some sizes.
static auto keyOf(const PricedPlan &plan, size_t attention, const RuntimeSizes &sizes) {
  const void *counted = nullptr;
  if (attention < plan.counted.size() && !plan.counted[attention].empty())
    counted = plan.counted[attention].front();
  return std::tuple_cat(withSizes(plan.attentions[attention], sizes).key(),
                        std::make_tuple(plan.schedule.getAsOpaquePointer(), counted));
}

PlanPrice Metric::price(const PricedPlan &plan, const RuntimeSizes &sizes) {
  PlanPrice total;
  bool first = true;
  for (const Parts &parts : byLaunches(plan)) {
    std::vector<Key> keys;
    for (size_t part : parts)
      keys.push_back(keyOf(plan, part, sizes));
    auto [place, missing] = cache.try_emplace(std::move(keys));
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
