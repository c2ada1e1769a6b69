//===- Compose.cpp - States that others have summed up ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogPairs.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Compose : StreamedTerm {
  Compose(Representation representation, SmallVector<SmallVector<int64_t>> shapes, bool squares, std::optional<tile::Transition> transition)
      : representation(representation), shapes(std::move(shapes)), squares(squares), transition(transition) {}

  StringRef name() const override { return "compose"; }
  bool isOfStates() const override { return true; }
  std::optional<Representation> takes(unsigned) const override { return representation; }
  Representation gives() const override { return representation; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    if (squares)
      return tile::RescaledSumAttr::get(context, 2, tile::Unit::Scalar);
    if (representation == Representation::Scaled)
      return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
    if (transition)
      return tile::AffineAttr::get(context, *transition);
    return tile::SumAttr::get(context);
  }
  std::optional<double> leastUnit() const override {
    return representation == Representation::Scaled && !squares ? std::optional(kernel::noLogarithm) : std::nullopt;
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return shapes; }

  Representation representation;
  SmallVector<SmallVector<int64_t>> shapes;
  bool squares;
  std::optional<tile::Transition> transition;
};

struct Nothing : StreamedTerm {
  StringRef name() const override { return "nothing"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {}; }
};

/// The tiles of a state, or of a span, as they lie in memory.
struct WrittenState : Term {
  explicit WrittenState(Representation representation) : representation(representation) {}

  StringRef name() const override { return "written_state"; }
  Representation gives(Sources) const override { return representation; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> state;
    for (const Source &operand : operands)
      state.push_back(operand->tile(site));
    return state;
  }

  Representation representation;
};

/// Sums times 2^stateOffset, as chunks carry them.
struct WithOffset : Term {
  StringRef name() const override { return "with_offset"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);
    for (Value &sum : llvm::drop_begin(state))
      sum = tiles.times(sum, tiles.constant(tiles.shape(sum), std::exp2(kernel::stateOffset)));
    return state;
  }
};
} // namespace

terms::StreamedPtr terms::compose(Representation representation, SmallVector<SmallVector<int64_t>> shapes, bool squares,
                                  std::optional<tile::Transition> transition) {
  return std::make_unique<Compose>(representation, std::move(shapes), squares, transition);
}
terms::StreamedPtr terms::nothing() { return std::make_unique<Nothing>(); }
terms::TermPtr terms::writtenState(Representation representation) {
  return std::make_unique<WrittenState>(representation);
}
terms::TermPtr terms::withOffset() { return std::make_unique<WithOffset>(); }
