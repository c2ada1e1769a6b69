//===- RegionOfProblem.cpp - Regions of attention, by hand --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionOfProblem.h"

#include "Regions/RegionPlanner.h"
#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using kernel::Problem;
using kernel::RegionPlanner;

/// A stage over chunks of queries and keys, and the region around it.
static Stage chunks(const RegionPlanner &plan) {
  const Problem &problem = plan.problem;
  Stage stage{Axis::Query, problem.keyTile(), {{"chunks", Border::Begin, Border::End, false}}, plan.extents};
  stage.together = Axis::Key;
  if (problem.grouped)
    stage.group = Group{Axis::Head, Axis::SharedHead, problem.heads() / problem.sharedHeads()};
  return stage;
}
static KernelRegion chunked(const RegionPlanner &plan, Source stage) {
  const Problem &problem = plan.problem;
  GridAxis batch{Axis::Batch, tile::Axis::Batch};
  GridAxis head{problem.grouped ? Axis::SharedHead : Axis::Head, tile::Axis::Head};
  return {problem.name, "chunked", problem.schedule, {batch, head}, plan.extents, {}, {std::move(stage)}};
}

static KernelRegion featureChunks(const Problem &problem, attn::DenominatorAttr guard) {
  RegionPlanner plan(problem);
  Axis keyHead = problem.grouped ? Axis::SharedHead : Axis::Head;
  int64_t heads = problem.grouped ? problem.sharedHeads() : problem.heads();
  bool wide = kernel::needsWideProducts(problem);
  Source a = term(terms::elu1(), {plan.tokens(problem.query, Axis::Query)});
  Source k = term(terms::elu1(), {plan.tokens(problem.key, Axis::Key, keyHead, heads)});
  Source b = term(terms::existing(Axis::Key), {k}), v = plan.tokens(problem.value, Axis::Key, keyHead, heads);
  Source w = term(terms::lowerTriangle(), {term(terms::logits(Representation::Plain, 1, wide), {a, b})});
  Stage stage = chunks(plan);
  stage.state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source read = term(terms::readout(wide), {a, stage.state, w, v});
  Source o = plan.withLepe(term(terms::normalize(guard), {read}));
  auto state = terms::featureSums(problem.width(), problem.valueWidth(), wide);
  return chunked(plan, stream(stage, {std::move(state), {b, v}, {plan.output(o)}}));
}

namespace {
/// The sources of a chunk of causal attention with exponential features.
struct LogChunk {
  Source query, key, value;                           // exponents [T, m] twice, v [T, dv]
  std::shared_ptr<const BoundSource> state, unit;     // (M, z, S), M'
  attn::DenominatorAttr guard;
  int64_t features, width, bands;

  StepForm form(const RegionPlanner &plan, Source features, Source pairs, bool offset) const {
    Source read = term(terms::causalReadout(offset), {query, state, pairs, value});
    Source o = plan.withLepe(term(terms::normalizeInUnit(guard), {read}));
    return {terms::state(this->features, width), {features, value, key}, {plan.output(o)}};
  }
};
} // namespace

static LogChunk logChunk(const RegionPlanner &plan, const kernel::Partition &partition, Value parameter, bool grouped) {
  const Problem &problem = plan.problem;
  auto type = cast<MemRefType>(parameter.getType());
  Dimension head = type.getDimSize(0) > 1 ? kernel::entryOf(Axis::Head) : Dimension{};
  Source omega = memory(parameter, {head, kernel::columnsOf(type.getDimSize(1)), kernel::columnsOf(type.getDimSize(2))});
  Axis keyHead = grouped ? Axis::SharedHead : Axis::Head;
  int64_t heads = grouped ? problem.sharedHeads() : problem.heads();
  double scale = partition.map.getScale();
  Source q = plan.tokens(problem.query, Axis::Query), k = plan.tokens(problem.key, Axis::Key, keyHead, heads);
  Source key = term(terms::existing(Axis::Key), {term(terms::exponents(scale, /*withSquares=*/true), {k, omega})});
  return {term(terms::exponents(scale, /*withSquares=*/false), {q, omega}), key,
          plan.tokens(problem.value, Axis::Key, keyHead, heads),
          std::make_shared<BoundSource>("state", Axis::Query, Representation::Scaled),
          std::make_shared<BoundSource>("unit", Axis::Query, Representation::Plain), partition.guard,
          type.getDimSize(1), problem.valueWidth(), attn::bandCount(partition.map, problem.key.width)};
}

/// On a CPU chunks whose keys rise by no more than 2^60 have a form of one product.
static KernelRegion logChunks(const Problem &problem, const kernel::Partition &partition, Value parameter) {
  RegionPlanner plan(problem);
  bool shortcut = problem.schedule.getTarget() == tile::TargetKind::CPU, offset = !shortcut;
  LogChunk chunk = logChunk(plan, partition, parameter, problem.grouped);
  Stage stage = chunks(plan);
  stage.state = chunk.state, stage.unit = chunk.unit;
  Source least = term(terms::rowUnit(partition.guard), {chunk.query, chunk.state});
  if (shortcut) {
    Source near = term(terms::inUnit(), {chunk.key, chunk.state});
    Source pairs = term(terms::logPlainContract(), {chunk.query, near, chunk.state, least});
    Type f32 = Float32Type::get(parameter.getContext());
    stage.shortcut = Shortcut{term(terms::rises(60), {chunk.key, chunk.state}), {{chunk.key, f32}, {chunk.value, f32}},
                              chunk.form(plan, near, pairs, /*offset=*/false)};
    // Heads of a group map their queries in the form that is taken: all of them would be live before it.
    if (!stage.group || stage.group->count == 1)
      stage.shortcut->both.push_back({chunk.query, f32});
  }
  Source near = term(terms::nearUnit(chunk.bands, offset), {chunk.key, chunk.unit});
  Source pairs = term(terms::logContract(chunk.bands), {chunk.query, chunk.key, chunk.unit, least});
  return chunked(plan, stream(stage, chunk.form(plan, near, pairs, offset)));
}

/// Features of the map are exponentials of products with ω, of tokens as they are.
static bool isLogChunked(const kernel::Partition &partition, const Problem &problem, const kernel::FeatureMap &map) {
  return partition.form == attn::Form::Chunked && map.map.isFavor() && !problem.split && !map.keysMapped &&
         !map.queryFolded && !map.keyFolded;
}

static bool isElu1(const Problem &problem, const kernel::FeatureMap &map) {
  return map.map.getKind() == attn::FeatureKind::Elu1 && !problem.split && !map.keysMapped && !problem.initialState &&
         !problem.finalState;
}

std::optional<KernelRegion> test::regionOfForm(const kernel::Partition &partition, const Problem &problem,
                                               const kernel::FeatureMap &map) {
  if (partition.form == attn::Form::Chunked && isElu1(problem, map))
    return featureChunks(problem, partition.guard);
  return std::nullopt;
}

std::optional<KernelRegion> test::regionOfExponents(const kernel::Partition &partition, const Problem &problem,
                                                    const kernel::FeatureMap &map) {
  if (isLogChunked(partition, problem, map))
    return logChunks(problem, partition, map.parameter);
  return std::nullopt;
}
