//===- LogState.cpp - States of features given by their logarithms -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:  parallel over (batch, head, piece)     M, z, S over the keys of the piece
//   merge:  parallel over (batch, head)            the pieces one after another, each rescaled to the larger maxima
//
//===----------------------------------------------------------------------===//
#include "LogState.h"

#include "FusedState.h"
#include "LastPiece.h"
#include "Pieces.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Value LogFeatures::at(TileBuilder &tiles, Value x) const {
  Value power = tiles.exp2(x);
  return mantissas ? tiles.times(power, mantissas) : power;
}

double kernel::leastExponent(attn::DenominatorAttr guard) {
  // In a unit of the guard's own size, weights of a thousandth of a millionth of it would be lost, and with them outputs
  // that are tiny beside the values, but all that there are. In one so much smaller the guard is 2^range.
  constexpr int range = 96;
  double largest = std::max(guard.getBias(), guard.getFloor());
  return largest > 0 ? std::floor(std::log2(largest)) - range : noLogarithm;
}

/// number · 2^-c [T], neither of which need be in range.
static Value inUnit(TileBuilder &tiles, double number, Value c) {
  ArrayRef<int64_t> rows = tiles.shape(c);
  int exponent = 0;
  double mantissa = std::frexp(number, &exponent);
  return tiles.times(tiles.exp2(tiles.minus(tiles.constant(rows, exponent), c)), tiles.constant(rows, mantissa));
}

Value kernel::normalizeInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, Value numerator, Value denominator,
                              Value c) {
  if (guard.getBias() != 0)
    denominator = tiles.plus(denominator, inUnit(tiles, guard.getBias(), c));
  if (guard.getFloor() != 0)
    denominator = tiles.maximum(denominator, inUnit(tiles, guard.getFloor(), c));
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, numerator, denominator);
}

//===----------------------------------------------------------------------===//
// The carry
//===----------------------------------------------------------------------===//

SmallVector<Value> kernel::emptyLogState(TileBuilder &tiles, int64_t features, int64_t valueWidth) {
  return {tiles.constant({features}, noLogarithm), tiles.constant({features}, 0),
          tiles.constant({features, valueWidth}, 0)};
}

SmallVector<Value> kernel::addLogKeys(TileBuilder &tiles, ValueRange state, const LogFeatures &keys, Value v,
                                      Type operand) {
  Value l = keys.exponents;                                                                          // [T, m]
  Value maximum = tiles.maximum(state[0], tiles.reduceMax(l, 0));                                    // [m]
  Value factor = tiles.exp2(tiles.minus(state[0], maximum));                                         // [m]
  Value b = keys.at(tiles, tiles.minus(l, tiles.expand(maximum, 0, tiles.shape(l))));                // [T, m]
  Value sum = tiles.plus(tiles.times(state[1], factor), tiles.reduceAdd(b, 0));                      // [m]
  Value before = tiles.times(state[2], tiles.expand(factor, 1, tiles.shape(state[2])));              // [m, dv]
  return {maximum, sum, tiles.dot(tiles.cast(b, operand), tiles.cast(v, operand), before, /*transposeA=*/true)};
}

SmallVector<Value> kernel::addLogTile(TileBuilder &tiles, const Problem &problem, ValueRange state, LogFeatures keys,
                                      const TokenReader &value, Value first, Value limit) {
  // A key that does not exist has the logarithm of 0.
  keys.exponents = tiles.mask(keys.exponents, -std::numeric_limits<double>::infinity(), tiles.sub(limit, first), Value(),
                              Value());                               // [Tk, m]
  Value v = value.load(tiles, first, problem.keyTile(), limit);       // [Tk, dv]
  return addLogKeys(tiles, state, keys, v, kernelOperand(problem, tiles));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static SmallVector<Value, 6> indicesOf(TileBuilder &tiles, ArrayRef<Value> indices, unsigned zeros) {
  SmallVector<Value, 6> result(indices);
  for (unsigned i = 0; i < zeros; ++i)
    result.push_back(tiles.index(0));
  return result;
}

SmallVector<Value> kernel::loadLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states,
                                        ArrayRef<Value> indices) {
  SmallVector<Value, 6> row = indicesOf(tiles, indices, 1), matrix = indicesOf(tiles, indices, 2);
  return {tiles.load(frame[states.maximum], row, {states.features}),
          tiles.load(frame[states.sum], row, {states.features}),
          tiles.load(frame[states.matrix], matrix, {states.features, states.valueWidth})};
}

void kernel::storeLogState(TileBuilder &tiles, const KernelFrame &frame, const LogStates &states, ValueRange state,
                           ArrayRef<Value> indices) {
  SmallVector<Value, 6> row = indicesOf(tiles, indices, 1), matrix = indicesOf(tiles, indices, 2);
  tiles.store(state[0], frame[states.maximum], row);
  tiles.store(state[1], frame[states.sum], row);
  tiles.store(state[2], frame[states.matrix], matrix);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogStates LogStateBuilder::workspace(bool pieces, Value batch, Value count) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> shape{dynamic, heads};
  SmallVector<Value> sizes{batch};
  if (pieces)
    shape.push_back(dynamic), sizes.push_back(count);
  shape.push_back(features);
  Value sum = site.workspace(shape, sizes), maximum = site.workspace(shape, sizes);
  shape.push_back(problem.valueWidth());
  return {site.workspace(shape, sizes), sum, maximum, features, problem.valueWidth()};
}

void LogStateBuilder::buildPieces(Value count, ArrayRef<Value> values, Prepare prepare, Value counters) {
  SmallVector<Value> arguments = hostValues({&problem.key, &problem.value}, values);
  arguments.push_back(problem.lengths);
  llvm::append_range(arguments, pieces.memories());
  arguments.push_back(counters);
  if (counters)
    llvm::append_range(arguments, result.memories());
  KernelFrame frame(site, problem, counters ? "merged_state" : "state",
                    {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece}, arguments);
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value piece = tiles.programId(tile::Axis::KeyPiece), limit = keyLimit(frame, tiles, problem, point);
  TokenRange range = Pieces(problem).tokens(tiles, frame, piece, limit);
  TokenReader value(tiles, frame, problem, problem.value, point, heads);
  KeyLogarithms logarithms = prepare(frame, point, limit);
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) {
    return addLogTile(inner, problem, carried, logarithms(inner, j), value, j, limit);
  };
  SmallVector<Value> state = loop(tiles, tiles.rescaledSums(), range.first, range.end, problem.keyTile(),
                                  emptyLogState(tiles, features, problem.valueWidth()), step);
  storeLogState(tiles, frame, pieces, state, {point.batch, point.head, piece});
  if (counters)
    inLastPiece(tiles, frame[counters], {point.batch, point.head}, tiles.dim(frame[pieces.sum], 2),
                [&](TileBuilder &inner) { mergePieces(inner, frame, point.batch, point.head); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(heads), count});
}

void kernel::divideBySums(TileBuilder &tiles, SmallVector<Value> &state) {
  SmallVector<int64_t> shape(tiles.shape(state[1]));
  Value inverse = tiles.over(tiles.constant(shape, 1), state[1]);
  inverse = tiles.selectEqual(state[1], 0, tiles.constant(shape, 0), inverse);
  state[2] = tiles.times(state[2], tiles.expand(inverse, 1, tiles.shape(state[2])));
}

SmallVector<Value> kernel::mergeOfPieces(TileBuilder &tiles, const KernelFrame &frame, const LogStates &pieces, Value batch,
                                         Value head, Value count) {
  tile::CarryAttrInterface carry = tiles.rescaledSums();
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) {
    return carry.buildCompose(inner.builder, inner.loc, before, loadLogState(inner, frame, pieces, {batch, head, piece}));
  };
  return loop(tiles, carry, tiles.index(0), count, 1,
              emptyLogState(tiles, pieces.features, pieces.valueWidth), step);
}

void LogStateBuilder::mergePieces(TileBuilder &tiles, const KernelFrame &frame, Value batch, Value head) const {
  SmallVector<Value> state = mergeOfPieces(tiles, frame, pieces, batch, head, tiles.dim(frame[pieces.sum], 2));
  if (normalized)
    divideBySums(tiles, state);
  storeLogState(tiles, frame, result, state, {batch, head});
}

void LogStateBuilder::buildMerge() {
  SmallVector<Value> arguments = pieces.memories();
  llvm::append_range(arguments, result.memories());
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head}, arguments);
  TileBuilder &tiles = frame.tiles;
  mergePieces(tiles, frame, tiles.programId(tile::Axis::Batch), tiles.programId(tile::Axis::Head));
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(pieces.sum, 0), host.index(heads)});
}

LogStates LogStateBuilder::build(ArrayRef<Value> values, bool isNormalized, Prepare prepare) {
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(problem.key.memory, 0);
  Value count = Pieces(problem).count(host);
  pieces = workspace(true, batch, count), result = workspace(false, batch, count), normalized = isNormalized;
  Value counters = problem.merged ? counterWorkspace(site, batch, heads) : Value();
  buildPieces(count, values, prepare, counters);
  if (!counters)
    buildMerge();
  return result;
}

LogStates LogStateBuilder::buildPieces(ArrayRef<Value> values, Prepare prepare) {
  TileBuilder host(site.host, site.loc);
  Value count = Pieces(problem).count(host);
  pieces = workspace(true, host.dim(problem.key.memory, 0), count);
  buildPieces(count, values, prepare, Value());
  return pieces;
}

void LogStateBuilder::buildFused(ArrayRef<Value> values, bool normalized, Prepare prepare, ReadQueries read) {
  buildFusedState(site, problem, heads, values, [&](KernelFrame &frame, const Point &point, Value limit) {
    auto value = std::make_shared<TokenReader>(frame.tiles, frame, problem, problem.value, point, heads);
    KeyLogarithms logarithms = prepare(frame, point, limit);
    StateSteps steps;
    steps.carry = frame.tiles.rescaledSums();
    steps.empty = emptyLogState(frame.tiles, features, problem.valueWidth());
    steps.add = [=, this](TileBuilder &tiles, Value first, ValueRange state) {
      return addLogTile(tiles, problem, state, logarithms(tiles, first), *value, first, limit);
    };
    if (normalized)
      steps.finish = [](TileBuilder &tiles, ValueRange state) {
        SmallVector<Value> result(state);
        divideBySums(tiles, result);
        return result;
      };
    steps.read = read;
    return steps;
  });
}
