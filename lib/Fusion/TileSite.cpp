//===- TileSite.cpp - Where a tile is built -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileSite.h"

#include "BlockTiles.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static unsigned numberOf(Axis axis) { return static_cast<unsigned>(axis); }

StringRef fusion::nameOf(Axis axis) {
  constexpr StringLiteral names[] = {"batch", "head", "shared_head", "query", "key", "model", "part", "piece", "block", "slice",
                                     "feature", "value"};
  return names[numberOf(axis)];
}

StringRef fusion::nameOf(Representation representation) {
  constexpr StringLiteral names[] = {"plain", "log", "scaled"};
  return names[static_cast<unsigned>(representation)];
}

double fusion::zeroOf(Representation representation) { return representation == Representation::Log ? -INFINITY : 0; }

AxisSet fusion::setOf(ArrayRef<Axis> axes) {
  AxisSet set;
  for (Axis axis : axes)
    set.set(numberOf(axis));
  return set;
}

const SiteValue *Scope::find(Key key) const {
  for (const auto &[known, value] : built)
    if (Key(known) == key)
      return &value;
  return nullptr;
}

const SiteValue &Scope::keep(Key key, SiteValue value) {
  return built.emplace_back(SmallVector<const void *, 16>(key), std::move(value)).second;
}

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

TileSite TileSite::with(Axis axis, AxisRange range) const {
  TileSite site = *this;
  site.ranges[numberOf(axis)] = range;
  site.placed[numberOf(axis)] = scope;
  return site;
}

TileSite TileSite::step(Scope &inner, Axis axis, AxisRange range, Mask mask) const {
  TileSite site = *this;
  site.scope = &inner;
  site.pairs = mask;
  return site.with(axis, range);
}

TileSite TileSite::in(Scope &inner) const {
  TileSite site = *this;
  site.scope = &inner;
  return site;
}

/// The index is built where the entry of the other axis is.
TileSite TileSite::member(Axis axis, Axis of, int64_t count, int64_t number) const {
  TileBuilder &at = placed[numberOf(of)]->tiles;
  TileSite site = *this;
  site.ranges[numberOf(axis)].first = at.add(at.mul((*this)[of].first, count), at.index(number));
  site.placed[numberOf(axis)] = placed[numberOf(of)];
  return site;
}

//===----------------------------------------------------------------------===//
// Once
//===----------------------------------------------------------------------===//

/// The innermost scope that has brought a range of these axes, or a condition within it.
Scope &TileSite::scopeOf(AxisSet axes) const {
  unsigned depth = 0;
  for (unsigned axis = 0; axis < axisCount; ++axis) {
    assert((!axes[axis] || placed[axis]) && "a source is read where all axes that it depends on have a range");
    if (axes[axis])
      depth = std::max(depth, placed[axis]->depth);
  }
  Scope *result = scope;
  for (Scope *at = scope; at->depth > depth; at = at->outer)
    result = at->conditional ? at : at->outer;
  return *result;
}

SmallVector<const void *, 32> TileSite::keyOf(const void *source, const void *variant, AxisSet axes) const {
  SmallVector<const void *, 32> key{source, variant};
  for (unsigned axis = 0; axis < axisCount; ++axis) {
    if (!axes[axis])
      continue;
    const AxisRange &range = ranges[axis];
    key.push_back(reinterpret_cast<const void *>(range.count));
    for (Value value : {range.first, range.limit, range.lower, range.view.origin})
      key.push_back(value ? value.getAsOpaquePointer() : nullptr);
  }
  return key;
}

const SiteValue &TileSite::once(const void *source, const void *variant, AxisSet axes,
                                function_ref<SiteValue(const TileSite &site)> build) const {
  SmallVector<const void *, 32> key = keyOf(source, variant, axes);
  for (Scope *at = scope; at; at = at->outer)
    if (const SiteValue *known = at->find(key))
      return *known;
  TileSite site = *this;
  site.scope = &scopeOf(axes);
  return site.scope->keep(key, build(site));
}

void TileSite::bind(const void *source, AxisSet axes, SiteValue value) const {
  scope->keep(keyOf(source, nullptr, axes), std::move(value));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Built where the range of its axis is, since all that is read there shares it.
Value TileSite::index(const Dimension &dimension) const {
  if (dimension.at)
    return dimension.at.at(*this);
  if (!dimension.axis)
    return tiles().index(dimension.add);
  TileBuilder &at = placed[numberOf(*dimension.axis)]->tiles;
  const AxisRange &range = (*this)[*dimension.axis];
  if (dimension.position != Position::First) {
    Value end = range.first;
    if (dimension.position == Position::Last)
      end = at.min(at.add(range.first, at.index(range.count)), range.limit);
    return at.max(at.sub(end, at.index(1)), at.index(0));
  }
  Value result = dimension.block && range.number
                     ? range.number
                     : kernel::BlockTiles{dimension.block, dimension.divide}.number(at, range.first);
  if (dimension.modulo)
    result = at.sub(result, at.mul(at.div(result, dimension.modulo), dimension.modulo));
  if (dimension.add)
    result = at.add(result, at.index(dimension.add));
  return dimension.scale == 1 ? result : at.mul(result, dimension.scale);
}

/// Bounds are those of the first dimension of the tile.
kernel::RowPlace TileSite::place(ArrayRef<Dimension> dimensions, SmallVectorImpl<Value> &indices) const {
  kernel::RowPlace rows{};
  bool first = true;
  for (const Dimension &dimension : dimensions) {
    bool inTile = dimension.rows || dimension.count;
    if (inTile && first && dimension.rows) {
      const AxisRange &range = (*this)[*dimension.axis];
      Value from = dimension.fromRange ? tiles().index(0) : range.first, limit = range.limit;
      if (dimension.fromRange && limit)
        limit = tiles().sub(limit, range.first);
      rows = kernel::placeOf(tiles(), range.view, from, range.lower, limit);
      indices.push_back(rows.index);
    } else {
      indices.push_back(index(dimension));
    }
    if (inTile && first && dimension.limit)
      rows.rows.limit = dimension.limit.at(*this);
    first &= !inTile;
  }
  return rows;
}

/// Whether a memory of numbers has a last dimension of size 1, which is none of theirs: rows of windows are folded in tiles of rank 2 alone.
static bool areColumns(Value memory, size_t count) {
  ArrayRef<int64_t> sizes = kernel::sizesOf(memory);
  return sizes.size() == count + 1 && sizes.back() == 1;
}

Value TileSite::load(Value hostMemory, ArrayRef<Dimension> dimensions) const {
  SmallVector<Value> indices;
  kernel::RowPlace rows = place(dimensions, indices);
  SmallVector<int64_t> shape;
  for (const Dimension &dimension : dimensions)
    if (dimension.rows)
      shape.push_back((*this)[*dimension.axis].count);
    else if (dimension.count)
      shape.push_back(dimension.count);
  Value memory = argument(hostMemory);
  if (!areColumns(memory, dimensions.size()))
    return tiles().load(memory, indices, shape, rows.rows);
  indices.push_back(tiles().index(0)), shape.push_back(1);
  return tiles().reduceAdd(tiles().load(memory, indices, shape, rows.rows), 1);
}

/// A memory of more dimensions than are asked for, with the last ones as one.
static Value withDimensions(TileBuilder &tiles, Value memory, size_t count) {
  size_t rank = kernel::sizesOf(memory).size();
  if (rank == count)
    return memory;
  SmallVector<ReassociationIndices> groups(count);
  for (size_t dimension = 0; dimension < rank; ++dimension)
    groups[std::min(dimension, count - 1)].push_back(static_cast<int64_t>(dimension));
  return memref::CollapseShapeOp::create(tiles.builder, tiles.loc, memory, groups);
}

void TileSite::store(Value tile, Value hostMemory, ArrayRef<Dimension> dimensions, std::optional<Axis> onlyFirst) const {
  SmallVector<Value> indices;
  kernel::RowPlace rows = place(dimensions, indices);
  if (onlyFirst) { // else no row is below the limit
    const Dimension *first = llvm::find_if(dimensions, [](const Dimension &dimension) { return dimension.rows || dimension.count; });
    Value limit = rows.rows.limit ? rows.rows.limit : tiles().dim(argument(hostMemory), first - dimensions.begin());
    Value isOther = tiles().min((*this)[*onlyFirst].first, tiles().index(1));
    rows.rows.limit = tiles().sub(limit, kernel::multiply(tiles(), isOther, limit));
  }
  if (Value memory = argument(hostMemory); areColumns(memory, dimensions.size())) {
    indices.push_back(tiles().index(0));
    return tiles().store(tiles().expand(tile, 1, {tiles().shape(tile)[0], 1}), memory, indices, rows.rows);
  }
  tiles().store(tile, withDimensions(tiles(), argument(hostMemory), dimensions.size()), indices, rows.rows);
}
