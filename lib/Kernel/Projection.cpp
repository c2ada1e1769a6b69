//===- Projection.cpp - Products with the weights of a layer -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   projection:         parallel over (batch, head, token block)      [T, width] = Σ_D x [T, D] · W [D, width of the head]
//   output projection:  parallel over (batch, token block, D block)   [T, 64] = Σ_head o [T, dv] · W [dv of the head, 64]
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Tile/Product.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using tile::modelTile;

Value kernel::addBias(TileBuilder &tiles, Value x, Value bias, Value first) {
  if (!bias)
    return x;
  SmallVector<int64_t> shape(tiles.shape(x));
  Value b = tiles.cast(tiles.load(bias, first, shape[1]), tiles.builder.getF32Type()); // [columns]
  return tiles.plus(x, tiles.expand(b, 0, shape));
}

Value kernel::timesWeight(TileBuilder &tiles, Type operand, Value x, Value w, Value acc) {
  Type f32 = tiles.builder.getF32Type();
  if (!operand.isF32() && cast<RankedTensorType>(w.getType()).getElementType().isF32())
    return tiles.exactDot(tiles.cast(x, f32), w, acc);
  return tiles.dot(tiles.cast(x, operand), tiles.cast(w, operand), acc);
}

Value kernel::projectTile(TileBuilder &tiles, Type operand, Value model, int64_t rows, Value weight, Value head,
                          int64_t width, llvm::function_ref<Value(TileBuilder &tiles, Value column)> load) {
  Value c0 = tiles.index(0), firstColumn = tiles.mul(head, width);
  bool prepared = cast<MemRefType>(weight.getType()).getRank() == 3;
  auto step = [&](TileBuilder &inner, Value column, ValueRange carried) -> SmallVector<Value> {
    Value a = load(inner, column);                                           // [T, 64]
    SmallVector<Value, 3> place{column, firstColumn};
    if (prepared)
      place = {head, column, c0};
    Value w = inner.load(weight, place, {modelTile, width});                 // [64, width]
    return {timesWeight(inner, operand, a, w, carried[0])};
  };
  return loop(tiles, tiles.sums(), c0, model, modelTile, tiles.constant({rows, width}, 0), step)[0]; // [T, width]
}

/// Says that the kernel is a product and no more, where it is: of plain weights, with operands as they are stored.
static void markProduct(const KernelFrame &frame, const Problem &problem, Value x, Value weight, Value bias,
                        const Tokens &result) {
  auto tokens = cast<MemRefType>(x.getType()), weights = cast<MemRefType>(weight.getType()),
       out = cast<MemRefType>(result.memory.getType());
  Type type = tokens.getElementType();
  bool gpu = problem.schedule.getTarget() == tile::TargetKind::GPU;
  if (gpu && !bias && weights.getRank() == 2 && weights.getElementType() == type &&
      problem.schedule.getOperand() == type && out.getElementType().isF32() && out.getDimSize(1) == result.heads)
    tile::Product{type, result.heads, result.width, weights.getDimSize(0)}.mark(frame.kernel);
}

void kernel::buildProjection(BuildSite &site, const Problem &problem, Value x, Value weight, Value bias,
                             const Tokens &result) {
  KernelFrame frame(site, problem, "project", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {x, weight, bias, result.memory});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.schedule.getQueryTile(), width = result.width;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows), column = tiles.mul(head, width);
  Value tokens = frame[x];
  auto load = [&](TileBuilder &inner, Value model) {
    return inner.load(tokens, {batch, first, model}, {rows, modelTile}); // [T, 64]
  };
  Value projected = projectTile(tiles, problem.schedule.getOperand(), tiles.dim(tokens, 2), rows, frame[weight], head,
                                width, load);                            // [T, width]
  tiles.store(addBias(tiles, projected, frame[bias], column), frame[result.memory], {batch, head, first, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(x, 0), host.index(result.heads), host.ceilDiv(host.dim(x, 1), rows)});
  markProduct(frame, problem, x, weight, bias, result);
}

void kernel::buildOutputProjection(BuildSite &site, const Problem &problem, const Tokens &source, bool areSums,
                                   Value weight, Value bias, Value result) {
  KernelFrame frame(site, problem, "project_output",
                    {tile::Axis::Batch, tile::Axis::QueryBlock, tile::Axis::ValueBlock},
                    {source.memory, weight, bias, result});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.schedule.getQueryTile(), width = source.width;
  Type operand = areSums ? kernelOperand(problem, tiles) : problem.schedule.getOperand();
  Value batch = tiles.programId(tile::Axis::Batch), c0 = tiles.index(0);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  Value block = tiles.programId(tile::Axis::ValueBlock), column = tiles.mul(block, modelTile);
  Value heads = frame[source.memory], weights = frame[weight];
  // A loop over rows of packed weights, so that a product fetches the rows of the next one.
  bool packed = cast<MemRefType>(weight.getType()).getRank() == 3;
  auto step = [&](TileBuilder &inner, Value at, ValueRange carried) -> SmallVector<Value> {
    Value head = packed ? inner.div(at, width) : at;
    Value o = inner.load(heads, {batch, head, first, c0}, {rows, width});                        // [T, dv]
    SmallVector<Value, 3> place{block, at, c0};
    if (!packed)
      place = {inner.mul(head, width), column};
    Value w = inner.load(weights, place, {width, modelTile});                                    // [dv, 64]
    return {inner.dot(inner.cast(o, operand), inner.cast(w, operand), carried[0])};
  };
  Value zero = tiles.constant({rows, modelTile}, 0), end = tiles.index(source.heads * (packed ? width : 1));
  Value merged = loop(tiles, tiles.sums(), c0, end, packed ? width : 1, zero, step)[0];      // [T, 64]
  tiles.store(addBias(tiles, merged, frame[bias], column), frame[result], {batch, first, column});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(result, 0), host.ceilDiv(host.dim(result, 1), rows),
                      host.ceilDiv(host.dim(result, 2), modelTile)});
}
