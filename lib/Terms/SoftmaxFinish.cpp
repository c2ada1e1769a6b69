//===- SoftmaxFinish.cpp - What becomes of the sums of softmax ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct SoftmaxFinish : Term {
  StringRef name() const override { return "softmax_finish"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SiteValue state = operands[0]->read(site); // m, l, acc
    auto none = attn::DenominatorAttr::get(site.schedule().getContext(), 0.0, 0.0);
    return {kernel::normalize(site.tiles(), none, state.tiles[2], state.tiles[1])};
  }
};

struct LogSumExp : Term {
  StringRef name() const override { return "log_sum_exp"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SiteValue state = operands[0]->read(site); // m, l, acc
    Value l = state.tiles[1];
    SmallVector<int64_t> rows(tiles.shape(l));
    Value lse = tiles.times(tiles.plus(state.tiles[0], tiles.log2(l)), tiles.constant(rows, M_LN2));
    return {tiles.selectEqual(l, 0, tiles.constant(rows, -INFINITY), lse)};
  }
};
} // namespace

terms::TermPtr terms::softmaxFinish() { return std::make_unique<SoftmaxFinish>(); }
terms::TermPtr terms::logSumExp() { return std::make_unique<LogSumExp>(); }
