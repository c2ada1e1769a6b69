//===- DescribeKernels.cpp - The kernels of the plan that runs ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Selector.h"
#include "attune/Attn/CompressFirst.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

static std::string nameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name") : StringAttr();
  return name ? name.str() : "";
}

/// The weight by which tokens were projected, or the argument that they are.
static std::string originOf(Value tokens) {
  while (Operation *op = tokens.getDefiningOp()) {
    if (auto project = dyn_cast<attn::ProjectOp>(op))
      return nameOf(project.getWeight());
    if (!isa<attn::CompressOp, attn::RopeOp, attn::QkNormOp, attn::TakeHeadsOp, attn::RepeatHeadsOp, attn::MapOp>(op))
      return "";
    tokens = op->getOperand(0);
  }
  return nameOf(tokens);
}

/// What tells the kernels of one op from those of another: "wk" of a projection, "e" of a compression of the layer's
/// input, "part1" of one attention of several.
static std::string subjectOf(Operation *op, cost::Family family, std::optional<unsigned> part) {
  if (part)
    return "part" + std::to_string(*part);
  if (auto project = dyn_cast<attn::ProjectOp>(op))
    return nameOf(project.getWeight());
  if (auto project = dyn_cast<attn::ProjectOutputOp>(op))
    return nameOf(project.getWeight());
  auto compress = dyn_cast<attn::CompressOp>(op);
  if (!compress)
    return "";
  bool ofInput = family != cost::Family::ProjectSlots && attn::projectionAfter(compress);
  return ofInput ? nameOf(compress.getWeight()) : originOf(compress.getSource());
}

void Selector::describeKernels(FunctionSelection &selection) {
  Candidate &candidate = candidates[chosenAt(selection.length)];
  SmallVector<Operation *> ops = opsOfAttentions(*candidate.function);
  ArrayRef<cost::AttentionShape> shapes = candidate.priced.attentions;
  auto isAttention = [](const cost::AttentionShape &shape) { return shape.isAttention(); };
  bool several = llvm::count_if(shapes, isAttention) > 1;
  SmallVector<std::string> subjects;
  for (auto [shape, op] : llvm::zip_equal(shapes, ops)) {
    unsigned before = llvm::count_if(shapes.take_front(subjects.size()), isAttention);
    bool isPart = several && isAttention(shape);
    subjects.push_back(subjectOf(op, shape.family, isPart ? std::optional(before) : std::nullopt));
  }
  for (PricedKernel &each : metric.kernels(candidate.priced, lengths->sizesAt(selection.length))) {
    auto parts = llvm::map_range(each.attentions, [&](size_t attention) { return subjects[attention]; });
    selection.kernels.push_back({std::move(each.kernel.kernel), llvm::join(parts, " + "), each.price.seconds(),
                                 each.price.limit(), each.kernel.work});
  }
}
