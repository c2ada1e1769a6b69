//===- LogChunkedRegion.cpp - Exponents of features, chunk by chunk --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head);  M, z, S of no key (LogFeatures.h)
//   for each chunk:  M' = max(M, max_j L(k));   w, c, b = pairs(L(q), L(k), M') with c ≥ max_f L(q) + M   (LogPairs.h)
//                    a = g(q) 2^(L(q) + M − c);   num = a S + w v;   den = a z + w 1;   o = num / guard(den)
//                    M, z, S = M', 2^(M − M') (z, S) + bᵀ [1 v]
//
// Where keys enter with shares of themselves, these are in the place of the 1, and v has them.
//
// z and S are carried multiplied by 2^stateOffset, as are the features b that LogPairs has made; not so beside steady
// chunks.
//
// On a CPU a chunk is steady if no logarithm of its keys is above M by more than `steadyHeadroom`. Every row sees the keys
// that M comes from, so M stays, and one product has the pairs:
//
//     c = max_f L(q) + M;   a = g(q) 2^(L(q) + M − c);   b = g(k) 2^(L(k) − M);   w = lt(a bᵀ)
//     num = a S + w v;   den = a z + w 1;   z, S = (z, S) + bᵀ [1 v]
//
// or, as a and b are numbers, its rows go through the state one after another (Planner/ScanRules.h). The denominator is at least 1: what a 2^-126 loses of any feature is below its last place. Of the first keys, and of
// those that rise further, the way above is taken.
//
// Where keys decay what came before them chunks have one row, and a chunk begins with what is left of M, z and S (FadedState.cpp): between keys of
// one chunk decay would be part of exponents, which would have no digits left for anything else.
//
//===----------------------------------------------------------------------===//
#include "ChunkStage.h"
#include "Planner/ScanRules.h"
#include "Regions.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

namespace {
/// The sources of a chunk.
struct LogChunk {
  LogChunk(const ChunkStage &chunks, RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs)
      : chunks(chunks), draft(draft), op(op), outputs(outputs), sums(op), guard(guardOf(op)) {
    KeysInUnits keys(sums, draft, chunks.keys(), chunks.keys());
    features = cast<RankedTensorType>(sums.features.getType()).getDimSize(3);
    bands = attn::bandCount(keys.map.getFeatureMap(), cast<RankedTensorType>(keys.map.getSource().getType()).getDimSize(3));
    query = draft.read(op.getQueryFeatures(), chunks.rows());
    key = keys.key, value = keys.written, shares = keys.shares;
    state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Scaled);
    unit = std::make_shared<BoundSource>("unit", Axis::Query, Representation::Plain);
    least = term(terms::rowUnit(guard), {query, state});
  }

  StepForm step(Source keys, Source pairs, bool offset) const;
  StepForm anyForm(bool offset) const;
  Shortcut steadyForm() const;
  StepForm steadyStep() const;
  StepForm scannedStep() const;

  const ChunkStage &chunks;
  RegionDraft &draft;
  attn::CausalReadoutOp op;
  ArrayRef<WrittenValue> outputs;
  KeySums sums;
  attn::DenominatorAttr guard;
  int64_t features, bands;
  Source query, key, value, least;                // exponents [T, m] twice, v [T, dv], units [T]
  Source shares;                                  // w [T] of keys, which v has already; null: all are 1
  std::shared_ptr<const BoundSource> state, unit; // (M, z, S), M'
};
} // namespace

/// The outputs from the pairs, then keys [T, m] into the state.
StepForm LogChunk::step(Source keys, Source pairs, bool offset) const {
  SmallVector<Source> read{query, state, pairs, value}, added{keys, value, key};
  if (shares)
    read.push_back(shares), added.push_back(shares);
  draft.define(op, term(terms::causalReadout(offset), read), 3);
  return {terms::state(features, sums.width(), /*wide=*/true, static_cast<bool>(shares)), added, outputsOf(draft, outputs, chunks.rows())};
}

StepForm LogChunk::anyForm(bool offset) const {
  Source pairs = term(terms::logContract(bands), {query, key, unit, least});
  return step(term(terms::nearUnit(bands, offset), {key, unit}), pairs, offset);
}

StepForm LogChunk::steadyStep() const {
  Source near = term(terms::inUnit(), {key, state});
  return step(near, term(terms::logPlainContract(), {query, near, state, least}), /*offset=*/false);
}

/// The same row by row.
StepForm LogChunk::scannedStep() const {
  Source b = term(terms::inUnit(), {key, state}), a = term(terms::readersInUnit(), {query, state, least});
  Source scan = scanOf({}, {a, b, value, term(terms::inTheirUnits({2}), {state})}, sums, draft, chunks.keys(), terms::ScanForm::Decay::Rows);
  Source running = runningSumsOf({}, b, term(terms::inTheirUnits({1}), {state}), shares, sums, draft, chunks.keys());
  Source denominator = term(terms::rowProducts(), {a, tilesFrom(running, 0, 1)});
  draft.define(op, term(terms::inUnits(), {least, denominator, tilesFrom(scan, 0, 1)}), 3);
  return {terms::carriedOn({{features}, {features, sums.width()}}, /*decays=*/false), {tilesFrom(running, 1, 1), tilesFrom(scan, 1, 1)},
          outputsOf(draft, outputs, chunks.rows())};
}

/// The form of chunks whose keys rise by no more than 2^steadyHeadroom.
Shortcut LogChunk::steadyForm() const {
  Type f32 = Float32Type::get(guard.getContext());
  Shortcut shortcut{term(terms::rises(steadyHeadroom), {key, state}), {{key, f32}, {value, f32}},
                    scansRows(draft.problem, sums, /*divides=*/true) ? scannedStep() : steadyStep()};
  // Heads of a group map their queries in the form that is taken: all of them would be live before it.
  if (draft.problem.heads() == chunks.heads())
    shortcut.both.push_back({query, f32});
  return shortcut;
}

KernelRegion kernel::logChunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs,
                                      const StateMemory &before, const StateMemory &after) {
  ChunkStage chunks(draft.problem);
  LogChunk chunk(chunks, draft, op, outputs);
  bool onCpu = draft.problem.schedule.getTarget() == tile::TargetKind::CPU, offset = !onCpu;
  Stage stage = chunks.stage();
  stage.state = chunk.state, stage.unit = chunk.unit;
  if (chunk.sums.decay)
    chunks.fade(stage, chunk.sums.decay, draft, chunk.features);
  stage.begin = chunks.stateBefore(chunk.sums, draft, Representation::Scaled, before);
  if (stage.begin && offset)
    stage.begin = term(terms::withOffset(), {stage.begin});
  if (onCpu && !chunk.sums.decay)
    stage.shortcut = chunk.steadyForm();
  KernelRegion region = chunks.region(stream(stage, chunk.anyForm(offset)));
  if (after.matrix) {
    auto given = after.unit ? terms::scalesOfUnits(chunk.features, offset) : terms::sumsOfUnits(chunk.features, /*normalized=*/false, offset);
    chunks.store(region, term(std::move(given), {region.effects.front()}), after);
  }
  return region;
}
