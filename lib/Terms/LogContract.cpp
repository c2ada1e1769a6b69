//===- LogContract.cpp - Causal products of exponents -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogPairs.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// contract<log, log> → scaled<row>: c and w with w_ij 2^c_i = Σ_f 2^(Lq_if + Lk_jf) for j ≤ i, in bands.
struct LogContract : Term {
  explicit LogContract(int64_t bands) : bands(bands) {}

  StringRef name() const override { return "contract"; }
  void printParameters(raw_ostream &os) const override { os << " {causal, bands = " << bands << '}'; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 2 ? Representation::Log : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Value q = operands[0]->tile(site), k = operands[1]->tile(site);                                 // [T, m] twice
    Value maximum = operands[2]->tile(site), least = operands[3]->tile(site);                       // [m], [T]
    kernel::LogPairs pairs = kernel::logPairs(site.tiles(), {q, Value()}, {k, Value()}, maximum, least, bands);
    return {pairs.scale, pairs.weights};
  }

  int64_t bands;
};

/// contract<log, plain> → scaled<row>: the same of features 2^(Lk − M), by one product.
struct LogPlainContract : Term {
  StringRef name() const override { return "contract"; }
  void printParameters(raw_ostream &os) const override { os << " {causal}"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0   ? Representation::Log
           : operand == 2 ? Representation::Scaled
                          : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value q = operands[0]->tile(site), b = operands[1]->tile(site);                                 // [T, m] twice
    Value unit = operands[2]->tile(site), c = operands[3]->tile(site);                              // [m], [T]
    SmallVector<int64_t> shape(tiles.shape(q)), pairs{shape[0], shape[0]};
    Value total = tiles.plus(q, tiles.expand(unit, 0, shape));
    Value a = tiles.exp2(tiles.minus(total, tiles.expand(c, 1, shape)));                            // [T, m]
    Value w = tiles.dot(a, b, tiles.constant(pairs, 0), false, true);                               // [T, T]
    return {c, tiles.mask(w, 0, Value(), Value(), tiles.index(0))};
  }
};
} // namespace

terms::TermPtr terms::logContract(int64_t bands) { return std::make_unique<LogContract>(bands); }
terms::TermPtr terms::logPlainContract() { return std::make_unique<LogPlainContract>(); }
