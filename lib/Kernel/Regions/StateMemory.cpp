//===- StateMemory.cpp - Where the state of keys lies in memory -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StateMemory.h"

#include "RegionPlanner.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

StateMemory StateMemory::allocate(BuildSite &site, Parts parts, Value batch, int64_t heads, ArrayRef<int64_t> features,
                                  int64_t width, Value pieces) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> shape{dynamic, heads};
  SmallVector<Value> sizes{batch};
  if (pieces)
    shape.push_back(dynamic), sizes.push_back(pieces);
  int64_t all = 0;
  for (int64_t count : features)
    all += count;
  shape.push_back(all);
  auto each = [&](bool has) { return has ? site.workspace(shape, sizes) : Value(); };
  StateMemory result{Value(), each(parts.sums), each(parts.units), {}, width};
  shape.push_back(width);
  result.matrix = site.workspace(shape, sizes);
  shape.back() = parts.transition == tile::Transition::Matrix ? all : 1;
  result.transition = each(parts.transition.has_value());
  result.features.assign(features.begin(), features.end());
  return result;
}

SmallVector<StateMemory::Tile> StateMemory::tiles() const {
  if (unit)
    return {{unit, 0, features[0], false}, {sum, 0, features[0], false}, {matrix, 0, features[0], true}};
  SmallVector<Tile> result;
  int64_t feature = 0;
  for (int64_t count : features) {
    result.push_back({matrix, feature, count, true});
    if (sum)
      result.push_back({sum, feature, count, false});
    feature += count;
  }
  return result;
}

SmallVector<SmallVector<int64_t>> StateMemory::shapes() const {
  return llvm::map_to_vector(tiles(), [&](const Tile &tile) {
    return tile.isMatrix ? SmallVector<int64_t>{tile.count, valueTile && !featureTile ? valueTile : width} : SmallVector<int64_t>{tile.count};
  });
}

/// Behind the last of `count` rows of a tensor, or before the first where there is none, or nothing is to be done `unless` that is 0;
/// null: there are all.
static Index limitOf(Value memory, int64_t count, Index unless) {
  Index there = isa<BlockArgument>(memory) ? min(Index::size(memory, 0), 1) * count : Index();
  if (!unless)
    return there;
  return (there ? there : Index(count)) * (1 - min(unless, 1));
}

SmallVector<Dimension, 4> StateMemory::placeOf(const Tile &tile, ArrayRef<Dimension> at, Index unless) const {
  SmallVector<Dimension, 4> place(at);
  if (featureTile) {
    place.push_back({Axis::Feature, 1, 0, 1, featureTile});
    if (tile.isMatrix)
      place.push_back({Axis::Value, 1, 0, 1, valueTile});
    return place;
  }
  place.push_back(columnsOf(tile.count));
  place.back().add = tile.feature, place.back().limit = limitOf(tile.memory, tile.feature + tile.count, std::move(unless));
  if (tile.isMatrix)
    place.push_back(valueTile ? Dimension{Axis::Value, 1, 0, 1, valueTile} : columnsOf(width));
  return place;
}

SmallVector<Dimension, 4> StateMemory::transitionAt(ArrayRef<Dimension> at) const {
  SmallVector<Dimension, 4> place(at);
  place.append({columnsOf(features[0]), columnsOf(cast<MemRefType>(transition.getType()).getShape().back())});
  return place;
}

std::optional<tile::Transition> StateMemory::transitionKind() const {
  if (!transition)
    return std::nullopt;
  int64_t columns = cast<MemRefType>(transition.getType()).getShape().back();
  return columns == 1 ? tile::Transition::Vector : tile::Transition::Matrix;
}

Source StateMemory::read(ArrayRef<Dimension> at) const {
  SmallVector<Source> loads;
  if (transition)
    loads.push_back(fusion::memory(transition, transitionAt(at)));
  for (const Tile &tile : tiles())
    loads.push_back(fusion::memory(tile.memory, placeOf(tile, at)));
  return term(terms::writtenState(representation()), loads);
}

SmallVector<RegionOutput, 2> StateMemory::write(Source state, ArrayRef<Dimension> at, Source left) const {
  SmallVector<RegionOutput, 2> outputs;
  if (left)
    outputs.push_back({left, transition, transitionAt(at)});
  for (auto [number, tile] : llvm::enumerate(tiles()))
    outputs.push_back({state, tile.memory, placeOf(tile, at, unless), static_cast<unsigned>(number),
                       valueTile && !tile.isMatrix ? std::optional(Axis::Value) : std::nullopt});
  return outputs;
}
