//===- RegionOfProblem.cpp - Regions of attention, by hand --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionOfProblem.h"

#include "Terms.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Folded.h"
#include "attune/Tile/KernelSizes.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using kernel::Problem;
using kernel::Tokens;

namespace {
/// Makes the sources and stages of one problem.
class Planner {
public:
  explicit Planner(const Problem &problem) : problem(problem), extents(makeExtents()) {}

  /// Tokens of the head at the site, those of `axis`; heads are counted by an axis of `heads` entries.
  Source tokens(const Tokens &tokens, Axis axis, Axis headAxis, int64_t heads) const;
  Source tokens(const Tokens &of, Axis axis) const { return tokens(of, axis, Axis::Head, problem.heads()); }
  Stage keys(bool dearSteps) const;
  Source finished(Source o) const;
  KernelRegion region(StringRef suffix, Source o, std::optional<RegionOutput> before) const;
  RegionOutput output(Source o) const;
  Source withLepe(Source o) const;

  const Problem &problem;
  std::shared_ptr<const Extents> extents;

private:
  std::shared_ptr<const Extents> makeExtents() const;
  /// Every entry of an axis.
  Stage all(Axis axis, int64_t step) const {
    return {axis, step, {{"all", Border::Begin, Border::End, false}}, extents};
  }
  Source projected(const Tokens &tokens, Axis axis, Dimension head) const;
};
} // namespace

static Dimension entry(Axis axis) { return {axis}; }
static Dimension rows(Axis axis) { return {axis, 1, 0, 1, 0, true}; }
static Dimension columns(int64_t count) { return {std::nullopt, 1, 0, 1, count}; }

static unsigned tokenDimension(Value memory) { return cast<MemRefType>(memory.getType()).getRank() - 2; }

std::shared_ptr<const Extents> Planner::makeExtents() const {
  auto result = std::make_shared<Extents>();
  auto at = [&](Axis axis) -> Extent & { return (*result)[axis]; };
  Value q = problem.query.memory, k = problem.key.memory;
  at(Axis::Batch) = {q, 0};
  at(Axis::Head).count = problem.heads();
  at(Axis::SharedHead).count = problem.sharedHeads();
  at(Axis::Query) = {q, tokenDimension(q), 0, Value(), problem.window};
  at(Axis::Key) = {k, tokenDimension(k), 0, problem.lengths, problem.window};
  if (problem.causal)
    at(Axis::Key).causal = Axis::Query;
  return result;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// A stage over the columns of x, then the bias.
Source Planner::projected(const Tokens &tokens, Axis axis, Dimension head) const {
  Value weight = tokens.projection->weight, bias = tokens.projection->bias;
  int64_t width = tokens.width, step = tile::modelTile;
  Dimension model{Axis::Model, 1, 0, 1, step}, columnsOfHead = head;
  columnsOfHead.scale = columnsOfHead.count = width;
  bool prepared = cast<MemRefType>(weight.getType()).getRank() == 3;
  Source x = memory(tokens.memory, {entry(Axis::Batch), rows(axis), model});
  Source w = prepared ? memory(weight, {head, model, columns(width)}) : memory(weight, {model, columnsOfHead});
  Stage stage = all(Axis::Model, step);
  auto own = std::make_shared<Extents>(*extents);
  (*own)[Axis::Model] = {tokens.memory, 2};
  stage.extents = own;
  Source result = stream(stage, {terms::contract(axis, width), {x, w}});
  return bias ? term(terms::addBias(axis), {result, memory(bias, {columnsOfHead})}) : result;
}

Source Planner::tokens(const Tokens &tokens, Axis axis, Axis headAxis, int64_t heads) const {
  Dimension head{headAxis, heads / tokens.heads, tokens.firstHead};
  Source x = tokens.projection ? projected(tokens, axis, head)
                               : memory(tokens.memory, {entry(Axis::Batch), head, rows(axis), columns(tokens.width)});
  for (const kernel::TokenStep &step : tokens.steps)
    x = term(step.kind == kernel::TokenStep::Kind::Norm ? terms::qkNorm(step.number) : terms::rope(axis, step), {x});
  return x;
}

Stage Planner::keys(bool dearSteps) const {
  bool gpu = problem.schedule.getTarget() == tile::TargetKind::GPU;
  bool oneLoop = gpu && (problem.schedule.getOperand().isF32() || dearSteps);
  Stage stage{Axis::Key, problem.keyTile(), {{"masked", Border::Begin, Border::End, true}}, extents};
  if (!oneLoop)
    stage.segments = {{"seen", Border::Begin, Border::Seen, false}, {"rest", Border::Seen, Border::End, true}};
  return stage;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Source Planner::withLepe(Source o) const {
  if (!problem.output.lepe)
    return o;
  const kernel::Lepe &lepe = *problem.output.lepe;
  int64_t width = lepe.value.width;
  Extent extent = (*extents)[Axis::Key];
  extent.memory = lepe.value.memory, extent.lengths = lepe.lengths;
  if (!lepe.inWindow)
    extent.window = {};
  SmallVector<Source> operands{o, tokens(lepe.value, Axis::Key)};
  if (lepe.bias)
    operands.push_back(memory(lepe.bias, {entry(Axis::Head), columns(width)}));
  return term(terms::lepe({lepe.weight, lepe.packed, width, lepe.columns, lepe.inWindow, extent}), operands);
}

/// The output of a head with what comes after the attention.
Source Planner::finished(Source o) const {
  o = withLepe(o);
  if (!problem.output.projection)
    return o;
  auto [weight, bias] = *problem.output.projection;
  int64_t width = problem.valueWidth(), model = cast<MemRefType>(problem.output.memory.getType()).getDimSize(2);
  Source w = memory(weight, {{Axis::Head, 1, 0, width, width}, columns(model)});
  Source y = stream(all(Axis::Head, 1), {terms::contract(Axis::Query, model), {o, w}});
  return bias ? term(terms::addBias(Axis::Query), {y, memory(bias, {columns(model)})}) : y;
}

RegionOutput Planner::output(Source o) const {
  Value target = problem.output.memory;
  int64_t last = cast<MemRefType>(target.getType()).getShape().back();
  if (problem.output.projection)
    return {o, target, {entry(Axis::Batch), rows(Axis::Query), columns(last)}};
  Dimension head{Axis::Head, 1, problem.output.firstHead};
  return {o, target, {entry(Axis::Batch), head, rows(Axis::Query), columns(problem.valueWidth())}};
}

KernelRegion Planner::region(StringRef suffix, Source o, std::optional<RegionOutput> before) const {
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, head{Axis::Head, tile::Axis::Head};
  GridAxis query{Axis::Query, tile::Axis::QueryBlock, problem.queryTile()};
  bool projected = problem.output.projection.has_value();
  KernelRegion region{problem.name, suffix.str(), problem.schedule, {batch, query}, extents, {}};
  if (!projected)
    region.grid = {batch, head, query};
  if (before)
    region.outputs.push_back(*before);
  region.outputs.push_back(output(o));
  return region;
}

//===----------------------------------------------------------------------===//
// Mechanisms
//===----------------------------------------------------------------------===//

/// The scale goes into the query if that is exact enough (f32 operands), else onto the scores.
static KernelRegion softmax(const Problem &problem, double scale) {
  Planner plan(problem);
  double factor = scale * M_LOG2E;
  bool ofQuery = problem.schedule.getOperand().isF32();
  Source q = plan.tokens(problem.query, Axis::Query), k = plan.tokens(problem.key, Axis::Key);
  if (ofQuery)
    q = term(terms::scale(factor), {q});
  Source s = term(terms::logits(Representation::Log, ofQuery ? 1 : factor, /*wide=*/false), {q, k});
  Source seen = term(terms::visible(), {s}), v = plan.tokens(problem.value, Axis::Key);
  Source state = stream(plan.keys(/*dearSteps=*/false), {terms::softmaxPartial(problem.valueWidth()), {seen, v}});
  std::optional<RegionOutput> lse;
  if (problem.lse)
    lse = RegionOutput{term(terms::logSumExp(), {state}), problem.lse,
                       {entry(Axis::Batch), entry(Axis::Head), rows(Axis::Query)}};
  return plan.region("softmax", plan.finished(term(terms::softmaxFinish(), {state})), lse);
}

KernelRegion test::regionOfPowers(const Problem &problem, int64_t degree, double scale, attn::DenominatorAttr guard) {
  Planner plan(problem);
  Source q = plan.tokens(problem.query, Axis::Query), k = plan.tokens(problem.key, Axis::Key);
  if (scale != 1)
    q = term(terms::scale(scale), {q});
  Source t = term(terms::visible(), {term(terms::logits(Representation::Plain, 1, /*wide=*/true), {q, k})});
  Source v = plan.tokens(problem.value, Axis::Key);
  StepForm step{terms::powerPartial(degree, problem.valueWidth(), guard), {t, v}};
  Source state = stream(plan.keys(/*dearSteps=*/false), step);
  return plan.region("polynomial", plan.finished(term(terms::powerFinish(degree, guard), {state})), std::nullopt);
}

/// Operands in f32 where storage is f16, whose range features leave.
static bool isWide(const Problem &problem) { return problem.schedule.getOperand().isF16(); }

static KernelRegion quadratic(const Problem &problem, attn::DenominatorAttr guard) {
  Planner plan(problem);
  Source a = term(terms::elu1(), {plan.tokens(problem.query, Axis::Query)});
  Source b = term(terms::elu1(), {plan.tokens(problem.key, Axis::Key)}), v = plan.tokens(problem.value, Axis::Key);
  Source w = term(terms::visible(), {term(terms::logits(Representation::Plain, 1, isWide(problem)), {a, b})});
  StepForm step{terms::weightedSums(problem.valueWidth(), isWide(problem)), {w, v}};
  Source sums = stream(plan.keys(/*dearSteps=*/false), step);
  return plan.region("quadratic", plan.finished(term(terms::normalize(guard), {sums})), std::nullopt);
}

/// A stage over chunks of queries and keys, and the region around it.
static Stage chunks(const Planner &plan) {
  const Problem &problem = plan.problem;
  Stage stage{Axis::Query, problem.keyTile(), {{"chunks", Border::Begin, Border::End, false}}, plan.extents};
  stage.together = Axis::Key;
  if (problem.grouped)
    stage.group = Group{Axis::Head, Axis::SharedHead, problem.heads() / problem.sharedHeads()};
  return stage;
}
static KernelRegion chunked(const Planner &plan, Source stage) {
  const Problem &problem = plan.problem;
  GridAxis batch{Axis::Batch, tile::Axis::Batch};
  GridAxis head{problem.grouped ? Axis::SharedHead : Axis::Head, tile::Axis::Head};
  return {problem.name, "chunked", problem.schedule, {batch, head}, plan.extents, {}, {std::move(stage)}};
}

static KernelRegion featureChunks(const Problem &problem, attn::DenominatorAttr guard) {
  Planner plan(problem);
  Axis keyHead = problem.grouped ? Axis::SharedHead : Axis::Head;
  int64_t heads = problem.grouped ? problem.sharedHeads() : problem.heads();
  bool wide = isWide(problem);
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

  StepForm form(const Planner &plan, Source features, Source pairs, bool offset) const {
    Source read = term(terms::causalReadout(offset), {query, state, pairs, value});
    Source o = plan.withLepe(term(terms::normalizeInUnit(guard), {read}));
    return {terms::state(this->features, width), {features, value, key}, {plan.output(o)}};
  }
};
} // namespace

static LogChunk logChunk(const Planner &plan, const kernel::Partition &partition, Value parameter, bool grouped) {
  const Problem &problem = plan.problem;
  auto type = cast<MemRefType>(parameter.getType());
  Dimension head = type.getDimSize(0) > 1 ? entry(Axis::Head) : Dimension{};
  Source omega = memory(parameter, {head, columns(type.getDimSize(1)), columns(type.getDimSize(2))});
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
  Planner plan(problem);
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

/// Features of the map are exponentials of products with ω, of tokens as they are, and no state is handed over.
static bool isLogChunked(const kernel::Partition &partition, const Problem &problem) {
  const attn::DenominatorAttr &guard = partition.guard;
  return partition.form == attn::Form::Chunked && partition.map.isFavor() && !problem.split && !partition.mapsAlone &&
         !problem.initialState && !problem.finalState && !attn::isFolded(partition.query) &&
         !attn::isFolded(partition.key) &&
         attn::carriesExponents(partition.map, problem.key.width, guard.getBias(), guard.getFloor());
}

static bool isElu1(const kernel::Partition &partition, const Problem &problem) {
  return partition.map.getKind() == attn::FeatureKind::Elu1 && !problem.split && !partition.mapsAlone &&
         !problem.initialState && !problem.finalState;
}

std::optional<KernelRegion> test::regionOf(const kernel::Partition &partition, const Problem &problem,
                                           Value parameter) {
  if (partition.form == attn::Form::Online)
    return softmax(problem, partition.scale);
  if (isElu1(partition, problem) && partition.form == attn::Form::Quadratic)
    return quadratic(problem, partition.guard);
  if (isElu1(partition, problem) && partition.form == attn::Form::Chunked)
    return featureChunks(problem, partition.guard);
  if (isLogChunked(partition, problem))
    return logChunks(problem, partition, parameter);
  return std::nullopt;
}
