//===- KernelFrame.cpp - What the kernels of all families begin with -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static SmallVector<Value> present(ArrayRef<Value> memories) {
  SmallVector<Value> result;
  for (Value memory : memories)
    if (memory)
      result.push_back(memory);
  return result;
}

static tile::KernelOp makeKernel(BuildSite &site, const Problem &problem, StringRef suffix, ArrayRef<tile::Axis> grid,
                                 ValueRange memories) {
  OpBuilder builder = OpBuilder::atBlockEnd(site.module.getBody());
  return tile::KernelOp::create(builder, site.loc, problem.name + "_" + suffix.str(), memories.getTypes(), grid,
                                problem.schedule);
}

KernelFrame::KernelFrame(BuildSite &site, const Problem &problem, StringRef suffix, ArrayRef<tile::Axis> grid,
                         ArrayRef<Value> memories)
    : builder(site.module.getContext()), tiles(builder, site.loc), hostMemories(present(memories)) {
  kernel = makeKernel(site, problem, suffix, grid, hostMemories);
  builder.setInsertionPointToStart(&kernel.getBody().front());
}

Value KernelFrame::operator[](Value hostMemory) const {
  if (!hostMemory)
    return Value();
  for (auto [position, memory] : llvm::enumerate(hostMemories))
    if (memory == hostMemory)
      return tile::KernelOp(kernel).getBody().front().getArgument(position);
  return Value();
}

void KernelFrame::finish(BuildSite &site, ValueRange gridSizes) {
  tile::ReturnOp::create(builder, site.loc);
  tile::LaunchOp::create(site.host, site.loc, kernel.getSymName(), gridSizes, hostMemories);
}

//===----------------------------------------------------------------------===//
// Who sees whom
//===----------------------------------------------------------------------===//

Value kernel::keyLimit(TileBuilder &tiles, Value key, Value lengths, Value batch) {
  if (!lengths)
    return tiles.dim(key, 2);
  Value length = memref::LoadOp::create(tiles.builder, tiles.loc, lengths, batch);
  return arith::IndexCastOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), length);
}

VisibleKeys kernel::visibleKeys(TileBuilder &tiles, const Problem &problem, Value query, Value key, Value lengths,
                                Value batch, Value firstQuery) {
  VisibleKeys keys;
  keys.limit = keyLimit(tiles, key, lengths, batch);
  if (!problem.causal) {
    keys.full = tiles.roundDown(keys.limit, problem.keyTile());
    keys.last = keys.limit;
    return keys;
  }
  // Query i sees keys j ≤ i + N − n.
  Value queries = tiles.dim(query, 2);
  Value offset = tiles.sub(tiles.dim(key, 2), queries);
  keys.diagonal = tiles.add(firstQuery, offset);
  Value seenByAll = tiles.min(tiles.add(keys.diagonal, tiles.index(1)), keys.limit);
  keys.full = tiles.roundDown(seenByAll, problem.keyTile());
  Value end = tiles.min(tiles.add(firstQuery, tiles.index(problem.queryTile())), queries);
  keys.last = tiles.min(tiles.add(end, offset), keys.limit);
  return keys;
}

SmallVector<Value> kernel::loop(TileBuilder &tiles, tile::Carry carry, Value lower, Value upper, int64_t stride,
                                ValueRange carried, LoopStep step) {
  auto body = [&](OpBuilder &builder, Location loc, Value first, ValueRange inner) {
    TileBuilder inside(builder, loc);
    tile::YieldOp::create(builder, loc, step(inside, first, inner));
  };
  auto op = tile::LoopOp::create(tiles.builder, tiles.loc, carry, lower, upper, stride, carried, body);
  return SmallVector<Value>(op.getResults());
}

//===----------------------------------------------------------------------===//
// Kernel attention
//===----------------------------------------------------------------------===//

/// elu(x) + 1 = max(x, 0) + exp(min(x, 0)): no branch, and never exp of a large number.
static Value elu1(TileBuilder &tiles, Value x) {
  Value zero = tiles.constant(tiles.shape(x), 0);
  Value log2e = tiles.constant(tiles.shape(x), M_LOG2E);
  Value exponential = tiles.exp2(tiles.times(tiles.minimum(x, zero), log2e));
  return tiles.plus(exponential, tiles.maximum(x, zero));
}

Value kernel::featureMap(TileBuilder &tiles, attn::FeatureMapAttr map, Value tokens) {
  Value x = tiles.cast(tokens, tiles.builder.getF32Type());
  switch (map.getKind()) {
  case attn::FeatureKind::Elu1:
    return elu1(tiles, x);
  default:
    break;
  }
  return Value();
}

Value kernel::normalize(TileBuilder &tiles, attn::DenominatorAttr guard, Value numerator, Value denominator) {
  ArrayRef<int64_t> rows = tiles.shape(denominator);
  if (guard.getBias() != 0)
    denominator = tiles.plus(denominator, tiles.constant(rows, guard.getBias()));
  if (guard.getFloor() != 0)
    denominator = tiles.maximum(denominator, tiles.constant(rows, guard.getFloor()));
  Value inverse = tiles.over(tiles.constant(rows, 1), denominator);
  // Of a denominator below 2^-128 the inverse would be infinite, and so the output of finite inputs. A sum of weights is
  // that small only beyond the range of the tolerances; there the output is finite, no more.
  if (std::max(guard.getBias(), guard.getFloor()) < std::numeric_limits<float>::min())
    inverse = tiles.minimum(inverse, tiles.constant(rows, std::numeric_limits<float>::max()));
  inverse = tiles.selectEqual(denominator, 0, tiles.constant(rows, 0), inverse);
  return tiles.times(numerator, tiles.expand(inverse, 1, tiles.shape(numerator)));
}

Type kernel::kernelOperand(const Problem &problem, TileBuilder &tiles) {
  Type operand = problem.schedule.getOperand();
  return operand.isF16() ? tiles.builder.getF32Type() : operand;
}
