//===- Metric.cpp - The price of a whole plan -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Metric.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using cost::AttentionShape;

llvm::Expected<tile::ScheduleAttr> Metric::scheduleOf(ArrayRef<AttentionShape> attentions, Type storage) const {
  // The tiles of projections and compressions are smaller than those of attention.
  SmallVector<AttentionShape, 1> mechanisms;
  for (const AttentionShape &shape : attentions)
    if (shape.family < cost::Family::Project)
      mechanisms.push_back(shape);
  return cost::chooseSchedule(mechanisms, storage, machine);
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
  llvm::Expected<tile::ScheduleAttr> schedule = scheduleOf(plan.attentions, storageOf(function));
  if (!schedule)
    return schedule.takeError();
  plan.schedule = *schedule;
  return plan;
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

PlanPrice Metric::price(const PricedPlan &plan, const RuntimeSizes &sizes) {
  PlanPrice total;
  bool first = true;
  for (const AttentionShape &symbolic : plan.attentions) {
    AttentionShape shape = withSizes(symbolic, sizes);
    auto [place, missing] =
        cache.try_emplace(std::tuple_cat(shape.key(), std::make_tuple(plan.schedule.getAsOpaquePointer())));
    PlanPrice &price = place->second;
    if (missing)
      for (auto [index, kernel] : llvm::enumerate(cost::attentionWork(shape, plan.schedule))) {
        price.seconds += cost::priceOf(kernel.work, machine).seconds();
        index == 0 ? void(price.work = kernel.work) : void(price.work += kernel.work);
      }
    total.seconds += price.seconds;
    first ? void(total.work = price.work) : void(total.work += price.work);
    first = false;
  }
  return total;
}

std::vector<PricedKernel> Metric::kernels(const PricedPlan &plan, const RuntimeSizes &sizes) const {
  std::vector<PricedKernel> kernels;
  for (auto [index, symbolic] : llvm::enumerate(plan.attentions))
    for (cost::KernelWork &kernel : cost::attentionWork(withSizes(symbolic, sizes), plan.schedule)) {
      cost::KernelPrice price = cost::priceOf(kernel.work, machine);
      kernels.push_back({std::move(kernel), price, index});
    }
  return kernels;
}
