//===- EvaGradients.cpp - EVA, its terms and their gradients ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/EvaGradientRegion.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

LogicalResult HostBuilder::buildAll(ArrayRef<fusion::KernelRegion> regions) {
  for (const fusion::KernelRegion &region : regions)
    if (failed(buildKernel(region)))
      return failure();
  return success();
}

/// Rows of summaries, of a width, or numbers if that is 0.
Value HostBuilder::allocateSummaries(const Problem &problem, const EvaShape &shape, int64_t width) {
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> sizes{dynamic, problem.heads(), dynamic};
  if (width)
    sizes.push_back(width);
  return site.workspace(sizes, {host.dim(problem.query.memory, 0), shape.rows().onHost(host)});
}

EvaSummaries HostBuilder::allocateSummaries(const Problem &problem, const EvaShape &shape) {
  Value means = allocateSummaries(problem, shape, problem.width()), values = allocateSummaries(problem, shape, problem.valueWidth());
  return {means, values, allocateSummaries(problem, shape, 0), Value()};
}

/// Where the logarithms of the sums of rows go; null: nobody asks for them.
Value HostBuilder::placeSums(Value lse, Value query) {
  if (!lse || lse.use_empty())
    return Value();
  if (missing.remove(lse))
    return memory(lse);
  return workspaces[lse] = allocateNumbers(cast<RankedTensorType>(lse.getType()).getDimSize(1), query, /*window=*/nullptr);
}

LogicalResult HostBuilder::writeEva(attn::EvaOp op, const Output &output) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  if (failed(readMechanism(op, problem, output)))
    return failure();
  EvaShape shape(problem, {static_cast<int64_t>(op.getChunk()), static_cast<int64_t>(op.getLocal().value_or(0)), op.getExcludeLocal(), op.getCausal(),
                           op.getMass(), op.getScale().convertToDouble(), op.getMuWeight().convertToDouble()});
  EvaSummaries summaries = allocateSummaries(problem, shape);
  if (failed(buildAll(evaSummaryRegions(problem, shape, summaries))))
    return failure();
  summaries.lse = placeSums(op.getLse(), op.getQuery());
  return buildKernel(evaMixRegion(problem, shape, summaries));
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Of summaries, or of what reaches them: they have edges where `local` is given.
template <typename Op> static EvaOptions summaryOptions(Op op) {
  auto local = static_cast<int64_t>(op.getLocal().value_or(0));
  return {static_cast<int64_t>(op.getChunk()), local, local != 0, /*causal=*/false, op.getMass(), op.getScale().convertToDouble(),
          op.getMuWeight().convertToDouble()};
}

LogicalResult HostBuilder::computeSummaries(attn::EvaSummariesOp op) {
  if (placeOf(op.getMean()))
    return success();
  Problem problem = startProblem();
  if (failed(readMechanism(op, problem, Output())))
    return failure();
  EvaShape shape(problem, summaryOptions(op));
  EvaSummaries summaries = allocateSummaries(problem, shape);
  computed[op.getMean()] = {summaries.means, 0, problem.heads(), problem.width(), {}};
  computed[op.getSummary()] = {summaries.values, 0, problem.heads(), problem.valueWidth(), {}};
  workspaces[op.getLogWeight()] = summaries.logWeights;
  return buildAll(evaSummaryRegions(problem, shape, summaries));
}

/// Where the tokens go that are a result of an op; no memory where nobody reads them.
Tokens HostBuilder::allocateTokens(Value result, const Tokens &like) {
  if (result.use_empty())
    return {};
  return computed[result] = workspaceFor(result, like.memory);
}

/// The result that a value is a term of, as a sum of two, and read by nothing else; null: there is none that is added up where it lies.
Value HostBuilder::sumInResult(Value term) const {
  auto add = term.hasOneUse() ? dyn_cast<attn::AddOp>(*term.user_begin()) : attn::AddOp();
  bool isThere = add && missing.contains(add.getResult()) && isResult(add.getResult()) && addsUpIn(outputOf(add.getResult()));
  return isThere ? add.getResult() : Value();
}

Tokens HostBuilder::placeTerm(Value term, const Tokens &like, bool &adds) {
  Value sum = sumInResult(term);
  if (!sum)
    return allocateTokens(term, like);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(term.getType()).getShape();
  Tokens place{memory(sum), 0, shape[1], shape[3], {}};
  auto add = sum.getDefiningOp<attn::AddOp>();
  Value other = add.getLhs() == term ? add.getRhs() : add.getLhs();
  const Tokens *first = placeOf(other);
  adds = first && first->memory == place.memory;
  if (first && !adds)
    return allocateTokens(term, like);
  if (adds)
    computed[sum] = place, missing.remove(sum);
  return computed[term] = place;
}

template <typename Op> static EvaOptions mixOptions(Op op) {
  return {static_cast<int64_t>(op.getChunk()), static_cast<int64_t>(op.getLocal().value_or(0)), op.getExcludeLocal(), op.getCausal(),
          /*mass=*/false, op.getScale().convertToDouble(), /*muWeight=*/0};
}

template <typename Op> FailureOr<EvaSummaries> HostBuilder::readSummaries(Op op) {
  Tokens means, values;
  if (failed(readAll({{op.getMean(), &means}, {op.getSummary(), &values}})))
    return failure();
  Value logWeights = memoryOf(op.getLogWeight());
  if (!logWeights)
    return op.emitOpError() << "expected summaries that attn.eva_summaries makes in the same function, but got others (not supported yet)";
  return EvaSummaries{means.memory, values.memory, logWeights, Value()};
}

LogicalResult HostBuilder::writeMix(attn::EvaMixOp op, const Output &output) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  if (failed(readMechanism(op, problem, output)))
    return failure();
  FailureOr<EvaSummaries> summaries = readSummaries(op);
  if (failed(summaries))
    return failure();
  summaries->lse = placeSums(op.getLse(), op.getQuery());
  return buildKernel(evaMixRegion(problem, EvaShape(problem, mixOptions(op)), *summaries));
}

LogicalResult HostBuilder::computeMixGradient(attn::EvaMixGradientOp op) {
  Problem problem = startProblem();
  problem.causal = op.getCausal();
  EvaMixGradient mix;
  if (failed(readMechanism(op, problem, Output())) || failed(readAll({{op.getCotangent(), &mix.cotangent}, {op.getOutput(), &mix.output}})))
    return failure();
  FailureOr<EvaSummaries> summaries = readSummaries(op);
  if (failed(summaries))
    return failure();
  EvaShape shape(problem, mixOptions(op));
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  int64_t heads = problem.heads(), dv = problem.valueWidth();
  mix.summaries = *summaries, mix.summaries.lse = memoryOf(op.getLse());
  if (!mix.summaries.lse)
    return op.emitOpError() << "expected sums that attn.eva_mix makes in the same function, or an argument, but got others (not supported yet)";
  bool adds = false; // nothing is there before
  mix.tokens.query = placeTerm(op.getQueryGradient(), problem.query, adds);
  if (shape.options.local) {
    mix.tokens.key = placeTerm(op.getKeyGradient(), problem.key, adds);
    mix.tokens.value = placeTerm(op.getValueGradient(), problem.value, adds);
  }
  if (!op.getMeanGradient().use_empty() || !op.getSummaryGradient().use_empty()) {
    mix.means = allocateSummaries(problem, shape, problem.width()), mix.values = allocateSummaries(problem, shape, dv);
    computed[op.getMeanGradient()] = {mix.means, 0, heads, problem.width(), {}};
    computed[op.getSummaryGradient()] = {mix.values, 0, heads, dv, {}};
  }
  bool isAllRead = mix.tokens.query.memory && mix.tokens.key.memory && mix.tokens.value.memory && mix.means;
  if (isAllRead && sumsJointly(problem, shape)) {
    auto ofParts = [&](int64_t width) {
      return site.workspace({dynamic, dynamic, heads, dynamic, width}, {host.index(partsOfGradients), host.dim(problem.query.memory, 0), shape.chunkCount.onHost(host)});
    };
    mix.meanParts = ofParts(problem.width()), mix.valueParts = ofParts(dv);
    mix.products = allocateNumbers(heads, op.getQuery());
  }
  return buildAll(evaMixGradientRegions(problem, shape, mix));
}

LogicalResult HostBuilder::computeSummaryGradient(attn::EvaSummariesGradientOp op) {
  Problem problem = startProblem();
  EvaSummaryGradient gradient{};
  Tokens means, values;
  if (failed(readMechanism(op, problem, Output())) || failed(readAll({{op.getMean(), &means}, {op.getSummary(), &values}})))
    return failure();
  EvaShape shape(problem, summaryOptions(op));
  gradient.means = means.memory, gradient.values = values.memory;
  for (Value *each : {&gradient.mu, &gradient.keyShares, &gradient.queryShares})
    *each = allocateSummaries(problem, shape, problem.width());
  gradient.lse = allocateSummaries(problem, shape, 0), gradient.products = allocateSummaries(problem, shape, 0);
  EvaTokenGradients &tokens = gradient.tokens;
  // What the mix has placed is added to.
  tokens.query = placeTerm(op.getQueryGradient(), problem.query, tokens.addsToQuery);
  tokens.key = placeTerm(op.getKeyGradient(), problem.key, tokens.addsToKey);
  tokens.value = placeTerm(op.getValueGradient(), problem.value, tokens.addsToValue);
  return buildAll(evaSummaryGradientRegions(problem, shape, gradient));
}

std::optional<LogicalResult> HostBuilder::computeEva(Operation *op) {
  if (auto summaries = dyn_cast<attn::EvaSummariesOp>(op))
    return computeSummaries(summaries);
  if (auto mix = dyn_cast<attn::EvaMixOp>(op)) {
    FailureOr<Tokens> like = read(mix.getQuery());
    return failed(like) ? LogicalResult(failure()) : writeMix(mix, Output{allocateTokens(mix.getOutput(), *like).memory, 0, std::nullopt});
  }
  if (auto gradient = dyn_cast<attn::EvaMixGradientOp>(op))
    return computeMixGradient(gradient);
  if (auto gradient = dyn_cast<attn::EvaSummariesGradientOp>(op))
    return computeSummaryGradient(gradient);
  return std::nullopt;
}
