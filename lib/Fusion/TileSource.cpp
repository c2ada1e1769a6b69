//===- TileSource.cpp - What a term reads -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileSource.h"

#include "RegionPrinter.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

SiteValue TileSource::read(const TileSite &site) const {
  return site.once(this, nullptr, dependsOn, [&](const TileSite &at) { return build(at); });
}

Value TileSource::tile(const TileSite &site, Type element) const {
  return tiles(site, element).front();
}

SmallVector<Value, 3> TileSource::tiles(const TileSite &site, Type element) const {
  SmallVector<Value, 3> whole = read(site).tiles;
  if (!element || llvm::all_of(whole, [&](Value tile) { return site.tiles().element(tile) == element; }))
    return whole;
  auto cast = [&](const TileSite &at) {
    SiteValue value;
    for (Value tile : whole)
      value.tiles.push_back(at.tiles().cast(tile, element));
    return value;
  };
  return site.once(this, element.getAsOpaquePointer(), dependsOn, cast).tiles;
}

void fusion::appendArguments(const TileSource &root, SmallVectorImpl<Value> &values) {
  for (const Source &operand : root.operands())
    appendArguments(*operand, values);
  SmallVector<Value> own;
  root.appendArguments(own);
  for (Value value : own)
    if (value && !llvm::is_contained(values, value))
      values.push_back(value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static AxisSet axesOf(ArrayRef<Dimension> dimensions) {
  AxisSet axes;
  for (const Dimension &dimension : dimensions) {
    if (dimension.axis)
      axes |= setOf(*dimension.axis);
    axes |= dimension.at.axes() | dimension.limit.axes();
  }
  return axes;
}

namespace {
class MemorySource : public TileSource {
public:
  MemorySource(Value hostMemory, ArrayRef<Dimension> dimensions, AxisSet writtenIn)
      : TileSource(axesOf(dimensions) | writtenIn, Representation::Plain), hostMemory(hostMemory), dimensions(dimensions) {}

  bool isLoaded() const override { return true; }
  void appendArguments(SmallVectorImpl<Value> &values) const override {
    values.push_back(hostMemory);
    for (const Dimension &dimension : dimensions) {
      dimension.at.appendArguments(values);
      dimension.limit.appendArguments(values);
    }
  }
  void print(RegionPrinter &printer) const override {
    printer.line(*this) << "load " << printer.show(hostMemory, dimensions) << '\n';
  }

private:
  SiteValue build(const TileSite &site) const override { return {{site.load(hostMemory, dimensions)}}; }

  Value hostMemory;
  SmallVector<Dimension, 4> dimensions;
};

class NumberSource : public TileSource {
public:
  explicit NumberSource(Index index) : TileSource(index.axes(), Representation::Plain), index(std::move(index)) {}

  void appendArguments(SmallVectorImpl<Value> &values) const override { index.appendArguments(values); }
  void print(RegionPrinter &printer) const override { printer.line(*this) << "number " << printer.show(index) << '\n'; }

private:
  SiteValue build(const TileSite &site) const override { return {{site.tiles().iota(index.at(site), 1)}}; }

  Index index;
};
} // namespace

void BoundSource::print(RegionPrinter &printer) const { printer.line(*this) << label << '\n'; }

SiteValue BoundSource::build(const TileSite &) const {
  llvm_unreachable("a bound source is read in the steps of its stage");
}

Source fusion::memory(Value hostMemory, ArrayRef<Dimension> dimensions, AxisSet writtenIn) {
  return std::make_shared<MemorySource>(hostMemory, dimensions, writtenIn);
}

Source fusion::number(Index index) { return std::make_shared<NumberSource>(std::move(index)); }
