//===- TermRegions.cpp - Regions of terms, and what comes before them ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result is computed with all missing results that are made of the same reduction. First what their terms read is brought to
// memory, tokens before what is made of them; then sources are made of the terms, and stored by the region of the reduction's frame.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "StateRules.h"
#include "Terms.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// What comes before
//===----------------------------------------------------------------------===//

static InFlightDiagnostic refuse(Operation *op) {
  return op->emitError() << "expected attention that a kernel computes, such as attn.softmax or a kernel attention "
                            "in quadratic, state or chunked form (run attn-select-rewrites first), but got "
                         << op->getName() << " (not supported yet)";
}

/// Whether a term reads the weights of pairs, which are in no memory.
static bool readsPairs(Operation *reader, Value operand) {
  if (auto contract = dyn_cast<attn::ContractOp>(reader))
    return (sumsKeys(contract) || sumsQueries(contract)) && operand == contract.getLhs();
  if (isa<attn::SoftcapGradientOp>(reader) || (isa<attn::AddOp, attn::MultiplyOp, attn::ScaleOp>(reader) && arePairs(reader->getResult(0))))
    return true;
  return isa<attn::VisibleOp, attn::DecayOp, attn::PowerOp, attn::DiagonalBlocksOp, attn::OnlyBlocksOp, attn::RowSumOp,
             attn::RowMaximumOp, attn::DistanceSumsOp>(reader);
}

/// A kernel has one length of its keys, and none of its queries.
static LogicalResult checkLengths(Operation *reader, Value features, Side side) {
  attn::MapOp map = mapOf(features);
  if (!map || !map.getLengths() || isa<attn::GateOp>(reader)) // whoever reads the gate is asked
    return success();
  auto contract = dyn_cast<attn::ContractOp>(reader);
  if (contract && (timesState(contract) || multipliesKeys(contract))) // in kernels of blocks of keys
    return success();
  if (auto readout = dyn_cast<attn::CausalReadoutOp>(reader); readout && side == Side::Rows && readout.getQueryFeatures() == readout.getKeyFeatures())
    return success(); // keys that nothing is read by
  if (side == Side::Rows)
    return map.emitOpError() << "expected features of queries, or of results, without lengths (others are not supported yet)";
  Value lengths = isa<attn::StateOp, attn::CausalReadoutOp>(reader) ? KeySums(reader).lengths : map.getLengths();
  for (Operation *user : reader->getUsers()) // a mask of pairs
    if (auto visible = dyn_cast<attn::VisibleOp>(user); visible && visible.getLengths())
      lengths = visible.getLengths();
  if (lengths != map.getLengths())
    return reader->emitOpError() << "expected keys with one value of lengths, in the map and where weights or states are made of them";
  return success();
}

/// Whether an op of gradients reads its rows some columns at a time: from memory, where they are whole, whatever makes them.
static bool readsStoredRows(Operation *reader, const HostBuilder &host) {
  if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(reader))
    return isInSlices(gradient, host);
  if (isa<attn::StateOp, attn::ReadoutOp>(reader))
    return host.makesGradients() && host.slices().isSliced();
  auto contract = dyn_cast<attn::ContractOp>(reader);
  return contract && (timesStateInSlices(contract, host) || (makesState(contract) && host.slices().isSliced()));
}

/// Whether what an op computes is made of the keys, or queries, that a reduction streams.
static bool isBehindSameStream(Operation *op, Operation *reduction) {
  return reduction && llvm::any_of(op->getResults(), [&](Value result) {
    Operation *own = reductionOf(result);
    return own && streamOf(own) == streamOf(reduction);
  });
}

LogicalResult HostBuilder::prepareOperand(Operation *reader, Value value, Side side, OpSet &reads, OpSet &later) {
  Operation *op = value.getDefiningOp();
  const TermRule *rule = op ? ruleOf(op) : nullptr;
  if (isInParts(value) || isMadeInTile(reader, value))
    return success();
  if (readsPairs(reader, value) != arePairs(value))
    return reader->emitError() << "expected weights of pairs that the function makes where attn.visible, attn.row_sum or a sum "
                                  "over keys reads them, and nowhere else (weights are in no memory)";
  if (failed(checkLengths(reader, value, side)))
    return failure();
  if (side == Side::Memory) {
    if (memoryOf(value))
      return success();
    SmallVector<Operation *, 2> ops = op && isState(value) ? stateOps(op) : SmallVector<Operation *, 2>();
    if (ops.empty())
      return reader->emitError() << "expected a state that attn.state, attn.causal_readout or a sum over queries makes, or an argument, "
                                    "but got another (not supported yet)";
    for (Operation *each : ops) {
      if (failed(prepareOp(each, reads, later)))
        return failure();
      if (isMaterialized(each) || isa<attn::CausalReadoutOp>(each))
        later.insert(each);
    }
    return success();
  }
  if (rule && side == Side::Rows && shapeOf(value).size() == 3 && memoryOf(value))
    return success();
  Operation *reduction = rule ? reductionOf(value) : nullptr;
  if (reduction && side == Side::Rows && value.hasOneUse()) { // else what is made of the parts would be made again for every reader
    FailureOr<bool> inParts = bringParts(reduction);
    if (failed(inParts))
      return failure();
    reduction = *inParts ? nullptr : reduction;
  }
  bool isBehind = ruleOf(reader)->isEpilogue && isBehindSameStream(reader, reduction);
  bool throughMemory = !rule || (reduction && !isBehind) || (shapeOf(value).size() == 4 && readsStoredRows(reader, *this));
  if (throughMemory && cast<RankedTensorType>(value.getType()).getRank() == 4)
    return LogicalResult(read(value));
  if (throughMemory)
    return prepareNumbers(value);
  return prepareOp(op, reads, later);
}

/// Ops on entries of any shape are computed for tokens and for numbers of rows, whose heads are known.
static bool hasRows(Operation *op) {
  if (isState(op->getResult(0)))
    return true;
  if (auto sum = dyn_cast<attn::SumHeadsOp>(op))
    return !sum.getParameter() && shapeOf(sum.getResult()).size() == 4 && !ShapedType::isDynamic(shapeOf(sum.getResult())[1]);
  if (!isa<attn::ScaleOp, attn::AddOp, attn::MultiplyOp>(op))
    return true;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  return (shape.size() == 3 || shape.size() == 4) && !ShapedType::isDynamic(shape[1]) && (shape.size() == 3 || !ShapedType::isDynamic(shape[3]) || arePairs(op->getResult(0)));
}

/// Numbers of rows [batch, H, n]: by the kernel of the tokens that are made of the same reduction, if any are needed.
LogicalResult HostBuilder::prepareNumbers(Value value) {
  Operation *op = value.getDefiningOp();
  if (memoryOf(value))
    return success();
  if (!op || !ruleOf(op) || shapeOf(value).size() != 3)
    return op ? LogicalResult(refuse(op)) : LogicalResult(failure());
  for (Value other : op->getResults()) {
    if (shapeOf(other).size() != 4 || isState(other) || other.use_empty())
      continue;
    auto quotient = other.hasOneUse() ? dyn_cast<attn::NormalizeOp>(*other.user_begin()) : attn::NormalizeOp();
    if (failed(read(quotient ? Value(quotient.getOutput()) : other)))
      return failure();
  }
  if (memoryOf(value))
    return success();
  return writeNumbers(value, windowOf(value));
}

LogicalResult HostBuilder::prepareOp(Operation *op, OpSet &reads, OpSet &later) {
  if (!reads.insert(op))
    return success();
  const TermRule *rule = ruleOf(op);
  if (!rule || !hasRows(op) || (rule->keys == keysOfSum && !sumsAsWritten(op)))
    return refuse(op);
  if (auto rotation = dyn_cast<attn::RopeGradientOp>(op); rotation && failed(prepareRotation(rotation)))
    return failure();
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Operation *source = operand.getDefiningOp();
    if (number < rule->sides.size()) {
      if (failed(prepareOperand(op, operand, rule->sides[number], reads, later)))
        return failure();
    } else if (number < rule->sides.size() + rule->sizesOnly) {
      continue;
    } else if (source && !memoryOf(operand)) { // beside tokens there are parameters and lengths, which are arguments, and what is computed of all keys
      if (!isMaterialized(source))
        return refuse(source);
      if (failed(prepareOp(source, reads, later)))
        return failure();
    }
  }
  if (isMaterialized(op))
    later.insert(op);
  return success();
}

LogicalResult HostBuilder::materialize(Operation *op, const Problem &named) {
  SmallVector<Operation *, 2> together = stateOps(op);
  if (materialized.contains(together.front()))
    return success();
  if (failed(ruleOf(op)->materialize(together.front(), *this, named)))
    return failure();
  setMaterialized(together);
  return success();
}

void HostBuilder::setMaterialized(ArrayRef<Operation *> together) {
  materialized.insert(together.front());
  for (Operation *each : together)
    for (Value result : each->getResults())
      if (workspaces.contains(result))
        missing.remove(result);
}

LogicalResult HostBuilder::materializeAll(const OpSet &ops, const Problem &named) {
  Operation *firstState = nullptr; // of several, each has a name of its own
  for (Operation *op : ops) {
    Operation *state = isState(op->getResult(0)) && !isa<attn::SumHeadsOp>(op) ? stateOps(op).front() : nullptr;
    firstState = firstState ? firstState : state;
    bool another = state && state != firstState && !materialized.contains(state);
    if (failed(materialize(op, another ? startProblem() : named)))
      return failure();
  }
  return success();
}

LogicalResult HostBuilder::prepare(ArrayRef<WrittenValue> outputs, OpSet &reads, OpSet &later) {
  for (const WrittenValue &output : outputs) {
    Operation *op = output.value.getDefiningOp();
    if (arePairs(output.value))
      return op->emitError() << "expected sums of weights as results, but got the weights of pairs (they are in no memory)";
    // For what reads slices rows of features are stored with 0 where they do not exist.
    if (auto map = dyn_cast<attn::MapOp>(op); map && stateColumns == 0 && failed(checkLengths(map, map.getResult(), Side::Rows)))
      return failure();
    // Tokens may be results, too, but mechanisms that no rule knows are not to be read as such.
    bool tokens = !ruleOf(op) && rowsBehind(output.value) == output.value;
    if (failed(tokens ? LogicalResult(read(output.value)) : prepareOp(op, reads, later)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value HostBuilder::memoryOf(Value value) const {
  if (!value || isa<BlockArgument>(value))
    return memory(value);
  if (Value known = workspaces.lookup(value))
    return known;
  return missing.contains(value) ? Value() : memory(value);
}

const Tokens *HostBuilder::placeOf(Value value) const {
  auto found = computed.find(value);
  return found == computed.end() ? nullptr : &found->second;
}

const Tokens *HostBuilder::featuresOf(attn::MapOp op) const {
  auto found = features.find(op);
  return found == features.end() ? nullptr : &found->second;
}

const Tokens &HostBuilder::rowsOf(Value value) const {
  while (true) {
    if (const Tokens *tokens = placeOf(value))
      return *tokens;
    if (auto map = value.getDefiningOp<attn::MapOp>(); map && featuresOf(map))
      return *featuresOf(map);
    value = rowsOperand(value.getDefiningOp());
  }
}

Extent HostBuilder::extentOf(Value rows, Value lengths) const {
  Value memory = rowsOf(rows).memory;
  return {memory, static_cast<unsigned>(cast<MemRefType>(memory.getType()).getRank() - 2), 0, memoryOf(lengths)};
}

Source HostBuilder::stateOf(Value matrix, Value sum, ArrayRef<int64_t> widths, const Place &at, Value unit, const RegionDraft *slices,
                            Value features) const {
  Value memory = memoryOf(matrix);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape(); // [batch, heads, m, dv]
  StateMemory state{memory, memoryOf(sum), unit ? memoryOf(unit) : units.lookup(matrix), SmallVector<int64_t, 2>(widths), shape[3]};
  if (slices)
    state.valueTile = slices->plan.valueTile();
  if (slices && features)
    state.features = {shape[2]}, state.featureTile = slices->plan.featureTile(slices->channelsOf(features));
  return state.read({entryOf(Axis::Batch), Dimension{at.head, at.heads / shape[1]}});
}

Value HostBuilder::resultMemory(Value value, Value like) {
  if (Value result = memory(value))
    return workspaces[value] = result;
  SmallVector<int64_t> shape(shapeOf(value));
  shape[0] = ShapedType::kDynamic;
  TileBuilder host(site.host, site.loc);
  return workspaces[value] = orKept(value, site.workspace(shape, host.dim(rowsOf(like).memory, 0)));
}

Tokens HostBuilder::allocateRows(Value source, int64_t heads, int64_t columns) {
  const Tokens &rows = rowsOf(source);
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(rows.memory, 0), count = tokenCount(host, rows.memory);
  return {site.workspace({dynamic, heads, dynamic, columns}, {batch, count}), 0, heads, columns, {}};
}

StateMemory HostBuilder::allocateState(const KeySums &sums, const RegionDraft *slices) {
  StateMemory result;
  if (slices && slices->plan.isSliced()) { // blocks of features with whole numbers of slices
    TileBuilder host(site.host, site.loc);
    Value batch = host.dim(rowsOf(sums.features).memory, 0);
    bool inUnits = featureGroups.inUnits(sums.features.getDefiningOp());
    int64_t count = slices->channelsOf(sums.features);
    bool hasSum = static_cast<bool>(sums.sum);
    result = StateMemory::allocate(site, {.units = inUnits, .sums = hasSum}, batch, sums.heads(), {count}, sums.width());
    workspaces[sums.matrix] = result.matrix, units[sums.matrix] = result.unit;
    if (hasSum)
      workspaces[sums.sum] = result.sum;
    result.featureTile = slices->plan.featureTile(count), result.valueTile = slices->plan.valueTile();
    return result;
  }
  if (sums.needsSum())
    result.sum = resultMemory(sums.sum, sums.features);
  if (featureGroups.inUnits(sums.features.getDefiningOp())) {
    SmallVector<int64_t> shape(shapeOf(sums.sum));
    shape[0] = ShapedType::kDynamic;
    TileBuilder host(site.host, site.loc);
    result.unit = units[sums.matrix] = site.workspace(shape, host.dim(rowsOf(sums.features).memory, 0));
  }
  result.matrix = resultMemory(sums.matrix, sums.features);
  result.features = featureWidths(sums.features), result.width = sums.width();
  return result;
}

Value HostBuilder::allocateMeans(attn::EffattOp op, ArrayRef<int64_t> shape, Value like) {
  if (op.getState())
    return means[op] = resultMemory(op.getState(), op.getKey());
  TileBuilder host(site.host, site.loc);
  return means[op] = site.workspace(shape, host.dim(like, 0));
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

Problem HostBuilder::keyProblem(const Problem &named, Value keys, Value lengths, int64_t heads) const {
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule;
  problem.key = rowsOf(keys), problem.lengths = memoryOf(lengths);
  problem.query.heads = heads;
  return problem;
}

/// Of blocks of the rows of `first`.
Problem HostBuilder::rowsProblem(const Problem &named, const WrittenValue &first, const SeenKeys &seen) const {
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule;
  problem.query = rowsOf(first.value), problem.query.heads = shapeOf(first.value)[1];
  if (seen.keys)
    problem.key = rowsOf(seen.keys);
  problem.output = first.output;
  problem.causal = seen.causal, problem.window = seen.window, problem.lengths = memoryOf(seen.lengths);
  problem.shortLast = seen.window && packed;
  return problem;
}

SmallVector<RegionOutput, 1> kernel::outputsOf(RegionDraft &draft, ArrayRef<WrittenValue> values, const Place &at) {
  SmallVector<RegionOutput, 1> outputs;
  for (const auto &[value, output] : values) {
    Tiles tiles = draft.tiles(value, at);
    bool ofRows = shapeOf(value).size() == 3;
    if (tiles.which.size() == 1) {
      int64_t width = ofRows ? 0 : shapeOf(value)[3];
      Source o = output.lepe || output.projection ? draft.plan.finished(draft.read(value, at), output, width) : tiles.source;
      outputs.push_back(draft.plan.output(o, output, width));
      outputs.back().tile = o == tiles.source ? tiles.which.front() : 0;
      continue;
    }
    int64_t column = 0;
    for (auto [tile, width] : llvm::zip_equal(tiles.which, featureWidths(value))) {
      outputs.push_back(draft.plan.output(tiles.source, output, width, column));
      outputs.back().tile = tile, column += width;
    }
  }
  // Numbers of rows first: they die before the rows are made.
  llvm::stable_sort(outputs, [](const RegionOutput &a, const RegionOutput &b) { return a.dimensions.size() < b.dimensions.size(); });
  return outputs;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Value kernel::lengthsOfRows(Value value, const HostBuilder &host) {
  Operation *op = value.getDefiningOp();
  const TermRule *rule = op && !host.placeOf(value) && !host.isInParts(value) ? ruleOf(op) : nullptr;
  if (!rule)
    return Value();
  if (auto map = dyn_cast<attn::MapOp>(op))
    return map.getLengths();
  if (auto gradient = dyn_cast<attn::MapGradientOp>(op))
    return gradient.getLengths();
  if (auto existing = dyn_cast<attn::ExistingOp>(op))
    return existing.getLengths();
  if (auto weights = dyn_cast<attn::SequenceWeightsOp>(op))
    return weights.getLengths();
  for (auto [operand, side] : llvm::zip(op->getOperands(), rule->sides))
    if (Value lengths = side == Side::Rows ? lengthsOfRows(operand, host) : Value())
      return lengths;
  return Value();
}

/// Rows of keys, of which those that do not exist are 0.
LogicalResult HostBuilder::writeExistingRows(const Problem &named, ArrayRef<WrittenValue> outputs, Value lengths, OpSet reads) {
  Value first = outputs.front().value;
  Problem problem = keyProblem(named, first, lengths, shapeOf(first)[1]);
  problem.key.heads = problem.query.heads;
  RegionDraft draft(*this, problem, RegionPlanner::OfKeys, std::move(reads));
  Place at{Axis::Key, Axis::Head, problem.heads()};
  KernelRegion region = stateKernel(draft.plan, "tokens");
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  for (const WrittenValue &written : outputs)
    for (RegionOutput &each : everyRowOf(draft, written, at)) {
      each.source = term(terms::existing(Axis::Key), {each.source});
      region.outputs.push_back(each);
    }
  return buildKernel(region);
}

LogicalResult HostBuilder::writeRows(const Problem &named, Operation *reduction, ArrayRef<WrittenValue> outputs, OpSet reads) {
  const TermRule *rule = reduction ? ruleOf(reduction) : nullptr;
  SeenKeys seen = rule && rule->keys ? rule->keys(reduction) : SeenKeys();
  for (Operation *op : reads)
    if (ruleOf(op)->keys && !isInParts(op->getResult(0)) && ruleOf(op)->keys(op).window != seen.window)
      return op->emitError() << "expected reductions with one window where an output is made of several (not supported yet)";
  for (const WrittenValue &each : outputs)
    if (each.output.projection && outputs.size() > 1)
      return emitError(each.value.getLoc()) << "expected an output projection with `values = materialized` behind a kernel of several "
                                               "results, which has one head at a time, but got it in that kernel";
  Problem problem = rowsProblem(named, outputs.front(), seen);
  auto readout = dyn_cast_or_null<attn::ReadoutOp>(reduction);
  // Of gradients only what is multiplied with states is in slices: weights of pairs are made of whole rows.
  bool hasSlices = readout ? !readout.getDenominator().use_empty() : rule && !ofGradients;
  if (hasSlices) {
    problem.schedule = schedule;
    for (const WrittenValue &output : outputs)
      if (shapeOf(output.value).size() == 4)
        problem.value.width = std::max(problem.value.width, shapeOf(output.value)[3]);
    if (readout && problem.value.width == 0) // numbers of rows alone, which any slice of values gives
      problem.value.width = schedule.isSliced() ? schedule.getValueTile() : shapeOf(readout.getNumerator())[3];
  }
  RegionDraft draft(*this, problem, seen.keys ? RegionPlanner::OfAll : RegionPlanner::OfQueries, std::move(reads));
  Place at{Axis::Query, Axis::Head, problem.heads()};
  return buildKernel(draft.plan.region(rule ? rule->kernel : "tokens", outputsOf(draft, outputs, at)));
}

/// Whether one kernel can make both values of a reduction: a program that has blocks of keys has those of one head.
static bool haveProgramsOf(Value a, Value b, Operation *reduction) {
  return ruleOf(reduction)->frame != Frame::Keys || shapeOf(a)[1] == shapeOf(b)[1];
}

/// The value and the missing results that are made of its reduction.
SmallVector<WrittenValue, 2> HostBuilder::resultsOf(Value value, const Output &output, Operation *reduction) const {
  SmallVector<WrittenValue, 2> outputs{{value, output}};
  for (Value other : missing) {
    Operation *same = other == value || isState(other) ? nullptr : reductionOf(other);
    if (same && streamOf(same) == streamOf(reduction) && haveProgramsOf(other, value, reduction))
      outputs.push_back({other, outputOf(other)});
  }
  return outputs;
}

/// Whether all that read a value are computed by the region itself.
static bool readByRegion(Value value, const OpSet &reads) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return reads.contains(user); });
}

/// Rows that are made of a reduction, or of one with the same stream, and read by ops that are not: all of them come from one run of the
/// kernels.
static SmallVector<Value> readByOthers(Operation *reduction) {
  SmallVector<Value> values;
  auto isApart = [&](Operation *user) { return !user->hasTrait<OpTrait::IsTerminator>() && !isBehindSameStream(user, reduction); };
  for (Operation &op : *reduction->getBlock())
    for (Value value : op.getResults()) {
      Operation *own = shapeOf(value).size() > 2 ? reductionOf(value) : nullptr;
      if (own && streamOf(own) == streamOf(reduction) && llvm::any_of(value.getUsers(), isApart))
        values.push_back(value);
    }
  return values;
}

/// Whether a product of rows with a state has to be made for numbers of rows: others shall not make it once more.
static bool areOfState(Value numbers) {
  Operation *op = numbers.getDefiningOp();
  if (!op || !ruleOf(op) || shapeOf(numbers).size() != 3)
    return false;
  auto product = dyn_cast<attn::ContractOp>(op);
  auto ofState = product && multipliesRows(product) ? product.getRhs().getDefiningOp<attn::ContractOp>() : attn::ContractOp();
  return (ofState && timesState(ofState)) || llvm::any_of(op->getOperands(), areOfState);
}

/// Whether an op is computed for the rows of a value, where it is.
static bool isOfRows(Value value, const Operation *of) {
  Operation *op = value.getDefiningOp();
  const TermRule *rule = op ? ruleOf(op) : nullptr;
  if (!rule || op == of)
    return op == of;
  return llvm::any_of(llvm::zip(op->getOperands(), rule->sides), [&](auto operand) {
    return std::get<1>(operand) == Side::Rows && isOfRows(std::get<0>(operand), of);
  });
}

LogicalResult HostBuilder::writeTerms(Value value, const Output &output) {
  // Made beside another value of its reduction: its rows are copied. What is added in windows has their frame, which rows in memory do not have.
  if (placeOf(value) && !(output.lepe && output.lepe->inWindow))
    return writeRows(startProblem(), /*reduction=*/nullptr, WrittenValue{value, output}, OpSet());
  Operation *op = value.getDefiningOp(), *reduction = reductionOf(value);
  FailureOr<bool> inParts = bringParts(reduction);
  if (failed(inParts))
    return failure();
  auto isPlaced = [&] {
    const Tokens *made = placeOf(value);
    return made && made->memory == output.memory;
  };
  if (isPlaced())
    return success();
  if (*inParts)
    reduction = nullptr;
  bool ofKeys = isState(value) || (!reduction && ruleOf(op) && !ruleOf(op)->build);
  SmallVector<WrittenValue, 2> outputs{{value, output}};
  if (!ofKeys)
    outputs = reduction ? resultsOf(value, output, reduction) : resultsOfSameTokens(value, output);
  if (attn::ContractOp state = reduction || ofKeys ? attn::ContractOp() : stateOfSameTokens(outputs))
    return writeWithState(state, outputs);
  if (reduction && !ofKeys && frameOf(reduction) == Frame::Keys && failed(bringRowProducts(reduction)))
    return failure();
  OpSet reads, later;
  // A readout without a denominator is one of slots, which are numbered before it.
  auto readout = dyn_cast_or_null<attn::ReadoutOp>(reduction);
  bool tokensFirst = readout && readout.getDenominator().use_empty();
  Problem named;
  if (!tokensFirst)
    named = startProblem();
  if (failed(prepare(outputs, reads, later)))
    return failure();
  if (isPlaced())
    return success();
  if (tokensFirst)
    named = startProblem();
  SmallVector<WrittenValue, 2> beside; // what comes along for those that read it
  auto add = [&](Value other, Value memory) {
    outputs.push_back({other, Output{memory, 0, std::nullopt}}), beside.push_back(outputs.back());
  };
  auto isNew = [&](Value other) { return other != value && !memoryOf(other) && !placeOf(other) && !missing.contains(other); };
  Frame frame = reduction && !ofKeys ? frameOf(reduction) : Frame::None;
  if (frame == Frame::ChunkGradients || frame == Frame::Keys || frame == Frame::Rows) {
    for (Value other : readByOthers(reduction)) {
      if (!isNew(other) || isState(other) || !haveProgramsOf(other, value, reduction) || (frame == Frame::Rows && shapeOf(other).size() == 3))
        continue;
      const WrittenValue alone{other, Output()};
      if (failed(prepare(alone, reads, later)))
        return failure();
      bool tokens = shapeOf(other).size() == 4;
      add(other, tokens ? allocateRows(rowsBehind(other), shapeOf(other)[1], shapeOf(other)[3]).memory : allocateNumbers(shapeOf(other)[1], rowsBehind(other), windowOf(other)));
    }
  }
  if (!reduction && !ofKeys) {
    for (Operation *each : reads)
      if (Value other = each->getResult(0); isOfRows(value, each) && areOfState(other) && isNew(other) && !readByRegion(other, reads))
        add(other, allocateNumbers(shapeOf(other)[1], rowsBehind(other), windowOf(other)));
  } else if (frame != Frame::ChunkGradients && frame != Frame::Keys) {
    for (Value other : reduction && !ofKeys ? reduction->getResults() : ResultRange(nullptr, 0))
      if (isNew(other) && shapeOf(other).size() == 3 && !other.use_empty() && !isState(other) && !readByRegion(other, reads))
        add(other, allocateNumbers(shapeOf(other)[1], rowsBehind(other), windowOf(other)));
  }
  if (frame == Frame::Keys) // what sums over keys add up that come along
    for (attn::ContractOp rows : sumsBeside(reads, streamOf(reduction)))
      if (failed(prepareOperand(rows, rows.getRhs(), Side::Keys, reads, later)))
        return failure();
  if (ofKeys)
    later.insert(op);
  auto isMapped = [](Operation *user) { return isa<attn::MapOp>(user) && attn::isMappedAlone(cast<attn::MapOp>(user)); };
  if (frame == Frame::States) // whose kernel has the units of the state
    later.remove_if([&](Operation *each) {
      return isa<attn::KeyMaximumOp>(each) && attn::isOfFeatures(each->getResult(0)) && llvm::none_of(each->getUsers(), isMapped);
    });
  if (failed(materializeAll(later, named)))
    return failure();
  if (ofKeys)
    return success();
  auto isHeadSum = [](Operation *op) { return isa<attn::SumHeadsOp>(op) && !isState(op->getResult(0)); };
  LogicalResult written = [&] {
    if (auto *sum = reduction ? reads.end() : llvm::find_if(reads, isHeadSum); sum != reads.end())
      return writeHeadSums(named, cast<attn::SumHeadsOp>(*sum), outputs, std::move(reads));
    switch (reduction ? frameOf(reduction) : Frame::Rows) {
    case Frame::Keys:
      return writeKeys(named, reduction, outputs, std::move(reads));
    case Frame::States:
      return writeStates(named, readout, outputs, std::move(reads));
    case Frame::ChunkGradients:
      return writeReadoutGradient(named, cast<attn::CausalReadoutGradientOp>(reduction), outputs, reads);
    case Frame::Chunks:
      return writeChunks(named, cast<attn::CausalReadoutOp>(reduction), outputs, std::move(reads));
    default:
      if (Value lengths = reduction ? Value() : lengthsOfRows(value, *this))
        return writeExistingRows(named, outputs, lengths, std::move(reads));
      return writeRows(named, reduction, outputs, std::move(reads));
    }
  }();
  for (const WrittenValue &each : outputs)
    missing.remove(each.value);
  for (const WrittenValue &each : beside)
    if (ArrayRef<int64_t> shape = shapeOf(each.value); shape.size() == 4)
      computed[each.value] = Tokens{each.output.memory, 0, shape[1], shape[3], {}};
    else
      workspaces[each.value] = each.output.memory;
  return written;
}
