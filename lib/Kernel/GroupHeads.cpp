//===- GroupHeads.cpp - Heads that share keys as rows of one ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   one query:  rows = view of [batch, H, 1, d] as [batch, G, H / G, d]     softmax of rows writes such a view of the output
//   several:    dense = copy of [batch, H, n, d]                            softmax of [batch, G, n · H / G, d], a view of it, writes one of a
//               rows = view of it, head by head of a group                  workspace, which is copied to the output
//
//===----------------------------------------------------------------------===//
#include "GroupHeads.h"

#include "Region.h"
#include "Regions/Regions.h"
#include "attune/Attn/GroupedRows.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// [batch, H, n, d] as [batch, G, n · H / G, d].
static RankedTensorType withRows(RankedTensorType type, int64_t heads) {
  ArrayRef<int64_t> shape = type.getShape();
  return RankedTensorType::get({shape[0], heads, shape[2] * (shape[1] / heads), shape[3]}, type.getElementType());
}

Value GroupedHeads::viewOf(Value memory, int64_t heads) const {
  auto type = cast<MemRefType>(memory.getType());
  const int64_t any = ShapedType::kDynamic;
  auto layout = StridedLayoutAttr::get(type.getContext(), 0, {any, any, any, 1});
  auto view = MemRefType::get({type.getDimSize(0), heads, any, type.getDimSize(3)}, type.getElementType(), layout);
  return tile::GroupHeadsOp::create(site.host, memory.getLoc(), view, memory);
}

/// A workspace like a memory [batch, H, n, width], of as many entries and tokens as `sizes` has.
Value GroupedHeads::rowsLike(Value memory, Value sizes) {
  auto type = cast<MemRefType>(memory.getType());
  TileBuilder host(site.host, site.loc);
  const int64_t any = ShapedType::kDynamic;
  return site.workspace({any, type.getDimSize(1), any, type.getDimSize(3)}, {host.dim(sizes, 0), host.dim(sizes, 2)}, type.getElementType());
}

LogicalResult GroupedHeads::copy(Value from, Value to, StringRef suffix) {
  KernelRegion region = copyRegion(source.getName(), suffix, schedule, from, to);
  if (regions)
    region.print(*regions);
  return buildRegion(site, region);
}

LogicalResult GroupedHeads::group(attn::SoftmaxOp op) {
  int64_t heads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto rows = withRows(query, heads), outputRows = withRows(cast<RankedTensorType>(op.getOutput().getType()), heads);
  bool isOne = query.getDimSize(2) == 1, seesAll = isOne && !op.getLast();
  OpBuilder builder(op);
  if (failed(source.insertArgument(source.getNumArguments(), rows, {}, op.getLoc())))
    return failure();
  BlockArgument argument = source.getArguments().back();
  auto grouped = attn::SoftmaxOp::create(builder, op.getLoc(), outputRows, Type(), argument, op.getKey(), op.getValue(), op.getLengths(), Value(),
                                         op.getScaleAttr(), seesAll ? UnitAttr() : op.getCausalAttr(), attn::WindowAttr(), op.getLastAttr(),
                                         op.getSoftcapAttr(), op.getExecutionAttr());
  grouped->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value given = memories.lookup(op.getQuery()), output = memories.lookup(op.getOutput());
  if (!seesAll)
    grouped->setAttr(attn::headsAsRowsAttr, builder.getI64IntegerAttr(query.getDimSize(1) / heads));
  if (!isOne) {
    Value dense = rowsLike(given, given), own = rowsLike(output, given);
    if (failed(copy(given, dense, "heads")))
      return failure();
    outputs.emplace_back(own, output);
    given = dense, output = own;
  }
  memories.map(argument, viewOf(given, heads));
  memories.map(grouped.getOutput(), viewOf(output, heads));
  op.getOutput().replaceAllUsesWith(grouped.getOutput());
  op.erase();
  return success();
}

LogicalResult GroupedHeads::begin() {
  for (auto op : llvm::to_vector(source.getOps<attn::SoftmaxOp>()))
    if (attn::areHeadsRows(op) && failed(group(op)))
      return failure();
  source.setType(FunctionType::get(source.getContext(), source.getArgumentTypes(), source.getBody().front().getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult GroupedHeads::end() {
  for (const auto &[own, output] : outputs)
    if (failed(copy(own, output, "output")))
      return failure();
  return success();
}
