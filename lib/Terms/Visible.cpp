//===- Visible.cpp - Which queries see which keys -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Visible : Term {
  StringRef name() const override { return "visible"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Value w = operands[0]->tile(site);                                                              // [Tq, Tk]
    if (!site.mask())
      return {w};
    kernel::VisibleKeys keys{site.mask().limit, Value(), Value(), site.mask().diagonal};
    keys.lastOnly = site.mask().last, keys.heads = site.mask().heads;
    return {kernel::maskKeys(site.tiles(), keys, w, site[Axis::Key].first, zeroOf(operands[0]->gives()))};
  }
};
} // namespace

terms::TermPtr terms::visible() { return std::make_unique<Visible>(); }
