//===- AlignedBlocks.cpp - Blocks of tokens that began in a run before -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AlignedBlocks.h"

#include "KeyStage.h"
#include "Terms.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static constexpr int64_t dynamic = ShapedType::kDynamic;

static Index countOf(const Tokens &tokens) {
  return Index::size(tokens.memory, cast<MemRefType>(tokens.memory.getType()).getRank() - 2);
}

AlignedBlocks::AlignedBlocks(BuildSite &site, const Problem &problem, tile::ScheduleAttr rows, const PolysketchOptions &options)
    : given(problem), whole(problem), block(*options.localExact), options(options) {
  given.schedule = rows;
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(problem.query.memory, 0), count = tokenCount(host, problem.query.memory);
  if (options.position) // so many rows may be held
    count = host.add(count, host.index(block - 1));
  count = host.mul(host.ceilDiv(count, block), block);
  auto rowsOf = [&](int64_t heads, int64_t width) { return site.workspace({dynamic, heads, dynamic, width}, {batch, count}); };
  auto tokens = [&](const Tokens &of, int64_t heads) { return Tokens{rowsOf(heads, of.width), 0, heads, of.width, {}}; };
  whole.query = tokens(problem.query, problem.heads()), whole.key = tokens(problem.key, problem.key.heads);
  whole.value = tokens(problem.value, problem.value.heads);
  whole.output = Output{rowsOf(problem.heads(), problem.valueWidth()), 0, std::nullopt};
  auto numbers = [&] { return site.workspace({dynamic}, batch, site.host.getI32Type()); };
  whole.lengths = numbers(), full_ = numbers();
  keys = problem.lengths ? Index::length(problem.lengths, countOf(given.key)) : countOf(given.key);
  before = Index(0);
  if (options.position)
    position = numbers(), held = numbers(), before = Index::length(held, block - 1);
  behind = before + countOf(given.query);
  end = Index::length(whole.lengths, countOf(whole.key)), full = Index::length(full_, countOf(whole.key));
}

KernelRegion AlignedBlocks::ofEntries(StringRef suffix) const {
  KernelRegion region = stateKernel(RegionPlanner(given, RegionPlanner::OfKeys), suffix);
  region.grid.pop_back();
  return region;
}

KernelRegion AlignedBlocks::ofRows(StringRef suffix, const Problem &of, Value memory, int64_t heads, int64_t count) const {
  auto extents = std::make_shared<Extents>();
  (*extents)[Axis::Batch] = {of.query.memory, 0}, (*extents)[Axis::Head].count = heads;
  (*extents)[Axis::Query] = {memory, 2, count};
  return {given.name, suffix.str(), given.schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head},
          {Axis::Query, tile::Axis::QueryBlock, given.schedule.getQueryTile()}}, extents, {}};
}

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

/// The rows of the run behind those that are held.
RegionOutput AlignedBlocks::laid(const Tokens &tokens, Value held, const Tokens &to, int64_t heads, Index count) const {
  RegionPlanner plan(given);
  SmallVector<Source> operands{plan.tokens(tokens, Axis::Query, Axis::Head, heads)};
  if (held) {
    Dimension rows = rowsOf(Axis::Query);
    rows.limit = min(Index::size(held, 0), 1) * before;
    operands.push_back(memory(held, {entryOf(Axis::Batch), entryOf(Axis::Head), rows, columnsOf(to.width)}));
  }
  return {term(terms::behind(before, std::move(count)), operands), to.memory,
          {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), columnsOf(to.width)}};
}

void AlignedBlocks::appendBefore(std::vector<KernelRegion> &regions) const {
  SmallVector<Dimension, 4> entry{{Axis::Batch, 1, 0, 1, 1}};
  Index first(0);
  if (position) { // a memory that is not there is read as zeros by tiles alone
    regions.push_back(ofEntries("position"));
    regions.back().outputs = {{term(terms::advanced(0), {beginOf(options.position)}), position, entry}};
    Index place = Index::length(position, std::numeric_limits<int32_t>::max());
    first = place - place / block * block;
  }
  KernelRegion places = ofEntries("places");
  Index last = first + keys;
  if (held)
    places.outputs.push_back({term(terms::advanced(first), {}), held, entry});
  places.outputs.push_back({term(terms::advanced(last), {}), whole.lengths, entry});
  places.outputs.push_back({term(terms::advanced(last / block * block), {}), full_, entry});
  regions.push_back(places);
  KernelRegion queries = ofRows("queries", whole, whole.query.memory, whole.heads());
  queries.outputs = {laid(given.query, Value(), whole.query, whole.heads(), countOf(given.query))};
  regions.push_back(queries);
  KernelRegion ofKeys = ofRows("keys", whole, whole.key.memory, whole.key.heads);
  ofKeys.outputs = {laid(given.key, options.initial.key, whole.key, whole.key.heads, keys),
                    laid(given.value, options.initial.value, whole.value, whole.value.heads, keys)};
  regions.push_back(ofKeys);
}

//===----------------------------------------------------------------------===//
// Behind
//===----------------------------------------------------------------------===//

KernelRegion AlignedBlocks::outputs() const {
  KernelRegion region = ofRows("outputs", given, given.output.memory, whole.heads());
  Dimension rows = columnsOf(given.schedule.getQueryTile());
  rows.at = Index::first(Axis::Query) + before, rows.limit = countOf(whole.query);
  int64_t width = given.valueWidth();
  Source o = memory(whole.output.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rows, columnsOf(width)});
  region.outputs = {RegionPlanner(given).output(o, given.output, width)};
  return region;
}

/// The rows behind the last full block, then rows of 0.
RegionOutput AlignedBlocks::heldOf(const Tokens &tokens, Value to) const {
  Dimension from = columnsOf(given.schedule.getQueryTile()), rows = rowsOf(Axis::Query), columns = columnsOf(tokens.width);
  from.at = full + Index::first(Axis::Query), from.limit = end;
  rows.limit = min(Index::size(to, 0), 1) * block;
  return {memory(tokens.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), from, columns}), to,
          {entryOf(Axis::Batch), entryOf(Axis::Head), rows, columns}};
}

void AlignedBlocks::appendBehind(std::vector<KernelRegion> &regions) const {
  regions.push_back(outputs());
  KernelRegion left = ofRows("held", whole, Value(), whole.key.heads, block);
  if (options.left.key)
    left.outputs.push_back(heldOf(whole.key, options.left.key));
  if (options.left.value)
    left.outputs.push_back(heldOf(whole.value, options.left.value));
  if (!left.outputs.empty())
    regions.push_back(left);
}
