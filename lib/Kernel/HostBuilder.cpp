//===- HostBuilder.cpp - From a graph of attn ops to launches of kernels ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "FeatureMaps.h"
#include "Sketch.h"
#include "Regions/KeyState.h"
#include "Regions/Regions.h"
#include "SplitReduction.h"
#include "attune/Kernel/SketchRules.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/HeadRange.h"
#include "attune/Attn/InEpilogue.h"
#include "attune/Attn/Together.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The first mechanism's kernels are named after the function alone.
Problem HostBuilder::startProblem() {
  Problem problem;
  problem.name = problems == 0 ? name : name + "_" + std::to_string(problems + 1);
  problem.schedule = schedule;
  ++problems;
  return problem;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult HostBuilder::write(Value value, const Output &output) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc()) << "expected the output of attention, but got an argument of the function";
  if (auto concat = dyn_cast<attn::ConcatHeadsOp>(op))
    return writeConcat(concat, output);
  if (auto lepe = dyn_cast<attn::LepeOp>(op))
    return writeLepe(lepe, output);
  if (auto projection = dyn_cast<attn::ProjectOutputOp>(op))
    return writeProjection(projection, output);
  if (auto polynomial = dyn_cast<attn::PolynomialOp>(op))
    return writePolynomial(polynomial, output);
  if (auto polysketch = dyn_cast<attn::PolysketchOp>(op))
    return writePolysketch(polysketch, output);
  if (auto eva = dyn_cast<attn::EvaOp>(op))
    return writeEva(eva, output);
  if (auto agent = dyn_cast<attn::AgentOp>(op))
    return writeAgent(agent, output);
  if (auto effatt = dyn_cast<attn::EffattOp>(op))
    return writeEffatt(effatt, output);
  if (auto normalize = dyn_cast<attn::NormalizeOp>(op); normalize && !normalize.getDenominator())
    return writeCompressedKernel(normalize, output);
  return writeAttention(op, output);
}

LogicalResult HostBuilder::writePolynomial(attn::PolynomialOp op, const Output &output) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  problem.window = op.getWindowAttr();
  if (failed(readMechanism(op, problem, output)))
    return failure();
  double scale = op.getScale().convertToDouble();
  return buildKernel(polynomialRegion(problem, op.getDegree(), scale, op.getDenominatorAttr()));
}

FailureOr<tile::KernelOp> HostBuilder::buildKernel(const fusion::KernelRegion &region) {
  if (regions)
    region.print(*regions);
  FailureOr<tile::LaunchOp> launch = fusion::buildRegion(site, region);
  if (failed(launch))
    return failure();
  auto kernel = site.module.lookupSymbol<tile::KernelOp>(launch->getCallee());
  if (failed(splitReduction(kernel, *launch)))
    return failure();
  return kernel;
}

LogicalResult HostBuilder::writePolysketch(attn::PolysketchOp op, const Output &output) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  if (failed(readMechanism(op, problem, output)))
    return failure();
  problem.split = op->hasAttr("attn.split") && !sketchNeedsUnit(op.getDegree());
  const SketchMatrices &matrices = prepared.sketches.at(op);
  PolysketchOptions options{static_cast<int64_t>(op.getDegree()), static_cast<int64_t>(op.getSize()), op.getLocalExact(),
                            op.getScale().convertToDouble(), op.getDenominatorAttr(), matrices,
                            attn::stringifyForm(op.getForm().value_or(attn::Form::Quadratic))};
  return buildPolysketch(site, problem, options);
}

LogicalResult HostBuilder::writeEva(attn::EvaOp op, const Output &output) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  if (failed(readMechanism(op, problem, output)))
    return failure();
  buildEva(site, problem,
           {static_cast<int64_t>(op.getChunk()), op.getLocal(), op.getMuWeight().convertToDouble(),
            op.getScale().convertToDouble(), op.getExcludeLocal() && op.getLocal(), op.getMass()});
  return success();
}

/// softmax(s Q Aᵀ) softmax(s A Kᵀ) V with A = pool(Q): two attentions, the agents being queries of one and keys of the other.
LogicalResult HostBuilder::writeAgent(attn::AgentOp op, const Output &output) {
  Problem inner = startProblem();
  if (failed(readMechanism(op, inner, Output())))
    return failure();
  TileBuilder host(site.host, site.loc);
  int64_t agents = op.getAgents(), heads = inner.heads(), dv = inner.valueWidth();
  Value batch = host.dim(inner.query.memory, 0);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Tokens pooled{site.workspace({dynamic, heads, agents, inner.width()}, batch), 0, heads, inner.width(), {}};
  Tokens mixed{site.workspace({dynamic, heads, agents, dv}, batch), 0, heads, dv, {}};
  buildPool(site, inner, pooled, host.index(agents));
  Problem outer = startProblem();
  outer.query = inner.query, outer.key = pooled, outer.value = mixed, outer.output = output;
  inner.query = pooled, inner.output = Output{mixed.memory, 0, std::nullopt};
  double scale = op.getScale().convertToDouble();
  if (failed(buildKernel(softmaxRegion(inner, scale))))
    return failure();
  return buildKernel(softmaxRegion(outer, scale));
}

LogicalResult HostBuilder::writeConcat(attn::ConcatHeadsOp op, const Output &output) {
  Output part = output;
  Block &block = *site.host.getInsertionBlock();
  SmallVector<PartLaunches> launches;
  for (Value value : op.getParts()) {
    Operation *before = block.empty() ? nullptr : &block.back();
    if (failed(write(value, part)))
      return failure();
    part.firstHead += shapeOf(value)[1];
    launches.push_back(launchesAfter(block, before, ofTokens));
  }
  if (attn::runsTogether(op))
    joinLaunches(block, launches);
  return success();
}

LogicalResult HostBuilder::writeLepe(attn::LepeOp op, Output output) {
  if (output.lepe)
    return op.emitOpError() << "expected one convolution of an output (a second one is not supported yet)";
  Lepe lepe;
  FailureOr<Tokens> value = read(op.getValue());
  if (failed(value))
    return failure();
  lepe.value = *value;
  std::optional<PreparedWeight> packed = packedWeight(op);
  lepe.weight = packed ? prepared.lookup(*packed).matrix : Value();
  lepe.packed = static_cast<bool>(lepe.weight);
  if (!lepe.packed)
    lepe.weight = memory(op.getWeight());
  lepe.bias = memory(op.getBias()), lepe.lengths = memory(op.getLengths());
  lepe.inWindow = static_cast<bool>(op.getWindow());
  if (op.getWindow() && op.getWindow()->isGrid())
    lepe.columns = op.getWindow()->getColumns();
  else if (op.getGrid())
    lepe.columns = (*op.getGrid())[1];
  output.lepe = lepe;
  return write(op.getSource(), output);
}

LogicalResult HostBuilder::writeProjection(attn::ProjectOutputOp op, const Output &output) {
  if (attn::isInEpilogue(op)) {
    Output projected = output;
    projected.projection = OutputProjection{memory(op.getWeight()), memory(op.getBias())};
    return write(op.getSource(), projected);
  }
  FailureOr<Tokens> source = read(op.getSource());
  if (failed(source))
    return failure();
  std::optional<PreparedWeight> packed = packedWeight(op);
  Value weight = packed ? prepared.lookup(*packed).matrix : Value();
  Problem problem = startProblem();
  problem.query = *source, problem.output.memory = output.memory;
  OutputProjection projection{weight ? weight : memory(op.getWeight()), memory(op.getBias())};
  return buildKernel(outputProjectionRegion(problem, attn::areSums(op.getSource()), projection));
}

LogicalResult HostBuilder::readAll(ArrayRef<std::pair<Value, Tokens *>> values) {
  for (auto [value, tokens] : values) {
    FailureOr<Tokens> found = read(value);
    if (failed(found))
      return failure();
    *tokens = *found;
  }
  return success();
}

LogicalResult HostBuilder::writeAttention(Operation *root, const Output &output) {
  std::optional<Partition> found = partition(root);
  if (!found)
    return root->emitError() << "expected attention that a kernel computes, such as attn.softmax or a kernel attention "
                                "in quadratic, state or chunked form (run attn-select-rewrites first), but got "
                             << root->getName() << " (not supported yet)";
  Problem problem = startProblem();
  if (failed(readAll({{found->query, &problem.query}, {found->key, &problem.key}, {found->value, &problem.value}})))
    return failure();
  problem.output = output;
  problem.causal = found->causal, problem.grouped = found->grouped, problem.fused = found->fused;
  problem.merged = found->merged, problem.window = found->window;
  problem.split = found->split;
  problem.lengths = memory(found->lengths);
  problem.lse = memory(found->lse);
  problem.initialState = memory(found->initialState), problem.initialSum = memory(found->initialSum);
  problem.finalState = memory(found->finalState), problem.finalSum = memory(found->finalSum);
  return buildFamily(*found, problem);
}

LogicalResult HostBuilder::writeEffatt(attn::EffattOp op, const Output &output) {
  Problem problem = startProblem();
  if (failed(readAll({{op.getQuery(), &problem.query}, {op.getKey(), &problem.key}, {op.getValue(), &problem.value}})))
    return failure();
  problem.output = output;
  problem.lengths = memory(op.getLengths());
  TileBuilder host(site.host, site.loc);
  Value means = site.workspace({ShapedType::kDynamic, problem.sharedHeads(), problem.width(), problem.valueWidth()},
                               host.dim(problem.key.memory, 0));
  if (failed(buildKernel(effattMeansRegion(problem, means))))
    return failure();
  return buildKernel(effattReadoutRegion(problem, means));
}

/// Naive FLuRKA: o = φ(Q) ((E φ(K))ᵀ (F V)).
LogicalResult HostBuilder::writeCompressedKernel(attn::NormalizeOp op, const Output &output) {
  auto readout = op.getNumerator().getDefiningOp<attn::ReadoutOp>();
  auto state = readout ? readout.getState().getDefiningOp<attn::StateOp>() : attn::StateOp();
  auto query = readout ? readout.getFeatures().getDefiningOp<attn::MapOp>() : attn::MapOp();
  if (!state || !query || !state.getFeatures().getDefiningOp<attn::CompressOp>())
    return op.emitOpError() << "expected compressed features without a denominator (others are not supported yet)";
  if (attn::isFolded(query.getSource()))
    return op.emitOpError() << "expected queries, but got those of a folded projection (not supported yet)";
  Tokens features;
  Problem problem;
  if (failed(readAll({{query.getSource(), &problem.query}, {state.getFeatures(), &features},
                      {state.getValue(), &problem.value}})))
    return failure();
  Problem named = startProblem();
  problem.name = named.name, problem.schedule = named.schedule;
  problem.key = features;
  problem.output = output;
  FeatureMap map{query.getFeatureMapAttr(), memory(query.getParameter()), Value(), features.width};
  TileBuilder host(site.host, site.loc);
  Value memory = site.workspace({ShapedType::kDynamic, features.heads, map.features, problem.valueWidth()},
                                host.dim(features.memory, 0));
  if (failed(buildKernel(slotStateRegion(problem, map, memory))))
    return failure();
  return buildKernel(slotReadoutRegion(problem, map, memory));
}

FailureOr<Value> HostBuilder::computeKeyMaximum(attn::KeyMaximumOp op) {
  Problem problem = startProblem();
  if (failed(readAll({{op.getKey(), &problem.key}})))
    return failure();
  problem.lengths = memory(op.getLengths());
  FeatureMap map{op.getFeatureMap(), memory(op.getParameter()), Value(), op.getFeatureMap().getFeatureCount()};
  TileBuilder host(site.host, site.loc);
  int64_t heads = shapeOf(op.getResult())[1];
  Value result = site.workspace({ShapedType::kDynamic, heads}, host.dim(problem.key.memory, 0));
  if (failed(buildKernel(keyMaximumRegion(problem, map, result))))
    return failure();
  return result;
}

/// Selection folds only what this agrees to; a function written by hand may say otherwise.
static LogicalResult checkFolded(const Partition &partition, bool sharesStates) {
  for (auto [tokens, keys] : {std::pair(partition.query, false), std::pair(partition.key, true)}) {
    if (!attn::isFolded(tokens))
      continue;
    StringRef reason = "no map reads them";
    if (partition.map)
      reason = attn::whyNotThroughOmega(
          partition.map, keys, partition.map.stabilizerCancels(partition.guard.getBias(), partition.guard.getFloor()));
    if (sharesStates)
      reason = "others read the state of these features";
    if (!reason.empty())
      return tokens.getDefiningOp()->emitOpError() << "expected tokens that are read through omega alone where they are "
                                                      "folded, but "
                                                   << reason;
  }
  return success();
}

/// Maps the keys by a kernel of their own; the problem's keys are features from then on. A window is a view of them.
LogicalResult HostBuilder::mapKeys(Problem &problem, FeatureMap &map, bool exponents) {
  Problem keys = problem;
  keys.window = attn::WindowAttr();
  TileBuilder host(site.host, site.loc);
  int64_t heads = parameterHeads(problem, map);
  bool pairs = exponents && map.map.getKind() == attn::FeatureKind::Focused;
  int64_t columns = pairs ? 2 * map.features : map.features;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key.memory, 0), count = tokenCount(host, problem.key.memory);
  Tokens features{site.workspace({dynamic, heads, dynamic, columns}, {batch, count}), 0, heads, columns, {}};
  if (failed(buildKernel(featuresRegion(keys, map, exponents, features))))
    return failure();
  problem.key = features;
  map.keysMapped = true, map.shift = Value();
  return success();
}

LogicalResult HostBuilder::buildFamily(const Partition &partition, Problem &problem) {
  FeatureMap map{partition.map, memory(partition.parameter), Value(),
                 partition.map ? partition.map.getFeatures(problem.width()) : 0, attn::isFolded(partition.query),
                 attn::isFolded(partition.key), problem.key.width};
  // A state that others read is one of features, under their stabilizer.
  bool sharesStates = problem.initialState || problem.finalState;
  if (failed(checkFolded(partition, sharesStates)))
    return failure();
  if (map.map && !sharesStates &&
      attn::carriesExponents(map.map, problem.key.width, partition.guard.getBias(), partition.guard.getFloor())) {
    if (partition.mapsAlone && failed(mapKeys(problem, map, /*exponents=*/true)))
      return failure();
    return buildExponents(partition, problem, map);
  }
  if (auto shift = partition.shift ? partition.shift.getDefiningOp<attn::KeyMaximumOp>() : attn::KeyMaximumOp()) {
    FailureOr<Value> computed = computeKeyMaximum(shift);
    if (failed(computed))
      return failure();
    map.shift = *computed;
  }
  if (partition.mapsAlone && failed(mapKeys(problem, map, /*exponents=*/false)))
    return failure();
  return buildForm(partition, problem, map);
}

LogicalResult HostBuilder::buildExponents(const Partition &partition, const Problem &problem, const FeatureMap &map) {
  switch (partition.form) {
  case attn::Form::Quadratic:
    return buildKernel(logQuadraticRegion(problem, map, partition.guard));
  case attn::Form::State:
    return buildState(problem, KeyState(problem, map, /*exponents=*/true), partition.guard);
  case attn::Form::Chunked:
    return buildChunks(problem, map, /*exponents=*/true, partition.guard);
  case attn::Form::Online:
    break; // not of kernel attention
  }
  llvm_unreachable("a form of kernel attention");
}

LogicalResult HostBuilder::buildForm(const Partition &partition, const Problem &problem, const FeatureMap &map) {
  switch (partition.form) {
  case attn::Form::Online:
    return buildKernel(softmaxRegion(problem, partition.scale));
  case attn::Form::Quadratic:
    return buildKernel(quadraticRegion(problem, map, partition.guard));
  case attn::Form::State:
    return buildState(problem, KeyState(problem, map, /*exponents=*/false), partition.guard);
  case attn::Form::Chunked:
    return buildChunks(problem, map, /*exponents=*/false, partition.guard);
  }
  llvm_unreachable("every form is above");
}

LogicalResult HostBuilder::buildState(const Problem &problem, const KeyState &state, attn::DenominatorAttr guard) {
  if (problem.fused)
    return buildKernel(state.fusedRegion(guard));
  StateMemory memory =
      problem.finalState ? state.memoryOf(problem.finalState, problem.finalSum) : state.allocate(site);
  if (failed(buildKernel(state.stateRegion(memory))))
    return failure();
  return buildKernel(state.readoutRegion(guard, memory));
}

/// Split, the states of the keys of all parts but the last come first, then the parts run side by side.
LogicalResult HostBuilder::buildChunks(const Problem &problem, const FeatureMap &map, bool exponents,
                                       attn::DenominatorAttr guard) {
  KeyState state(problem, map, exponents);
  StateMemory before;
  if (problem.split) {
    TileBuilder host(site.host, site.loc);
    before = state.allocate(site, Pieces(problem).count(host));
    if (failed(buildKernel(state.piecesRegion(before))))
      return failure();
  }
  if (failed(buildKernel(exponents ? logChunkedRegion(problem, map, guard, before) : chunkedRegion(problem, map, guard, before))))
    return failure();
  if (!problem.finalState)
    return success();
  // The heads of a group carry the same state, so one of them cannot own it: final states have kernels of their own.
  return buildKernel(state.stateRegion(state.memoryOf(problem.finalState, problem.finalSum)));
}
