//===- StateReadout.cpp - What queries read of a state ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LogSource.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static Type operandOf(const TileSite &site, bool wide) {
  return wide ? Type(Float32Type::get(site.operand().getContext())) : site.operand();
}

namespace {
/// num = a S and, of a state that has z, den = a z, over all blocks of features.
struct StateReadout : Term {
  StateReadout(bool wide, bool divides) : wide(wide), divides(divides) {}

  StringRef name() const override { return "state_readout"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = operandOf(site, wide);
    SmallVector<Value, 3> a = operands[0]->tiles(site), state = operands[1]->tiles(site); // [T, m] each; S [m, dv], z [m]
    Value numerator, denominator;
    for (auto [block, features] : llvm::enumerate(a)) {
      SmallVector<int64_t> shape(tiles.shape(features));
      Value matrix = state[(divides ? 2 : 1) * block];
      Value before = numerator ? numerator : tiles.constant({shape[0], tiles.shape(matrix)[1]}, 0);
      numerator = tiles.dot(tiles.cast(features, type), tiles.cast(matrix, type), before);            // [T, dv]
      if (!divides)
        continue;
      Value sum = tiles.expand(state[2 * block + 1], 0, shape);
      Value part = tiles.reduceAdd(tiles.times(features, sum), 1);                                    // [T]
      denominator = denominator ? tiles.plus(denominator, part) : part;
    }
    return divides ? SmallVector<Value, 3>{numerator, denominator} : SmallVector<Value, 3>{numerator};
  }

  bool wide, divides;
};

/// c, den = a z, num = a S with a = g 2^(L + M − c), of exponents L of queries and a state in units 2^M.
struct StateReadoutInUnit : Term {
  explicit StateReadoutInUnit(bool wide) : wide(wide) {}

  StringRef name() const override { return "state_readout"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : operand == 1 ? Representation::Scaled : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = operandOf(site, wide);
    kernel::LogFeatures q = logFeatures(operands[0], site);                                           // [T, m]
    SmallVector<Value, 3> state = operands[1]->tiles(site);                                           // M, z [m], S [m, dv]
    Value c = operands[2]->tile(site);                                                                // [T]
    SmallVector<int64_t> shape(tiles.shape(q.exponents));
    Value total = tiles.plus(q.exponents, tiles.expand(state[0], 0, shape));
    Value a = q.at(tiles, tiles.minus(total, tiles.expand(c, 1, shape)));                             // [T, m]
    Value none = tiles.constant({shape[0], tiles.shape(state[2])[1]}, 0);
    Value numerator = tiles.dot(tiles.cast(a, type), tiles.cast(state[2], type), none);               // [T, dv]
    return {c, tiles.reduceAdd(tiles.times(a, tiles.expand(state[1], 0, shape)), 1), numerator};
  }

  bool wide;
};

/// S / z of each feature, 0 where z = 0.
struct StateMean : Term {
  StringRef name() const override { return "state_mean"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                           // M, z [m], S [m, dv]
    SmallVector<int64_t> shape(tiles.shape(state[1]));
    Value inverse = tiles.over(tiles.constant(shape, 1), state[1]);
    inverse = tiles.selectEqual(state[1], 0, tiles.constant(shape, 0), inverse);
    return {tiles.times(state[2], tiles.expand(inverse, 1, tiles.shape(state[2])))};
  }
};

struct LogSums : Term {
  StringRef name() const override { return "log_sums"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                           // M, z [m], S [m, dv]
    Value sum = tiles.plus(state[0], tiles.log2(state[1]));
    return {tiles.selectEqual(state[1], 0, tiles.constant(tiles.shape(sum), INFINITY), sum)};
  }
};

/// num = a x, den = a 1.
struct WeightedMean : Term {
  StringRef name() const override { return "weighted_mean"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value a = operands[0]->tile(site), x = operands[1]->tile(site);                                   // [T, m], [m, dv]
    Value none = tiles.constant({tiles.shape(a)[0], tiles.shape(x)[1]}, 0);
    return {tiles.dot(a, x, none), tiles.reduceAdd(a, 1)};
  }
};
} // namespace

terms::TermPtr terms::stateReadout(bool wide, bool divides) { return std::make_unique<StateReadout>(wide, divides); }
terms::TermPtr terms::stateReadoutInUnit(bool wide) { return std::make_unique<StateReadoutInUnit>(wide); }
terms::TermPtr terms::logSums() { return std::make_unique<LogSums>(); }
terms::TermPtr terms::stateMean() { return std::make_unique<StateMean>(); }
terms::TermPtr terms::weightedMean() { return std::make_unique<WeightedMean>(); }
