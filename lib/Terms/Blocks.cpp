//===- Blocks.cpp - Tiles side by side -------------------------------------===//
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
struct Blocks : Term {
  StringRef name() const override { return "blocks"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> all;
    for (const Source &operand : operands)
      llvm::append_range(all, operand->read(site).tiles);
    return all;
  }
};

/// A unit and tiles in it.
struct InUnits : Blocks {
  StringRef name() const override { return "in_units"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Plain; }
  Representation gives(Sources) const override { return Representation::Scaled; }
};

struct Select : Term {
  explicit Select(ArrayRef<unsigned> which) : which(which) {}

  StringRef name() const override { return "select"; }
  void printParameters(raw_ostream &os) const override { llvm::interleaveComma(which, os << " {tiles = ["), os << "]}"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> all = operands[0]->read(site).tiles;
    return llvm::map_to_vector<3>(which, [&](unsigned tile) { return all[tile]; });
  }

  SmallVector<unsigned, 2> which;
};

/// The tiles of a state in units, for terms that are given the units, too.
struct InTheirUnits : Select {
  using Select::Select;

  StringRef name() const override { return "in_their_units"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  Representation gives(Sources) const override { return Representation::Plain; }
};
} // namespace

terms::TermPtr terms::blocks() { return std::make_unique<Blocks>(); }
terms::TermPtr terms::inUnits() { return std::make_unique<InUnits>(); }
terms::TermPtr terms::inTheirUnits(ArrayRef<unsigned> which) { return std::make_unique<InTheirUnits>(which); }
terms::TermPtr terms::select(ArrayRef<unsigned> which) { return std::make_unique<Select>(which); }
