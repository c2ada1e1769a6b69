//===- HostBuilder.cpp - From a graph of attn ops to launches of kernels ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/Regions.h"
#include "Regions/SketchedPairs.h"
#include "SplitReduction.h"
#include "attune/Kernel/SketchRules.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Attn/Backward.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/HeadRange.h"
#include "attune/Attn/Execution.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The first mechanism's kernels are named after the function alone.
Problem HostBuilder::startProblem() {
  Problem problem;
  problem.name = problems == 0 ? name : name + "_" + std::to_string(problems + 1);
  problem.schedule = schedule.isSliced() ? tile::scheduleOfRows(schedule) : schedule;
  ++problems;
  return problem;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// A convolution or a projection takes its source as the output of the same kernel; parts of heads are outputs each; the other
/// mechanisms here have kernels that no rules of terms make.
LogicalResult HostBuilder::write(Value value, const Output &output) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc()) << "expected the output of attention, but got an argument of the function";
  LogicalResult written = llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](attn::ConcatHeadsOp concat) { return writeConcat(concat, output); })
      .Case([&](attn::LepeOp lepe) { return writeLepe(lepe, output); })
      .Case([&](attn::ProjectOutputOp projection) { return writeProjection(projection, output); })
      .Case([&](attn::PolysketchOp polysketch) { return writePolysketch(polysketch, output); })
      .Case([&](attn::EvaOp eva) { return writeEva(eva, output); })
      .Case([&](attn::EvaMixOp mix) { return writeMix(mix, output); })
      .Case([&](attn::AgentOp agent) { return writeAgent(agent, output); })
      .Case([&](attn::AdvanceOp advance) { return writeAdvance(advance); })
      .Case([&](attn::LepeGradientOp) { return writeLepeGradient(value, output); })
      .Case([&](attn::WeightGradientOp gradient) { return writeWeightGradient(gradient); })
      .Case([&](attn::TokenSumOp sum) { return writeTokenSum(sum); })
      .Default([&](Operation *) {
        if (auto transposed = transposedCompression(value))
          return LogicalResult(computeTransposed(*transposed, output));
        if (std::optional<LepeSum> sum = lepeSum(value))
          return writeLepeSum(*sum, output);
        return isCompressionWeight(value) ? writeCompressionWeight(value, output)
               : isMapParameter(value)    ? writeMapParameter(value, output)
               : areDistanceSums(value)   ? writeDistanceSums(value, output)
               : areModelRows(value)      ? writeModelRows(value, output)
                                          : writeTerms(value, output);
      });
  missing.remove(value);
  return written;
}

/// Selection folds only what this agrees to; a function written by hand may say otherwise.
LogicalResult HostBuilder::checkFolded(func::FuncOp function) const {
  for (auto project : function.getOps<attn::ProjectOp>())
    for (Operation *user : project->getUsers()) {
      if (attn::executionOf(project).form != attn::TermForm::Folded)
        continue;
      auto map = dyn_cast<attn::MapOp>(user);
      StringRef reason = "no map reads them";
      if (map)
        reason = attn::whyNotThroughOmega(map.getFeatureMap(), map.getKeys(), featureGroups.of(map)->stabilizersCancel());
      if (map && featureGroups.of(map)->sharesState)
        reason = "others read the state of these features";
      if (!reason.empty())
        return project.emitOpError() << "expected tokens that are read through omega alone where they are folded, but " << reason;
    }
  return success();
}

/// Whether a result is what a run leaves for its gradients.
static bool isLeft(func::FuncOp function, size_t result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, "attn.name");
  return name && name.getValue().starts_with(attn::savedPrefix);
}

LogicalResult HostBuilder::build(func::FuncOp function) {
  if (failed(checkFolded(function)))
    return failure();
  storeFeatures(function);
  auto results = function.getBody().front().getTerminator()->getOperands();
  missing.insert(results.begin(), results.end());
  for (auto keep : function.getOps<attn::KeepOp>())
    kept[keep.getSource()] = memory(keep.getResult());
  if (attn::isBackward(function))
    placeParts(results);
  if (failed(placeSaved(function)))
    return failure();
  for (auto [number, result] : llvm::enumerate(results))
    if (missing.contains(result) && !isLeft(function, number) && failed(write(result, Output{memory(result), 0, std::nullopt})))
      return failure();
  return writeLeft(function);
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

/// Results and workspaces of states are f32 tensors of a run.
LogicalResult HostBuilder::readStates(attn::PolysketchOp op, PolysketchOptions &options) {
  if (!op.hasStates())
    return success();
  if (attn::formOf(op) != attn::Form::Chunked)
    return op.emitOpError() << "expected form = chunked with a state (run attn-select-rewrites first), but got another form";
  for (Value given : {Value(op.getInitialState()), Value(op.getInitialSum()), Value(op.getInitialScale()), Value(op.getHeldKey()),
                      Value(op.getHeldValue()), Value(op.getPosition())})
    if (given && !isa<BlockArgument>(given))
      return op.emitOpError() << "expected an initial state that arguments of the function are (others are not supported yet)";
  options.initial = {memory(op.getInitialState()), memory(op.getInitialSum()), memory(op.getInitialScale()), memory(op.getHeldKey()),
                     memory(op.getHeldValue())};
  options.position = memory(op.getPosition());
  options.left = {memory(op.getFinalState()), memory(op.getFinalSum()), memory(op.getFinalScale()), memory(op.getFinalKey()),
                  memory(op.getFinalValue())};
  for (Value result : op->getResults())
    missing.remove(result);
  return success();
}

LogicalResult HostBuilder::writePolysketch(attn::PolysketchOp op, const Output &output) {
  Problem problem = startProblem();
  tile::ScheduleAttr rows = problem.schedule;
  problem.causal = op.getCausal();
  problem.schedule = schedule; // the kernels of sketches have slices
  if (failed(readMechanism(op, problem, output)))
    return failure();
  problem.split = attn::executionOf(op).split && !sketchNeedsUnit(op.getDegree());
  const SketchMatrices &matrices = prepared.sketches.at(op);
  PolysketchOptions options{static_cast<int64_t>(op.getDegree()), static_cast<int64_t>(op.getSize()), op.getLocalExact(),
                            op.getScale().convertToDouble(), op.getDenominatorAttr(), matrices,
                            attn::stringifyForm(attn::formOf(op))};
  if (failed(readStates(op, options)))
    return failure();
  return buildAll(polysketchRegions(site, problem, rows, options));
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
  if (failed(buildKernel(poolRegion(inner, pooled))))
    return failure();
  Problem outer = startProblem();
  outer.query = inner.query, outer.key = pooled, outer.value = mixed, outer.output = output;
  inner.query = pooled, inner.output = Output{mixed.memory, 0, std::nullopt};
  inner.schedule = outer.schedule = schedule;
  double scale = op.getScale().convertToDouble();
  if (failed(buildKernel(softmaxRegion(inner, scale))))
    return failure();
  return buildKernel(softmaxRegion(outer, scale, placeSums(op.getLse(), op.getQuery())));
}

Output HostBuilder::outputOf(Value value) const {
  auto part = parts.find(value);
  return part == parts.end() ? Output{memory(value), 0, std::nullopt} : part->second;
}

/// Parts of several results may be made of one reduction, as those of keys and of values, and so may what gets an encoding's gradient added.
void HostBuilder::placeParts(ValueRange results) {
  auto placeSum = [&](Value value) {
    if (std::optional<LepeSum> sum = lepeSum(value))
      parts[sum->other] = outputOf(value), missing.insert(sum->other);
  };
  for (Value result : results) {
    auto concat = result.getDefiningOp<attn::ConcatHeadsOp>();
    if (!concat) {
      placeSum(result);
      continue;
    }
    Output part = outputOf(result);
    for (Value value : concat.getParts()) {
      if (value.hasOneUse()) {
        parts[value] = part, missing.insert(value);
        placeSum(value);
      }
      part.firstHead += shapeOf(value)[1];
    }
  }
}

LogicalResult HostBuilder::writeConcat(attn::ConcatHeadsOp op, const Output &output) {
  Output part = output;
  Block &block = *site.host.getInsertionBlock();
  SmallVector<PartLaunches> launches;
  for (Value value : op.getParts()) {
    Operation *before = block.empty() ? nullptr : &block.back();
    bool written = parts.contains(value) && !missing.contains(value);
    if (!written && failed(write(value, part)))
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
  if (!attn::isInEpilogue(op))
    return writeModelRows(op.getResult(), output);
  FailureOr<OutputProjection> projection = projectionOf(op);
  if (failed(projection))
    return failure();
  Output projected = output;
  projected.projection = *projection;
  return write(op.getSource(), projected);
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
