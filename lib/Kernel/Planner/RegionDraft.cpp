//===- RegionDraft.cpp - A region under construction ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionDraft.h"

#include "HostBuilder.h"
#include "MapRule.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static Source tilesOf(const Tiles &tiles) {
  bool all = tiles.which.size() == tiles.of && llvm::equal(tiles.which, llvm::seq<unsigned>(0, tiles.of));
  return all ? tiles.source : term(terms::select(tiles.which), {tiles.source});
}

Tiles kernel::tilesOfBlocks(ArrayRef<Source> blocks) {
  if (blocks.size() == 1)
    return {blocks.front()};
  unsigned count = blocks.size();
  return {term(terms::blocks(), SmallVector<Source>(blocks)), llvm::to_vector<2>(llvm::seq<unsigned>(0, count)), count};
}

Tiles RegionDraft::make(Value value, const Place &at) {
  Operation *op = value.getDefiningOp();
  if (auto bound = defined.find(op); bound != defined.end())
    return {bound->second.first, {cast<OpResult>(value).getResultNumber()}, bound->second.second};
  if (auto bound = ofResults.find(op); bound != ofResults.end())
    return bound->second[cast<OpResult>(value).getResultNumber()];
  if (std::optional<Tiles> sum = host.sumOfParts(value, *this, at))
    return *sum;
  const TermRule *rule = op ? ruleOf(op) : nullptr;
  if (const kernel::Tokens *tokens = host.placeOf(value); tokens) {
    if (at.slice) {
      Dimension columns = at.slice == Axis::Value ? plan.valueColumns() : plan.featureColumns(tokens->width);
      return {plan.tokens(*tokens, at.tokens, at.head, at.heads, columns)};
    }
    SmallVector<int64_t, 2> widths = featureWidths(value);
    if (widths.size() == 1)
      return {plan.tokens(*tokens, at.tokens, at.head, at.heads, std::nullopt)};
    SmallVector<Source> blocks;
    for (const Dimension &columns : blockColumns(widths))
      blocks.push_back(plan.tokens(*tokens, at.tokens, at.head, at.heads, columns));
    return tilesOfBlocks(blocks);
  }
  if (Value rows = host.memoryOf(value); rows && cast<RankedTensorType>(value.getType()).getRank() == 3) {
    Dimension head{at.head, at.heads / cast<MemRefType>(rows.getType()).getDimSize(1)};
    return {fusion::memory(rows, {entryOf(Axis::Batch), head, rowsOf(at.tokens)})};
  }
  assert(rule && rule->build && "what a region reads was prepared");
  return rule->build(cast<OpResult>(value), *this, at);
}

Tiles RegionDraft::tiles(Value value, const Place &at) {
  auto found = known.find(keyOf(value, at));
  if (found == known.end())
    found = known.emplace(keyOf(value, at), make(value, at)).first;
  return found->second;
}

Source RegionDraft::read(Value value, const Place &at) { return tilesOf(tiles(value, at)); }

Source RegionDraft::existing(Value value, const Place &at) {
  Source source = read(value, at);
  return source->isLoaded() || existingOnes.count(keyOf(value, at)) ? source : term(terms::existing(at.tokens), {source});
}

void RegionDraft::defineExisting(Value value, const Place &at) {
  Source source = existing(value, at);
  Tiles &tiles = known.at(keyOf(value, at));
  unsigned count = tiles.which.size();
  tiles = {source, llvm::to_vector<2>(llvm::seq<unsigned>(0, count)), count};
  existingOnes.insert(keyOf(value, at));
}

SmallVector<Source> RegionDraft::blocks(Value value, const Place &at) {
  Tiles all = tiles(value, at);
  return llvm::map_to_vector(all.which, [&](unsigned tile) { return all.of == 1 ? all.source : term(terms::select(tile), {all.source}); });
}

Source RegionDraft::readTogether(ValueRange values, const Place &at) {
  SmallVector<Tiles> parts = llvm::map_to_vector(values, [&](Value value) { return tiles(value, at); });
  size_t count = 0;
  for (const Tiles &part : parts)
    count += part.source == parts.front().source ? part.which.size() : parts.front().of + 1;
  if (count == parts.front().of)
    return parts.front().source;
  return term(terms::blocks(), llvm::map_to_vector(parts, tilesOf));
}

void RegionDraft::define(Operation *op, Source source, unsigned tiles) {
  defined[op] = {std::move(source), tiles};
  forget(op);
}

void RegionDraft::forget(Operation *op) {
  std::erase_if(known, [&](const auto &entry) {
    Operation *made = Value::getFromOpaquePointer(std::get<0>(entry.first)).getDefiningOp();
    return made && !made->isBeforeInBlock(op);
  });
}

int64_t RegionDraft::channelsOf(Value value) const {
  auto map = value.getDefiningOp<attn::MapOp>();
  const kernel::Tokens *features = map ? host.featuresOf(map) : nullptr;
  int64_t count = cast<RankedTensorType>(value.getType()).getDimSize(3);
  if (!plan.isSliced() || !features)
    return count;
  bool factors = host.groups().inUnits(map) && map.getFeatureMap().getKind() == attn::FeatureKind::Focused;
  return features->width / (factors ? 2 : 1);
}

Source RegionDraft::parameter(Value value, const Place &at) {
  Value memory = host.memoryOf(value);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  Source &source = parameters[{value.getAsOpaquePointer(), shape[0] > 1 ? at.head : Axis::Batch}];
  if (source)
    return source;
  SmallVector<Dimension> dimensions{shape[0] > 1 || shape.size() == 2 ? entryOf(at.head) : Dimension{}};
  for (int64_t size : shape.drop_front())
    dimensions.push_back(columnsOf(size));
  return source = fusion::memory(memory, dimensions);
}

Source RegionDraft::shifts(Value value, const Place &at) {
  Source &source = parameters[{value.getAsOpaquePointer(), at.head}];
  if (source)
    return source;
  Value memory = host.memoryOf(value);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  return source = fusion::memory(memory, {entryOf(Axis::Batch), {at.head, at.heads / shape[1]}, columnsOf(shape[2])});
}

Stage RegionDraft::keys(const SeenKeys &seen, bool dearSteps) const {
  auto extents = std::make_shared<Extents>(*plan.extents);
  Extent &key = (*extents)[Axis::Key];
  key = host.extentOf(seen.keys, seen.lengths);
  key.window = problem.window, key.shortLast = problem.shortLast;
  if (seen.causal)
    key.causal = Axis::Query;
  key.last = seen.last, (*extents)[Axis::Query].heads = seen.heads;
  Stage stage = plan.keys(dearSteps, /*dearMasks=*/seen.heads > 1);
  if (seen.last && stage.segments.size() == 2) { // the rows begin at different keys, too
    stage.segments.front().from = Border::Entered;
    stage.segments.insert(stage.segments.begin(), {"entering", Border::Begin, Border::Entered, /*masked=*/true});
  }
  stage.extents = extents;
  return stage;
}
