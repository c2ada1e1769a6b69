//===- LogContract.cpp - Causal products of exponents -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

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
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [T, m] twice
    Value maximum = operands[2]->tile(site), least = operands[3]->tile(site);                       // [m], [T]
    Value scale = tiles.maximum(least, kernel::unitOfPairs(tiles, q, k, maximum, bands));           // [T]
    return {scale, kernel::weightsOfPairs(tiles, q, k, maximum, scale, bands)};
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
    kernel::LogFeatures q = logFeatures(operands[0], site);                                         // [T, m]
    Value b = operands[1]->tile(site), unit = operands[2]->tile(site), c = operands[3]->tile(site); // [T, m], [m], [T]
    SmallVector<int64_t> shape(tiles.shape(q.exponents)), pairs{shape[0], shape[0]};
    Value total = tiles.plus(q.exponents, tiles.expand(unit, 0, shape));
    Value a = q.at(tiles, tiles.minus(total, tiles.expand(c, 1, shape)));                           // [T, m]
    Value w = tiles.dot(a, b, tiles.constant(pairs, 0), false, true);                               // [T, T]
    return {c, tiles.mask(w, 0, Value(), Value(), tiles.index(0))};
  }
};
} // namespace

terms::TermPtr terms::logContract(int64_t bands) { return std::make_unique<LogContract>(bands); }
terms::TermPtr terms::logPlainContract() { return std::make_unique<LogPlainContract>(); }
