//===- ExactSoftmax.cpp - The same function with exact softmax ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExactSoftmax.h"
#include "attune/Attn/Attn.h"
#include "attune/Graph/Metric.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;

/// All keys or values in place of the slots that they are compressed to.
static Value allTokens(Value tokens) {
  while (auto compress = tokens.getDefiningOp<attn::CompressOp>())
    tokens = compress.getSource();
  return tokens;
}

static bool isExact(Operation &op) {
  auto softmax = dyn_cast<attn::SoftmaxOp>(op);
  return softmax ? !softmax.getWindow() && !softmax.getLast() : !graph::isMechanism(&op) && !isa<attn::CompressOp>(op);
}

/// Softmax of an attention's first three operands, which are its queries, keys and values.
static void replace(Operation *attention) {
  OpBuilder builder(attention);
  Value output = attention->getResult(0), query = attention->getOperand(0);
  Value key = allTokens(attention->getOperand(1)), value = allTokens(attention->getOperand(2));
  UnitAttr causal = attention->getAttrOfType<UnitAttr>("causal");
  auto softmax = attn::SoftmaxOp::create(builder, attention->getLoc(), output.getType(), Type(), query, key, value, Value(), Value(),
                                         builder.getF64FloatAttr(1), causal, attn::WindowAttr(), IntegerAttr(), FloatAttr(), /*execution=*/{});
  output.replaceAllUsesWith(softmax.getOutput());
}

OwningOpRef<func::FuncOp> graph::withExactSoftmax(func::FuncOp function) {
  if (llvm::all_of(function.getOps(), isExact))
    return {};
  OwningOpRef<func::FuncOp> exact(function.clone());
  for (Operation &op : llvm::make_early_inc_range(exact->getOps()))
    if (auto lepe = dyn_cast<attn::LepeOp>(op))
      lepe.getResult().replaceAllUsesWith(lepe.getSource());
    else if (isMechanism(&op))
      replace(&op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(exact->getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return exact;
}
