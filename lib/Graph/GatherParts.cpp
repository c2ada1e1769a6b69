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
// in which nothing is added, and each part is written where it belongs.
//
//===----------------------------------------------------------------------===//
#include "GatherParts.h"

#include "attune/Attn/Attn.h"

using namespace mlir;
using namespace attune;

static int64_t headsOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(1); }

/// The heads that a sum is made of, in their order; none if others are among them, or not each head is placed once.
static SmallVector<attn::PlaceHeadsOp> placedIn(Value sum) {
  SmallVector<attn::PlaceHeadsOp> parts;
  SmallVector<Value> values{sum};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (auto add = dyn_cast_or_null<attn::AddOp>(op))
      values.append({add.getLhs(), add.getRhs()});
    else if (auto place = dyn_cast_or_null<attn::PlaceHeadsOp>(op))
      parts.push_back(place);
    else
      return {};
  }
  llvm::sort(parts, [](attn::PlaceHeadsOp a, attn::PlaceHeadsOp b) { return a.getFirst() < b.getFirst(); });
  int64_t first = 0;
  for (attn::PlaceHeadsOp part : parts) {
    if (static_cast<int64_t>(part.getFirst()) != first)
      return {};
    first += headsOf(part.getSource());
  }
  return first == headsOf(sum) ? parts : SmallVector<attn::PlaceHeadsOp>();
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
    SmallVector<attn::PlaceHeadsOp> parts = sum->use_empty() ? SmallVector<attn::PlaceHeadsOp>() : placedIn(sum);
    if (parts.empty())
      continue;
    OpBuilder builder(sum);
    SmallVector<Value> sources = llvm::map_to_vector(parts, [](attn::PlaceHeadsOp part) -> Value { return part.getSource(); });
    auto concat = attn::ConcatHeadsOp::create(builder, sum.getLoc(), sum.getType(), sources, attn::ExecutionAttr());
    sum.replaceAllUsesWith(concat.getResult());
    if (concat->hasOneUse())
      if (auto scale = dyn_cast<attn::ScaleOp>(*concat->user_begin()))
        moveBefore(concat, scale);
  }
}
