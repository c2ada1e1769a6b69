//===- EndedBlocks.cpp - Blocks of tokens that end before a query ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// w_ij where block j, of `length` tokens, ends at or before token i.
struct EndedBlocks : Term {
  explicit EndedBlocks(int64_t length) : length(length) {}

  StringRef name() const override { return "ended_blocks"; }
  void printParameters(raw_ostream &os) const override { os << " {length = " << length << '}'; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value w = operands[0]->tile(site);                                                                // [Tq, Tk]
    SmallVector<int64_t> shape(tiles.shape(w));
    // (j + 1) · length ≤ i: whole numbers, exact in f32.
    Value ends = tiles.plus(tiles.iota(site[Axis::Key].first, shape[1]), tiles.constant({shape[1]}, 1));
    ends = tiles.times(ends, tiles.constant({shape[1]}, static_cast<double>(length)));
    Value rows = tiles.iota(site[Axis::Query].first, shape[0]);
    Value ended = tiles.compare(arith::CmpFPredicate::OLE, tiles.expand(ends, 0, shape), tiles.expand(rows, 1, shape));
    return {tiles.select(ended, w, tiles.constant(shape, zeroOf(operands[0]->gives())))};
  }

  int64_t length;
};
} // namespace

terms::TermPtr terms::endedBlocks(int64_t length) { return std::make_unique<EndedBlocks>(length); }
