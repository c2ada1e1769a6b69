//===- ChunkedRegion.cpp - Causal kernel attention, chunk by chunk ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for each chunk:  a = φ(q), b = φ(k);  w = lt(a bᵀ)
//                    num = a S + w v;  den = w 1 + a z;  o = num / guard(den)
//                    S = S + bᵀ v;  z = z + bᵀ 1
//
// With decay, of which d_t is the sum over the chunk up to token t and d over all of it:
//
//                    w_ij = e^(d_i − d_j) ⟨a_i, b_j⟩ for j ≤ i;  a_i counts e^(d_i) of S and z
//                    S = e^d S + Σ_j e^(d − d_j) b_j v_jᵀ;  z = e^d z + Σ_j e^(d − d_j) b_j
//
// Where every feature decays in its own way d stands inside the sum over features (ChannelDecay.cpp); where keys erase, what they
// write takes the place of v (EraseRules.h).
//
// On a GPU a program may have some columns of v and S only (`value_tile` of the schedule): each makes w and den for itself.
//
// Where rows are scanned (Planner/ScanRules.h) there are no pairs: o and S of every row are made one after another, and z is a running sum. Where keys
// erase the scan does, too.
//
// The sum of a row starts from what the incoming state gives and goes on inside the chunk, in this order whoever computed
// the state: a sequence that is cut at chunks gives the same bits as one that is not, if the states are the same.
//
//===----------------------------------------------------------------------===//
#include "ChunkStage.h"
#include "KeyStage.h"
#include "Planner/EraseRules.h"
#include "Planner/ScanRules.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// w of a chunk.
static Source weights(Source a, Source b, const KeySums &sums, RegionDraft &draft, const Place &keys) {
  if (decaysChannels(sums.decay))
    return term(terms::decayedPairs(draft.wide()), {a, b, gateAt(sums.decay, draft, keys)});
  Source w = term(terms::logits(Representation::Plain, 1, draft.wide()), {a, b});
  return term(terms::lowerTriangle(), {decayed(w, terms::DecaySpan::Between, sums.decay, draft, keys)});
}

bool kernel::writesOnly(attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs) {
  return llvm::all_of(outputs, [&](const WrittenValue &each) { return each.value == op.getWritten(); });
}

/// Has a step over chunks store what is read of them, and u, which keys that erase write: a run may leave out its tensor.
static void storeOutputs(StepForm &step, RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs, const Source &u, const ChunkStage &chunks) {
  SmallVector<WrittenValue, 2> read;
  llvm::copy_if(outputs, std::back_inserter(read), [&](const WrittenValue &each) { return each.value != op.getWritten(); });
  step.outputs = outputsOf(draft, read, chunks.rows());
  for (const auto &[value, output] : outputs) {
    if (value != op.getWritten())
      continue;
    Dimension rows = rowsOf(Axis::Key);
    rows.limit = Index::size(output.memory, 2);
    int64_t width = cast<RankedTensorType>(value.getType()).getDimSize(3);
    step.outputs.push_back(
        {u, output.memory, {entryOf(Axis::Batch), entryOf(chunks.keys().head), rows, draft.plan.isSliced() ? draft.plan.valueColumns() : columnsOf(width)}});
  }
}

/// The same row by row, with a S + w v as what a scan reads, and the denominators of running sums of b.
static KernelRegion scannedRegion(RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs, const StateMemory &before,
                                  const StateMemory &after, bool divides) {
  ChunkStage chunks(draft.problem);
  KeySums sums(op);
  Place rows = chunks.rows(), keys = chunks.keys();
  SmallVector<int64_t, 2> widths = featureWidths(sums.features);
  unsigned blocks = widths.size();
  StateTiles tiles(blocks, divides);
  Source a = draft.read(op.getQueryFeatures(), rows), b = existingFeatures(sums.features, draft, keys), v = draft.read(sums.value, keys);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  SmallVector<Source> operands{a, b, v, tiles.matrices(state)};
  terms::ScanForm form;
  if (sums.erase) {
    form.erases = true;
    operands.push_back(ErasingKeys(sums, draft, keys).erasedFeatures());
  }
  Source scan = scanOf(form, operands, sums, draft, keys, terms::ScanForm::Decay::Rows);
  if (form.erases)
    v = tilesFrom(scan, 2, 1); // what is written
  Source result = tilesFrom(scan, 0, 1), running;
  if (divides) {
    running = runningSumsOf({}, b, tiles.sums(state), nullptr, sums, draft, keys);
    result = term(terms::blocks(), {result, term(terms::rowProducts(), {a, tilesFrom(running, 0, blocks)})});
  }
  draft.define(op, result, divides ? 2 : 1);
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = chunks.stateBefore(sums, draft, Representation::Plain, before, divides);
  SmallVector<SmallVector<int64_t>> shapes;
  for (int64_t width : widths) {
    shapes.push_back({width, sums.width()});
    if (divides)
      shapes.push_back({width});
  }
  Source next = tiles.join(tilesFrom(scan, 1, blocks), running ? tilesFrom(running, blocks, blocks) : nullptr);
  StepForm step{terms::carriedOn(shapes, /*fades=*/sums.decay || sums.erase), {next}};
  storeOutputs(step, draft, op, outputs, v, chunks);
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  if (after.matrix)
    chunks.store(region, region.effects.front(), after);
  return region;
}

KernelRegion kernel::chunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs,
                                   const StateMemory &before, const StateMemory &after) {
  ChunkStage chunks(draft.problem);
  KeySums sums(op);
  bool divides = !op.getDenominator().use_empty() || after.sum;
  // Where nothing is read a chunk needs no scan to know what it writes.
  bool reads = !writesOnly(op, outputs) || draft.problem.keyTile() == 1;
  if (reads && scansRows(draft.problem, sums, !op.getDenominator().use_empty()))
    return scannedRegion(draft, op, outputs, before, after, divides);
  Place rows = chunks.rows(), keys = chunks.keys();
  Source a = draft.read(op.getQueryFeatures(), rows), b = existingFeatures(sums.features, draft, keys);
  Source v = draft.read(sums.value, draft.values(keys)), w = weights(a, b, sums, draft, keys);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  std::optional<ErasingKeys> erasing;
  if (sums.erase)
    erasing.emplace(sums, draft, keys), b = erasing->features(), v = erasing->written(erasing->values(), state);
  a = decayed(a, terms::DecaySpan::Since, sums.decay, draft, keys);
  draft.define(op, term(terms::readout(draft.wide(), divides), {a, state, w, v, b, v}), divides ? 2 : 1);
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = chunks.stateBefore(sums, draft, Representation::Plain, before, divides);
  StepForm step = erasing ? erasing->step(v, draft.valueTile(sums.width())) : keySums(sums, draft, b, v, keys, divides);
  storeOutputs(step, draft, op, outputs, v, chunks);
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  if (writesOnly(op, outputs))
    region.suffix = "written";
  if (after.matrix)
    chunks.store(region, region.effects.front(), after);
  return region;
}

KernelRegion kernel::copiedStateRegion(const Problem &problem, const StateMemory &from, const StateMemory &to) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  KernelRegion region = stateKernel(plan, "final_state");
  plan.addValueSlices(region);
  SmallVector<Dimension> at{entryOf(Axis::Batch), entryOf(Axis::Head)};
  region.outputs = to.write(from.read(at), at);
  return region;
}
