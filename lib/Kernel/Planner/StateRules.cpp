//===- StateRules.cpp - States of keys and what reads them ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    parallel over (batch, head of the state, piece of the keys)    S = φ(K)ᵀ V, z = φ(K)ᵀ 1 over the keys of the piece
//             composed by the last point, or by a kernel of its own (tile-split-reduction)
//   readout:  parallel over (batch, head, query block)                       o = φ(q) S / guard(φ(q) z)
//
// A piece has a fixed number of keys, so the order of sums depends on N alone. Of exponents, S and z are in units 2^M of each feature,
// and the readout in a unit of each row:
//
//   c = max_f L(q) + M;   a = g(q) 2^(L(q) + M − c);   o = a S / guard(a z)
//
// Some feature has a = g, and its z counts its largest key as g: the denominator is about 1 at least.
//
// EFFATT's state is one of the logarithms k; its readers want S_f / z_f, the mean value of feature f, and read with a = 2^(q − max_f).
//
//===----------------------------------------------------------------------===//
#include "StateRules.h"

#include "EraseRules.h"
#include "GradientRules.h"
#include "HostBuilder.h"
#include "Regions/HandedState.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Execution.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static int64_t sizeOf(Value value, unsigned dimension) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dimension);
}

/// The ops that sum these features up in such a way, in their order.
static SmallVector<attn::ContractOp> sumsOf(Value features, bool (*isThat)(attn::ContractOp)) {
  SmallVector<attn::ContractOp> sums;
  for (Operation *user : features.getUsers())
    if (auto contract = dyn_cast<attn::ContractOp>(user); contract && contract.getLhs() == features && isThat(contract))
      sums.push_back(contract);
  llvm::sort(sums, [](attn::ContractOp a, attn::ContractOp b) { return a->isBeforeInBlock(b); });
  return sums;
}

/// S and z of queries with this one among them: any S of features may be computed with any z of the same ones. Null: there is none.
static std::pair<attn::ContractOp, attn::ContractOp> querySums(attn::ContractOp op) {
  SmallVector<attn::ContractOp> matrices = sumsOf(op.getLhs(), makesState), sums = sumsOf(op.getLhs(), sumsFeatures);
  const SmallVector<attn::ContractOp> &own = makesState(op) ? matrices : sums;
  size_t place = llvm::find(own, op) - own.begin();
  auto at = [&](ArrayRef<attn::ContractOp> all) { return place < all.size() ? all[place] : attn::ContractOp(); };
  return {at(matrices), at(sums)};
}

SmallVector<Operation *, 2> kernel::stateOps(Operation *op) {
  auto ofHeads = dyn_cast<attn::SumHeadsOp>(op);
  auto contract = dyn_cast_or_null<attn::ContractOp>(ofHeads ? ofHeads.getSource().getDefiningOp() : op);
  if (!contract || multipliesStates(contract))
    return {op};
  auto [matrix, sums] = querySums(contract);
  if (!matrix)
    return {};
  SmallVector<Operation *, 2> ops;
  for (attn::ContractOp each : {matrix, sums}) {
    if (!each)
      continue;
    auto user = llvm::find_if(each->getUsers(), llvm::IsaPred<attn::SumHeadsOp>);
    if (ofHeads && user == each->user_end())
      return {};
    ops.push_back(ofHeads ? *user : each);
  }
  return ops;
}

KeySums::KeySums(Operation *op) {
  if (auto contract = dyn_cast<attn::ContractOp>(op)) {
    features = contract.getLhs(), value = contract.getRhs(), matrix = contract.getResult();
    if (attn::ContractOp sums = querySums(contract).second)
      sum = sums.getResult(), weights = sums.getRhs();
  } else if (auto state = dyn_cast<attn::StateOp>(op)) {
    features = state.getFeatures(), value = state.getValue(), lengths = state.getLengths();
    matrix = state.getState(), sum = state.getSum();
  } else if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(op)) {
    features = gradient.getKeyFeatures(), value = gradient.getValue(), lengths = gradient.getLengths();
    initialMatrix = gradient.getInitialState(), initialSum = gradient.getInitialSum(), initialUnit = gradient.getInitialScale();
    decay = gradient.getDecay(), erase = gradient.getErase(), write = gradient.getWrite(), ofGradient = true;
  } else {
    auto readout = cast<attn::CausalReadoutOp>(op);
    features = readout.getKeyFeatures(), value = readout.getValue(), lengths = readout.getLengths();
    matrix = readout.getState(), sum = readout.getSum();
    initialMatrix = readout.getInitialState(), initialSum = readout.getInitialSum();
    unit = readout.getScale(), initialUnit = readout.getInitialScale();
    decay = readout.getDecay(), erase = readout.getErase();
  }
  if (!lengths)
    lengths = lengthsOf(features);
}

attn::MapOp kernel::mapOf(Value features) {
  auto gate = features.getDefiningOp<attn::GateOp>();
  return (gate ? gate.getSource() : features).getDefiningOp<attn::MapOp>();
}

Value kernel::lengthsOf(Value features) {
  if (auto weights = features.getDefiningOp<attn::SequenceWeightsOp>())
    return weights.getLengths();
  attn::MapOp map = mapOf(features);
  return map ? map.getLengths() : Value();
}

int64_t KeySums::heads() const { return sizeOf(features, 1); }
int64_t KeySums::width() const { return sizeOf(value, 3); }
bool KeySums::needsSum() const {
  return sum && llvm::any_of(sum.getUsers(), [](Operation *user) {
    auto readout = dyn_cast<attn::ReadoutOp>(user);
    return !readout || !readout.getDenominator().use_empty();
  });
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// Whether features are tokens in memory, which are 0 where they do not exist.
static bool areLoaded(Value features) { return !features.getDefiningOp() || !ruleOf(features.getDefiningOp()); }

/// φ(0) ≠ 0: keys that do not exist are cleared after the map, unless they are their own features.
static bool areClear(Value features) {
  auto map = features.getDefiningOp<attn::MapOp>();
  return areLoaded(features) || (map && map.getFeatureMap().getKind() == attn::FeatureKind::Identity);
}

Source kernel::existingFeatures(Value features, RegionDraft &draft, const Place &at) {
  return areClear(features) ? draft.read(features, at) : draft.existing(features, at);
}

/// w of keys that exist.
static Source sharesAt(Value write, RegionDraft &draft, const Place &at) { return term(terms::existing(Axis::Key), {gateAt(write, draft, at)}); }

Source kernel::writtenFeatures(const KeySums &sums, RegionDraft &draft, const Place &at) {
  Source b = existingFeatures(sums.features, draft, at);
  return sums.write ? term(terms::times(), {b, sharesAt(sums.write, draft, at)}) : b;
}

Source kernel::gateAt(Value gate, RegionDraft &draft, const Place &at) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(gate.getType()).getShape();
  Value memory = draft.host.memoryOf(gate);
  if (shape.size() == 1)
    return fusion::memory(memory, {{at.head, at.heads / shape[0], 0, 1, 1}});
  SmallVector<Dimension> place{entryOf(Axis::Batch), {at.head, at.heads / shape[1]}, rowsOf(at.tokens)};
  if (shape.size() == 4)
    place.push_back(at.slice == Axis::Value     ? draft.plan.valueColumns()
                    : at.slice == Axis::Feature ? draft.plan.featureColumns(shape[3])
                                                : columnsOf(shape[3]));
  return fusion::memory(memory, place);
}

bool kernel::decaysChannels(Value decay) { return decay && cast<RankedTensorType>(decay.getType()).getRank() == 4; }

static Tiles buildGate(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::GateOp>(result.getOwner());
  Source gated = term(terms::times(), {draft.read(op.getSource(), at), gateAt(op.getGate(), draft, at)});
  unsigned blocks = featureWidths(op.getSource()).size();
  return {gated, llvm::to_vector<2>(llvm::seq<unsigned>(0, blocks)), blocks};
}

Source kernel::decayOver(terms::DecaySpan span, Value decay, RegionDraft &draft, const Place &at, int64_t features) {
  Source g = gateAt(decay, draft, {Axis::Key, at.head, at.heads, at.slice == Axis::Feature ? at.slice : std::nullopt});
  int64_t rank = cast<RankedTensorType>(decay.getType()).getRank();
  return term(rank == 1   ? terms::headDecay(span, features)
              : rank == 3 ? terms::tokenDecay(span, features)
                          : terms::channelDecay(span),
              {g});
}

Source kernel::decayed(Source x, terms::DecaySpan span, Value decay, RegionDraft &draft, const Place &at) {
  return decay ? term(terms::decayed(), {x, decayOver(span, decay, draft, at)}) : x;
}

StepForm kernel::keySums(const KeySums &sums, RegionDraft &draft, Source b, Source v, const Place &at, bool withSums) {
  SmallVector<int64_t, 2> widths = featureWidths(sums.features);
  if (draft.plan.isSliced())
    widths = {draft.plan.featureTile(draft.channelsOf(sums.features))};
  bool weighs = withSums && sums.weights;
  StepForm step{terms::featureSums(widths, draft.valueTile(sums.width()), draft.wide(), withSums, static_cast<bool>(sums.decay), weighs),
                {decayed(std::move(b), terms::DecaySpan::Until, sums.decay, draft, at), std::move(v)}};
  if (sums.decay)
    step.operands.push_back(decayOver(terms::DecaySpan::Whole, sums.decay, draft, at, widths[0]));
  if (weighs)
    step.operands.push_back(draft.existing(sums.weights, at));
  return step;
}

KeysInUnits::KeysInUnits(const KeySums &sums, RegionDraft &draft, const Place &features, const Place &values) {
  auto gate = sums.features.getDefiningOp<attn::GateOp>();
  Value exponents = gate ? gate.getSource() : sums.features;
  map = exponents.getDefiningOp<attn::MapOp>();
  key = existingFeatures(exponents, draft, features), written = value = draft.read(sums.value, values);
  Value write = gate ? gate.getGate() : sums.write;
  if (!write)
    return;
  shares = sharesAt(write, draft, values);
  written = term(terms::times(), {value, shares});
}

/// Cotangents of rows past the last one are quotients of nothing.
static bool areQuotients(const KeySums &sums) {
  return sums.matrix && sums.matrix.getDefiningOp<attn::ContractOp>() && !areLoaded(sums.value);
}

/// Rows that a kernel stores beside its sums read what these do.
static void readWithSums(const KeySums &sums, RegionDraft &draft, const Place &at) {
  if (!areClear(sums.features))
    draft.defineExisting(sums.features, at);
  if (areQuotients(sums))
    draft.defineExisting(sums.value, at);
  if (sums.weights)
    draft.defineExisting(sums.weights, at);
}

Source kernel::stateOver(const KeySums &sums, RegionDraft &draft, const Stage &keys, const Place &at, bool withSums, ArrayRef<RegionOutput> stored) {
  Place values = draft.values(at);
  Source value = areQuotients(sums) ? draft.existing(sums.value, values) : draft.read(sums.value, values);
  int64_t width = draft.valueTile(sums.width()), features = draft.plan.featureTile(draft.channelsOf(sums.features));
  if (draft.host.groups().inUnits(sums.features.getDefiningOp())) {
    assert(stored.empty() && "steps of exponents store no rows");
    KeysInUnits own(sums, draft, draft.channels(at), values);
    Source written = areQuotients(sums) ? term(terms::existing(Axis::Key), {own.written}) : own.written;
    return stateOfExponents(keys, own.key, written, features, width, draft.wide(), own.shares);
  }
  Source b = writtenFeatures(sums, draft, draft.channels(at));
  StepForm form = keySums(sums, draft, b, value, at, withSums);
  form.outputs.append(stored.begin(), stored.end());
  return stream(keys, form);
}

bool kernel::isMerged(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) { return attn::executionOf(user).ending == attn::Ending::LastBlock; });
}

attn::StateOp kernel::stateOfWeights(attn::SequenceLseOp op) {
  for (Operation *user : op->getUsers())
    if (auto weights = dyn_cast<attn::SequenceWeightsOp>(user); weights && weights.getSource() == op.getSource())
      for (Operation *reader : weights->getUsers())
        if (auto state = dyn_cast<attn::StateOp>(reader); state && state.getSum().use_empty())
          return state;
  return {};
}

/// The same where the kernel of the sums makes it, of values that are tokens in memory.
static attn::StateOp stateBesideSums(attn::SequenceLseOp op) {
  attn::StateOp state = stateOfWeights(op);
  Operation *values = state ? state.getValue().getDefiningOp() : nullptr;
  return values && ruleOf(values) ? attn::StateOp() : state;
}

static LogicalResult materializeSequenceLse(Operation *op, HostBuilder &host, const Problem &named);

/// All keys that exist, cut into pieces unless they are tokens that are known to be few: mapping them is worth pieces.
static Stage keysInPieces(const RegionDraft &draft, const KeySums &sums, StringRef merge) {
  Stage keys = existingKeys(draft.plan);
  auto memory = cast<MemRefType>(draft.problem.key.memory.getType());
  int64_t count = memory.getDimSize(memory.getRank() - 2), piece = draft.problem.schedule.getPiece();
  bool loaded = areLoaded(sums.features);
  keys.segments.front().masked = !loaded || sums.lengths || sums.decay; // keys past the last one decay nothing
  if (!loaded || ShapedType::isDynamic(count) || count > piece)
    keys.cut = StageCut{piece, merge.str()};
  return keys;
}

LogicalResult kernel::buildStateKernel(Operation *op, HostBuilder &host, const Problem &named, ArrayRef<WrittenValue> rows) {
  KeySums sums(op);
  Problem problem = host.keyProblem(named, sums.features, sums.lengths, sums.heads());
  problem.value.width = sums.width();
  bool ofRows = isa<attn::ContractOp>(op) && !host.groups().inUnits(op);
  if ((ofRows || (isa<attn::StateOp>(op) && sums.needsSum())) && !host.isStoredAsGiven(sums.matrix) && !host.isStoredAsGiven(sums.sum))
    problem.schedule = host.slices();
  RegionDraft draft(host, problem, RegionPlanner::OfKeys);
  StateMemory result = host.allocateState(sums, &draft);
  Place at{Axis::Key, Axis::Head, sums.heads()};
  bool merged = isMerged(op);
  Stage keys = keysInPieces(draft, sums, merged ? "" : problem.name + "_merge");
  SmallVector<Dimension> entry{entryOf(Axis::Batch), entryOf(Axis::Head)};
  if (sums.initialMatrix)
    keys.begin = host.stateOf(sums.initialMatrix, result.sum ? sums.initialSum : Value(), featureWidths(sums.features), at,
                              sums.initialUnit);
  SmallVector<RegionOutput, 1> stored;
  if (!rows.empty())
    readWithSums(sums, draft, at);
  for (const WrittenValue &each : rows)
    llvm::append_range(stored, everyRowOf(draft, each, at));
  KernelRegion region = stateKernel(draft.plan, !rows.empty() ? "tokens_state" : keys.cut && merged ? "merged_state" : "state");
  draft.plan.addValueSlices(region);
  draft.plan.addFeatureSlices(region, draft.channelsOf(sums.features));
  region.outputs = result.write(stateOver(sums, draft, keys, at, static_cast<bool>(result.sum), stored), entry);
  return host.buildKernel(region);
}

static LogicalResult materializeState(Operation *op, HostBuilder &host, const Problem &named) {
  KeySums sums(op);
  auto weights = sums.features.getDefiningOp<attn::SequenceWeightsOp>();
  if (auto lse = weights ? weights.getLse().getDefiningOp<attn::SequenceLseOp>() : attn::SequenceLseOp(); lse && stateBesideSums(lse) == op)
    return materializeSequenceLse(lse, host, named);
  if (auto state = dyn_cast<attn::StateOp>(op))
    if (attn::KeyMaximumOp maximum = maximumBeside(state, host))
      return materializeFeatureMaximum(maximum, host, named);
  return buildStateKernel(op, host, named);
}

KernelRegion kernel::piecesRegion(RegionDraft &draft, const KeySums &sums, const StateMemory &result) {
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  Extent &part = (*extents)[Axis::Part], &key = (*extents)[Axis::Key];
  part.memory = key.memory, part.dimension = key.dimension, part.cuts = cutsOf(draft.problem, draft.problem.keyTile());
  (*extents)[Axis::Piece].memory = result.matrix, (*extents)[Axis::Piece].dimension = 2;
  key.ofPiece = true;
  draft.plan.extents = extents;
  KernelRegion region = stateKernel(draft.plan, "state");
  region.grid.push_back({Axis::Piece, tile::Axis::KeyPiece});
  Place at{Axis::Key, Axis::Head, sums.heads()};
  Source state, left;
  if (sums.erase) {
    std::tie(state, left) = erasingSpan(sums, draft, at);
  } else if (result.transition) {
    int64_t features = result.features[0];
    Source whole = decayOver(terms::DecaySpan::Whole, sums.decay, draft, at, features);
    left = term(terms::transition(), {stream(existingKeys(draft.plan), {terms::decaySums(features), {whole}})});
  }
  if (!state)
    state = stateOver(sums, draft, existingKeys(draft.plan), at, static_cast<bool>(result.sum));
  region.outputs = result.write(state, {entryOf(Axis::Batch), entryOf(Axis::Head), entryOf(Axis::Piece)}, left);
  return region;
}

static Tiles buildState(OpResult result, RegionDraft &draft, const Place &at) {
  KeySums sums(result.getOwner());
  Source &state = draft.shared(result.getOwner());
  if (!state)
    state = stateOver(sums, draft, existingKeys(draft.plan), {Axis::Key, at.head, at.heads}, /*withSums=*/true);
  return {state};
}

SmallVector<Source> kernel::sumsAt(Value sums, ArrayRef<int64_t> widths, RegionDraft &draft, const Place &at) {
  Value memory = draft.host.memoryOf(sums);
  int64_t heads = cast<MemRefType>(memory.getType()).getDimSize(1); // [batch, G, m]
  SmallVector<Source> blocks;
  for (Dimension &columns : blockColumns(widths)) {
    if (isa<BlockArgument>(memory)) // which a run may leave out
      columns.limit = limitOfGiven(memory, columns.add + columns.count);
    blocks.push_back(fusion::memory(memory, {entryOf(Axis::Batch), {at.head, at.heads / heads}, columns}));
  }
  return blocks;
}

/// Of S and z that every query head has in memory.
static LogicalResult materializeStateSums(Operation *op, HostBuilder &host, const Problem &named) {
  auto matrix = cast<attn::SumHeadsOp>(op);
  KeySums sums(matrix.getSource().getDefiningOp());
  Problem problem = host.keyProblem(named, sums.features, Value(), sums.heads());
  problem.query = problem.key, problem.query.heads = sums.heads(), problem.key.heads = sizeOf(matrix.getResult(), 1);
  StateMemory ofHeads, result;
  ofHeads.features = result.features = featureWidths(sums.features), ofHeads.width = result.width = sums.width();
  ofHeads.matrix = host.memoryOf(sums.matrix), result.matrix = host.resultMemory(matrix.getResult(), sums.features);
  if (sums.sum)
    ofHeads.sum = host.memoryOf(sums.sum), result.sum = host.resultMemory(stateOps(op).back()->getResult(0), sums.features);
  return host.writeStateSums(problem, ofHeads, result);
}

const TermRule *kernel::ruleOfStateSums() {
  static const TermRule rule{.sides = {Side::Memory}, .materialize = materializeStateSums};
  return &rule;
}

const TermRule *kernel::ruleOfQuerySums() {
  static const TermRule rule{.sides = {Side::Rows, Side::Rows}, .materialize = materializeState};
  return &rule;
}

//===----------------------------------------------------------------------===//
// Readouts
//===----------------------------------------------------------------------===//

/// The state that a readout finds at a place.
static Source stateAt(attn::ReadoutOp op, RegionDraft &draft, const Place &at) {
  Operation *state = op.getState().getDefiningOp();
  if (state && !draft.host.memoryOf(op.getState()))
    return draft.shared(state);
  Value sum = op.getDenominator().use_empty() ? Value() : op.getSum();
  return draft.host.stateOf(op.getState(), sum, featureWidths(op.getFeatures()), at, Value(),
                            draft.plan.isSliced() ? &draft : nullptr, op.getFeatures());
}

static Tiles buildReadout(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::ReadoutOp>(result.getOwner());
  Source &read = draft.shared(op);
  bool divides = !op.getDenominator().use_empty(), inUnits = draft.host.groups().inUnits(op);
  if (!read) {
    // A GPU's products take the state as it was summed.
    bool wide = draft.wide() || draft.problem.schedule.getTarget() == tile::TargetKind::GPU || !divides;
    Source q = draft.read(op.getFeatures(), draft.channels(at)), state = stateAt(op, draft, at);
    if (draft.plan.isSliced()) {
      Stage slices = draft.plan.slices(draft.channelsOf(op.getFeatures()));
      int64_t width = draft.plan.valueTile();
      read = inUnits ? stream(slices, {terms::logReadouts(width, guardOf(op)), {q, state}})
                     : stream(slices, {terms::readouts(width), {q, state}});
    } else if (inUnits) {
      Source c = term(terms::rowUnit(guardOf(op)), {q, state});
      read = term(terms::stateReadoutInUnit(wide), {q, state, c});
    } else {
      read = term(terms::stateReadout(wide, divides), {q, state});
    }
  }
  if (inUnits)
    return {read, {result.getResultNumber() == 0 ? 2u : 1u}, 3};
  return {read, {result.getResultNumber()}, divides ? 2u : 1u};
}

static Tiles buildNormalize(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::NormalizeOp>(result.getOwner());
  if (!op.getDenominator())
    return draft.tiles(op.getNumerator(), at);
  Operation *sums = op.getNumerator().getDefiningOp();
  if (draft.host.groups().inUnits(sums))
    return {term(terms::normalizeInUnit(op.getGuard()), {draft.tiles(op.getNumerator(), at).source})};
  return {term(terms::normalize(op.getGuard()), {draft.readTogether(op->getOperands(), at)})};
}

//===----------------------------------------------------------------------===//
// EFFATT
//===----------------------------------------------------------------------===//

/// Tokens, or the slice of them at the site, in units of log 2.
static Source logarithms(Value tokens, RegionDraft &draft, const Place &at) {
  Source l = term(terms::scale(M_LOG2E, Representation::Log), {draft.read(tokens, draft.channels(at))});
  int64_t width = sizeOf(tokens, 3);
  return width % draft.plan.featureTile(width) == 0 ? l : term(terms::existingFeatures(width), {l});
}

/// Of a state in units, in memory.
static Source naturalLse(const Source &state) { return term(terms::scale(M_LN2), {term(terms::logSums(), {state})}); }

static LogicalResult materializeMeans(Operation *op, HostBuilder &host, const Problem &named) {
  auto effatt = cast<attn::EffattOp>(op);
  int64_t heads = sizeOf(effatt.getKey(), 1), features = sizeOf(effatt.getKey(), 3), width = sizeOf(effatt.getValue(), 3);
  Problem problem = host.keyProblem(named, effatt.getKey(), effatt.getLengths(), heads);
  problem.value.width = width, problem.schedule = host.slices();
  RegionDraft draft(host, problem, RegionPlanner::OfKeys);
  Place at{Axis::Key, Axis::Head, heads};
  Stage keys = existingKeys(draft.plan);
  keys.cut = StageCut{named.schedule.getPiece(), named.name + "_merge"};
  Source l = term(terms::existing(Axis::Key), {logarithms(effatt.getKey(), draft, at)});
  Source state = stateOfExponents(keys, l, draft.read(effatt.getValue(), draft.values(at)), draft.plan.featureTile(features),
                                  draft.valueTile(width), draft.wide());
  Value means = host.allocateMeans(effatt, {ShapedType::kDynamic, heads, features, width}, draft.problem.key.memory);
  KernelRegion region = stateKernel(draft.plan, "state");
  draft.plan.addValueSlices(region);
  draft.plan.addFeatureSlices(region, features);
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), draft.plan.featureColumns(features),
                                  draft.plan.isSliced() ? draft.plan.valueColumns() : columnsOf(width)};
  region.outputs = {{term(terms::stateMean(), {state}), means, place}};
  if (effatt.getLse()) {
    place.pop_back();
    Value sums = host.resultMemory(effatt.getLse(), effatt.getKey());
    region.outputs.insert(region.outputs.begin(), {naturalLse(state), sums, place});
  }
  return host.buildKernel(region);
}

/// The logarithms of the sums of each feature of the keys, and the state that comes along.
static LogicalResult materializeSequenceLse(Operation *op, HostBuilder &host, const Problem &named) {
  auto lse = cast<attn::SequenceLseOp>(op);
  if (host.memoryOf(lse.getResult()))
    return success();
  int64_t heads = sizeOf(lse.getResult(), 1), features = sizeOf(lse.getResult(), 2);
  attn::StateOp read = stateBesideSums(lse);
  if (read && failed(host.bringTokens(read.getValue()))) // nobody may have read them yet
    return failure();
  Problem problem = host.keyProblem(named, lse.getSource(), lse.getLengths(), heads);
  RegionDraft draft(host, problem, RegionPlanner::OfKeys);
  Place at{Axis::Key, Axis::Head, heads};
  Stage keys = existingKeys(draft.plan);
  keys.cut = StageCut{named.schedule.getPiece(), named.name + "_merge"};
  Source l = term(terms::existing(Axis::Key), {logarithms(lse.getSource(), draft, at)});
  Source v = read ? draft.read(read.getValue(), at) : term(terms::filled(Axis::Key, 1, 1), {});
  int64_t width = read ? sizeOf(read.getValue(), 3) : 1;
  Source state = stateOfExponents(keys, l, v, features, width, draft.wide());
  KernelRegion region = stateKernel(draft.plan, "state");
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(features)};
  region.outputs = {{naturalLse(state), host.resultMemory(lse.getResult(), lse.getSource()), place}};
  if (read) {
    place.push_back(columnsOf(width));
    region.outputs.push_back({term(terms::stateMean(), {state}), host.resultMemory(read.getState(), lse.getSource()), place});
  }
  return host.buildKernel(region);
}

static Tiles buildSequenceWeights(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::SequenceWeightsOp>(result.getOwner());
  Value sums = draft.host.memoryOf(op.getLse());
  Dimension head{at.head, at.heads / cast<MemRefType>(sums.getType()).getDimSize(1)};
  Source l = term(terms::existing(at.tokens), {logarithms(op.getSource(), draft, at)});
  Source lse = term(terms::scale(M_LOG2E), {fusion::memory(sums, {entryOf(Axis::Batch), head, columnsOf(sizeOf(result, 3))})});
  return {term(terms::inUnit(), {l, lse})};
}

/// ⟨S_f, S'_f⟩ of two states.
static LogicalResult materializeStateProducts(Operation *op, HostBuilder &host, const Problem &named) {
  auto contract = cast<attn::ContractOp>(op);
  Value a = contract.getLhs(), b = contract.getRhs();
  auto saved = a.getDefiningOp<attn::SavedOp>();
  Value features = KeySums((saved ? saved.getComputed() : a).getDefiningOp()).features;
  int64_t heads = sizeOf(a, 1);
  RegionDraft draft(host, host.keyProblem(named, features, Value(), heads), RegionPlanner::OfKeys);
  auto whole = [&](Value state) -> Source {
    return fusion::memory(host.memoryOf(state), {entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(sizeOf(a, 2)), columnsOf(sizeOf(a, 3))});
  };
  KernelRegion region = stateKernel(draft.plan, "state_products");
  region.outputs = {{term(terms::rowProducts(), {whole(a), whole(b)}), host.resultMemory(contract.getResult(), features),
                     {entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(sizeOf(a, 2))}}};
  return host.buildKernel(region);
}

const TermRule *kernel::ruleOfStateProducts() {
  static const TermRule rule{.sides = {Side::Memory, Side::Memory}, .materialize = materializeStateProducts};
  return &rule;
}

static Tiles buildEffatt(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::EffattOp>(result.getOwner());
  Value means = draft.host.meansOf(op);
  ArrayRef<int64_t> shape = cast<MemRefType>(means.getType()).getShape(); // [batch, G, d, dv]
  Dimension shared{at.head, at.heads / shape[1]};
  Source l = logarithms(op.getQuery(), draft, at);
  if (draft.plan.isSliced()) {
    Source s = fusion::memory(means, {entryOf(Axis::Batch), shared, draft.plan.featureColumns(shape[2]), draft.plan.valueColumns()});
    Source sums = stream(draft.plan.slices(shape[2]), {terms::softmaxPartial(draft.plan.valueTile()), {l, s}});
    return {term(terms::softmaxFinish(), {sums})};
  }
  Source a = term(terms::inRowUnit(), {l});
  Source s = fusion::memory(means, {entryOf(Axis::Batch), shared, columnsOf(shape[2]), columnsOf(shape[3])});
  auto none = attn::DenominatorAttr::get(op.getContext(), 0.0, 0.0);
  return {term(terms::normalize(none), {term(terms::weightedMean(), {a, s})})};
}

/// A state is made for its readers but where all of them have it made in their own kernel.
static bool isStateStored(Operation *op) {
  auto inItsKernel = [](Operation *user) { return attn::executionOf(user).values == attn::Values::Fused; };
  bool read = false, stored = false;
  for (Operation *user : op->getUsers())
    if (!user->hasTrait<OpTrait::IsTerminator>() && !isa<attn::KeepOp>(user)) // which the readers' kernel stores, too
      read = true, stored |= !inItsKernel(user);
  return stored || !read;
}

void kernel::addStateRules(TermRules &rules) {
  constexpr Side rows = Side::Rows, keys = Side::Keys, memory = Side::Memory;
  rules.add<attn::GateOp>({.sides = {rows}, .isEpilogue = true, .build = buildGate});
  rules.add<attn::EffattOp>({.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "readout", .build = buildEffatt,
                             .materialize = materializeMeans});
  rules.add<attn::SequenceLseOp>({.sides = {keys}, .materialize = materializeSequenceLse});
  rules.add<attn::SequenceWeightsOp>({.sides = {rows}, .build = buildSequenceWeights});
  rules.add<attn::StateOp>({.sides = {keys, keys}, .build = buildState, .materialize = materializeState, .isMaterialized = isStateStored});
  rules.add<attn::ReadoutOp>({.sides = {rows, memory, memory}, .frame = Frame::Rows, .kernel = "readout", .build = buildReadout});
  rules.add<attn::CausalReadoutOp>({.sides = {rows, keys, keys}, .frame = Frame::Chunks, .kernel = "chunked",
                                    .materialize = materializeState, .isMaterialized = [](Operation *) { return false; }});
  rules.add<attn::NormalizeOp>({.sides = {rows, rows}, .isEpilogue = true, .build = buildNormalize});
}
