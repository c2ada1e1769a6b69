//===- GroupHeads.cpp - Heads that share keys as rows of one ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GroupHeads.h"

#include "attune/Attn/GroupedRows.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

/// [batch, H, 1, d] as [batch, G, H / G, d].
static RankedTensorType withRows(RankedTensorType type, int64_t heads) {
  ArrayRef<int64_t> shape = type.getShape();
  return RankedTensorType::get({shape[0], heads, shape[1] / heads, shape[3]}, type.getElementType());
}

static Value viewOf(Value memory, int64_t heads, OpBuilder &host) {
  auto type = cast<MemRefType>(memory.getType());
  const int64_t any = ShapedType::kDynamic;
  auto layout = StridedLayoutAttr::get(type.getContext(), 0, {any, any, any, 1});
  auto view = MemRefType::get({type.getDimSize(0), heads, any, type.getDimSize(3)}, type.getElementType(), layout);
  return tile::GroupHeadsOp::create(host, memory.getLoc(), view, memory);
}

static void groupHeads(attn::SoftmaxOp op, func::FuncOp source, IRMapping &memories, OpBuilder &host) {
  int64_t heads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  auto rows = withRows(cast<RankedTensorType>(op.getQuery().getType()), heads);
  auto outputRows = withRows(cast<RankedTensorType>(op.getOutput().getType()), heads);
  OpBuilder builder(op);
  [[maybe_unused]] LogicalResult inserted = source.insertArgument(source.getNumArguments(), rows, {}, op.getLoc());
  assert(succeeded(inserted) && "a function type takes any tensor");
  BlockArgument query = source.getArguments().back();
  auto grouped = attn::SoftmaxOp::create(builder, op.getLoc(), outputRows, Type(), query, op.getKey(), op.getValue(), op.getLengths(), Value(), op.getScaleAttr(),
                                         /*causal=*/UnitAttr(), /*window=*/attn::WindowAttr(), /*last=*/IntegerAttr(), op.getSoftcapAttr(), op.getExecutionAttr());
  grouped->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  memories.map(query, viewOf(memories.lookup(op.getQuery()), heads, host));
  memories.map(grouped.getOutput(), viewOf(memories.lookup(op.getOutput()), heads, host));
  op.getOutput().replaceAllUsesWith(grouped.getOutput());
  op.erase();
}

void kernel::groupHeads(func::FuncOp source, IRMapping &memories, OpBuilder &host) {
  for (auto op : llvm::to_vector(source.getOps<attn::SoftmaxOp>()))
    if (attn::areHeadsRows(op))
      ::groupHeads(op, source, memories, host);
  source.setType(FunctionType::get(source.getContext(), source.getArgumentTypes(), source.getBody().front().getTerminator()->getOperandTypes()));
}
