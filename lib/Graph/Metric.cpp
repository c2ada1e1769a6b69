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

//===----------------------------------------------------------------------===//
// Partition into kernels
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

/// The sizes that every attention has.
static AttentionShape shapeOf(attn::Form form, Value query, Value key, Value value) {
  ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key);
  AttentionShape shape;
  shape.form = form;
  shape.batch = q[0], shape.heads = q[1], shape.queries = q[2], shape.width = q[3];
  shape.sharedHeads = k[1], shape.keys = k[2];
  shape.features = q[3], shape.valueWidth = shapeOf(value)[3];
  shape.elementBytes = cast<RankedTensorType>(query.getType()).getElementTypeBitWidth() / 8;
  return shape;
}

/// The shape of features, by the map that makes them where one does.
static AttentionShape shapeOfFeatures(attn::Form form, Value queryFeatures, Value keyFeatures, Value value) {
  auto a = queryFeatures.getDefiningOp<attn::MapOp>(), b = keyFeatures.getDefiningOp<attn::MapOp>();
  AttentionShape shape = shapeOf(form, a ? a.getSource() : queryFeatures, b ? b.getSource() : keyFeatures, value);
  shape.features = shapeOf(queryFeatures)[3];
  return shape;
}

static std::optional<AttentionShape> quadraticShape(attn::NormalizeOp root) {
  auto mix = root.getNumerator().getDefiningOp<attn::ContractOp>();
  auto visible = mix ? mix.getLhs().getDefiningOp<attn::VisibleOp>() : attn::VisibleOp();
  Value weights = visible ? visible.getWeights() : mix ? mix.getLhs() : Value();
  auto pairs = weights ? weights.getDefiningOp<attn::ContractOp>() : attn::ContractOp();
  if (!pairs)
    return std::nullopt;
  AttentionShape shape = shapeOfFeatures(attn::Form::Quadratic, pairs.getLhs(), pairs.getRhs(), mix.getRhs());
  shape.causal = visible && visible.getCausal();
  return shape;
}

static std::optional<AttentionShape> stateShape(attn::NormalizeOp root) {
  auto readout = root.getNumerator().getDefiningOp<attn::ReadoutOp>();
  auto state = readout ? readout.getState().getDefiningOp<attn::StateOp>() : attn::StateOp();
  if (!state)
    return std::nullopt;
  return shapeOfFeatures(attn::Form::State, readout.getFeatures(), state.getFeatures(), state.getValue());
}

static std::optional<AttentionShape> chunkedShape(attn::NormalizeOp root) {
  auto readout = root.getNumerator().getDefiningOp<attn::CausalReadoutOp>();
  if (!readout)
    return std::nullopt;
  AttentionShape shape =
      shapeOfFeatures(attn::Form::Chunked, readout.getQueryFeatures(), readout.getKeyFeatures(), readout.getValue());
  shape.causal = true;
  shape.initialState = static_cast<bool>(readout.getInitialState());
  shape.finalState = !readout.getState().use_empty() || !readout.getSum().use_empty();
  return shape;
}

static AttentionShape softmaxShape(attn::SoftmaxOp op) {
  AttentionShape shape = shapeOf(attn::Form::Online, op.getQuery(), op.getKey(), op.getValue());
  shape.causal = op.getCausal();
  shape.lse = static_cast<bool>(op.getLse());
  return shape;
}

SmallVector<AttentionShape, 1> graph::attentionsOf(func::FuncOp function) {
  SmallVector<AttentionShape, 1> shapes;
  for (Operation &op : function.getOps()) {
    std::optional<AttentionShape> shape;
    if (auto softmax = dyn_cast<attn::SoftmaxOp>(op))
      shape = softmaxShape(softmax);
    else if (auto root = dyn_cast<attn::NormalizeOp>(op))
      for (auto recognize : {quadraticShape, stateShape, chunkedShape})
        if (!shape)
          shape = recognize(root);
    if (shape)
      shapes.push_back(*shape);
  }
  return shapes;
}

Type graph::storageOf(func::FuncOp function) {
  for (Operation &op : function.getOps())
    if (isa<attn::SoftmaxOp, attn::KernelOp, attn::NormalizeOp>(op))
      return cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  return Type();
}

llvm::Expected<PricedPlan> Metric::partition(func::FuncOp function) const {
  PricedPlan plan{attentionsOf(function), {}};
  // One schedule a function: that of the attention with the smallest tiles, which fits the others as well.
  for (const AttentionShape &shape : plan.attentions) {
    llvm::Expected<tile::ScheduleAttr> schedule = cost::chooseSchedule(shape, storageOf(function), machine);
    if (!schedule)
      return schedule.takeError();
    auto smaller = [](tile::ScheduleAttr a, tile::ScheduleAttr b) {
      return std::pair(a.getQueryTile(), a.getStages()) < std::pair(b.getQueryTile(), b.getStages());
    };
    if (!plan.schedule || smaller(*schedule, plan.schedule))
      plan.schedule = *schedule;
  }
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
  shape.queries = length(shape.queries, sizes.queries), shape.keys = length(shape.keys, sizes.keys);
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
