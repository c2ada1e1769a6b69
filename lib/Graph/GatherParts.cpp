//===- GatherParts.cpp - Sums of placed heads are heads side by side ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cotangent of tokens of which parts of the heads are taken is a sum of heads among others that are 0. Where each head comes from one part,
//
//     place(x, 0) + place(y, G) + … = concat(x, y, …)
//
// in which nothing is added, and each part is written where it belongs. Where several parts place the same heads, these alone are added.
//
//===----------------------------------------------------------------------===//
#include "GatherParts.h"

#include "attune/Attn/Attn.h"

using namespace mlir;
using namespace attune;

static int64_t headsOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(1); }

namespace {
/// Heads of a sum that come from all heads of a value.
struct Placed {
  Value source;
  int64_t first;

  int64_t end() const { return first + headsOf(source); }
};
} // namespace

/// The heads that a sum is made of; none if others are among them, or nothing is placed.
static SmallVector<Placed> placedIn(Value sum) {
  SmallVector<Placed> parts;
  SmallVector<Value> values{sum};
  bool places = false;
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (auto add = dyn_cast_or_null<attn::AddOp>(op)) {
      values.append({add.getLhs(), add.getRhs()});
    } else if (auto place = dyn_cast_or_null<attn::PlaceHeadsOp>(op)) {
      places = true;
      parts.push_back({place.getSource(), static_cast<int64_t>(place.getFirst())});
    } else if (auto concat = dyn_cast_or_null<attn::ConcatHeadsOp>(op)) {
      int64_t first = 0;
      for (Value part : concat.getParts())
        parts.push_back({part, first}), first = parts.back().end();
    } else {
      return {};
    }
  }
  return places ? parts : SmallVector<Placed>();
}

/// The heads from `first` to `end`, of which each part has all or none: the sum of those that have; null if none has.
static Value sumOf(OpBuilder &builder, Location loc, ArrayRef<Placed> parts, int64_t first, int64_t end) {
  Value sum;
  for (const Placed &part : parts) {
    if (part.first > first || part.end() < end)
      continue;
    Value heads = part.source;
    auto type = cast<RankedTensorType>(heads.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = end - first;
    if (shape[1] != headsOf(heads))
      heads = attn::TakeHeadsOp::create(builder, loc, type.clone(shape), heads, builder.getI64IntegerAttr(first - part.first));
    sum = sum ? attn::AddOp::create(builder, loc, sum.getType(), sum, heads).getResult() : heads;
  }
  return sum;
}

/// What the sum has from each place on at which heads of some part begin or end; none if there are heads that no part has.
static SmallVector<Value> segmentsOf(OpBuilder &builder, attn::AddOp sum, ArrayRef<Placed> parts) {
  SmallVector<int64_t> cuts{0, headsOf(sum)};
  for (const Placed &part : parts)
    cuts.append({part.first, part.end()});
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  auto ranges = llvm::zip(ArrayRef(cuts).drop_back(), ArrayRef(cuts).drop_front());
  bool isCovered = llvm::all_of(ranges, [&](auto range) {
    auto [first, end] = range;
    return llvm::any_of(parts, [&, first = first, end = end](const Placed &part) { return part.first <= first && part.end() >= end; });
  });
  SmallVector<Value> segments;
  if (isCovered)
    for (auto [first, end] : ranges)
      segments.push_back(sumOf(builder, sum.getLoc(), parts, first, end));
  return segments;
}

/// What all that reads the heads does to their numbers is done to those of each part.
static void moveBefore(attn::ConcatHeadsOp concat, attn::ScaleOp scale) {
  OpBuilder builder(scale);
  auto type = cast<RankedTensorType>(scale.getType());
  SmallVector<Value> parts = llvm::map_to_vector(concat.getParts(), [&](Value part) -> Value {
    return attn::ScaleOp::create(builder, scale.getLoc(), cast<RankedTensorType>(part.getType()).clone(type.getElementType()), part,
                                 scale.getFactorAttr());
  });
  scale.replaceAllUsesWith(attn::ConcatHeadsOp::create(builder, concat.getLoc(), type, parts, attn::ExecutionAttr()).getResult());
}

void graph::gatherParts(Block &body) {
  SmallVector<attn::AddOp> sums(body.getOps<attn::AddOp>());
  for (attn::AddOp sum : llvm::reverse(sums)) {
    SmallVector<Placed> parts = sum->use_empty() ? SmallVector<Placed>() : placedIn(sum);
    OpBuilder builder(sum);
    SmallVector<Value> sources = parts.empty() ? SmallVector<Value>() : segmentsOf(builder, sum, parts);
    if (sources.empty())
      continue;
    auto concat = attn::ConcatHeadsOp::create(builder, sum.getLoc(), sum.getType(), sources, attn::ExecutionAttr());
    sum.replaceAllUsesWith(concat.getResult());
    if (concat->hasOneUse())
      if (auto scale = dyn_cast<attn::ScaleOp>(*concat->user_begin()))
        moveBefore(concat, scale);
  }
}
