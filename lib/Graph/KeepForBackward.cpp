//===- KeepForBackward.cpp - What the forward pass leaves for gradients ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/KeepForBackward.h"

#include "attune/Attn/Backward.h"

using namespace mlir;
using namespace attune;

static constexpr StringLiteral nameAttr = "attn.name";

attn::SoftmaxOp graph::keptSoftmax(func::FuncOp function) {
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return nullptr;
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
    auto softmax = result.get().getDefiningOp<attn::SoftmaxOp>();
    bool isOutput = softmax && result.get() == softmax.getOutput() && function.getResultAttr(result.getOperandNumber(), nameAttr);
    if (isOutput && !(softmax.getWindow() && softmax.getWindow()->isGrid()))
      return softmax;
  }
  return nullptr;
}

attn::SoftmaxOp graph::withSums(attn::SoftmaxOp softmax) {
  if (softmax.getLse())
    return softmax;
  OpBuilder builder(softmax);
  auto sums = RankedTensorType::get(softmax.getQuery().getType().getShape().drop_back(), builder.getF32Type());
  auto result = attn::SoftmaxOp::create(builder, softmax.getLoc(), softmax.getOutput().getType(), sums, softmax.getQuery(), softmax.getKey(),
                                        softmax.getValue(), softmax.getLengths(), softmax.getSlopes(), softmax.getScaleAttr(), softmax.getCausalAttr(),
                                        softmax.getWindowAttr(), softmax.getLastAttr(), softmax.getSoftcapAttr(), softmax.getExecutionAttr());
  softmax.getOutput().replaceAllUsesWith(result.getOutput());
  softmax->erase();
  return result;
}

void graph::keepForBackward(func::FuncOp function) {
  attn::SoftmaxOp softmax = keptSoftmax(function);
  if (!softmax)
    return;
  softmax = withSums(softmax);
  Operation *end = function.getBody().front().getTerminator();
  if (llvm::is_contained(end->getOperands(), softmax.getLse()))
    return;
  end->insertOperands(end->getNumOperands(), softmax.getLse());
  OpBuilder builder(function.getContext());
  auto named = builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(attn::savedPrefix + "lse")));
  (void)function.insertResult(function.getNumResults(), softmax.getLse().getType(), named);
}
