//===- LogGradientRules.cpp - Gradients of readouts of exponents, chunk by chunk ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of ReadoutGradientRules.cpp where features are out of the range of f32 (the formulas: Terms/LogReadoutGradients.cpp):
//
//   queries:  chunks from the first on:   w, c of pairs as forwards (LogChunkedRegion.cpp);  a ⊙ ā, g, δ;  M, z, S as forwards
//   keys:     chunks from the last down:  b ⊙ b̄, v̄;  M' = max(M, max_i L(q) − c);
//                                         ζ, R = 2^(M − M') (ζ, R) + Σ_i 2^(L(q) − c − M') (−δ, ō) / g
//
// The second begins with the cotangents of the last state, and leaves those of the first. Where keys enter with shares of themselves, sums over them
// have these, and what is made of the others is their cotangents.
//
// g, δ and c of each row go from the first to the second. Both have a short way for steady chunks on a CPU: in which no exponent of what enters the
// state is above its unit by more than the headroom.
//
//===----------------------------------------------------------------------===//
#include "LogGradientRules.h"

#include "GradientRules.h"
#include "HostBuilder.h"
#include "Regions/ChunkStage.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

namespace {
/// What both passes read at a chunk.
struct LogChunk {
  LogChunk(attn::CausalReadoutGradientOp op, RegionDraft &draft, const ChunkStage &chunks)
      : draft(draft), rows(chunks.rows()), keys(chunks.keys()), guard(op.getGuardAttr()), decay(op.getDecay()), query(draft.read(op.getQueryFeatures(), rows)),
        own(KeySums(op), draft, keys, keys), given(draft.read(op.getNumerator(), rows)),
        state(std::make_shared<BoundSource>("state", Axis::Query, Representation::Scaled)),
        unit(std::make_shared<BoundSource>("unit", Axis::Query, Representation::Plain)) {
    bands = attn::bandCount(own.map.getFeatureMap(), own.map.getSource().getType().getDimSize(3));
    isNormalized = own.map.getFeatureMap().isFavor();
    features = op.getKeyFeatures().getType().getDimSize(3), width = cast<RankedTensorType>(op.getValue().getType()).getDimSize(3);
    f32 = Float32Type::get(op.getContext());
  }

  bool hasShortcut() const { return draft.problem.schedule.getTarget() == tile::TargetKind::CPU && !decay; }
  /// What the stages store of the state's part in the cotangents of exponents, for those of decay.
  RegionOutput decayShares(Source ofState, Axis axis, Value memory) const {
    return storedRows(decaysChannels(decay) ? ofState : term(terms::rowSums(), {ofState}), axis, memory);
  }
  /// What b, v and their exponents l add to the state, as often as w says; null: once.
  StepForm sums(Source b, Source v, Source l, Source w = nullptr) const {
    StepForm step{terms::state(features, width, /*wide=*/true, static_cast<bool>(w)), {std::move(b), std::move(v), std::move(l)}};
    if (w)
      step.operands.push_back(std::move(w));
    return step;
  }

  RegionDraft &draft;
  Place rows, keys;
  attn::DenominatorAttr guard;
  Value decay; ///< null: nothing decays
  int64_t bands, features, width;
  bool isNormalized; ///< features are m^{-1/2} times what their exponents say
  Type f32;
  Source query;                                   // exponents [T, m]
  KeysInUnits own;                                // exponents [T, m] and v [T, dv]
  Source given;                                   // ō [T, dv]
  std::shared_ptr<const BoundSource> state, unit; // (M, z, S) or (M, ζ, R); the unit behind the chunk
};

/// L(q) − c, δ and g of the rows of a chunk, which the first pass has left, and what they add to the state.
struct LeftRows {
  LeftRows(const LogChunk &chunk, const QuotientRows &quotient) {
    auto read = [&](Value memory) { return fusion::memory(memory, {entryOf(Axis::Batch), entryOf(chunk.rows.head), kernel::rowsOf(Axis::Query)}); };
    auto none = attn::DenominatorAttr::get(chunk.f32.getContext(), 0, 0);
    query = term(terms::existing(Axis::Query), {term(terms::lowered(), {chunk.query, read(quotient.units)})});
    delta = read(quotient.cotangents), divisor = read(quotient.divisors);
    u = term(terms::normalize(none), {term(terms::blocks(), {chunk.given, divisor})});
    w = term(terms::denominatorGradient(none), {delta, divisor});
  }

  Source query, delta, divisor;
  Source u, w; // ō / g, −δ / g
};
} // namespace

KernelRegion kernel::logQueriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                      const DecayShares &shares, const QuotientRows &quotient, const StateMemory &pieces) {
  ChunkStage chunks(draft.problem);
  LogChunk chunk(op, draft, chunks);
  Source least = term(terms::rowUnit(chunk.guard), {chunk.query, chunk.state});
  // The form of a chunk from its pairs and, without bands, its keys in the unit of the state.
  auto form = [&](int64_t bands, Source b, Source pairs) {
    SmallVector<Source> operands{chunk.query, bands > 0 ? chunk.own.key : b, chunk.state, std::move(pairs), chunk.own.value, chunk.given};
    if (bands > 0)
      operands.push_back(chunk.unit);
    if (chunk.own.shares)
      operands.push_back(chunk.own.shares);
    Source all = term(terms::logQueryGradient(chunk.guard, bands), operands);
    draft.defineResults(op, {Tiles{all, {0}, bands > 0 ? 5u : 4u}, Tiles(), Tiles(), Tiles()});
    StepForm step = chunk.sums(b, chunk.own.written, chunk.own.key, chunk.own.shares);
    for (const WrittenValue &each : outputs)
      llvm::append_range(step.outputs, everyRowOf(draft, each, chunk.rows));
    if (quotient.divisors)
      for (auto [tile, memory] : {std::pair(1u, quotient.divisors), {2u, quotient.cotangents}, {3u, quotient.units}})
        step.outputs.push_back(storedRows(term(terms::select({tile}), {all}), Axis::Query, memory));
    if (shares)
      step.outputs.push_back(chunk.decayShares(term(terms::select({4}), {all}), Axis::Query, shares.ofQueries));
    return step;
  };
  Stage stage = chunks.stage();
  stage.state = chunk.state, stage.unit = chunk.unit;
  if (chunk.decay)
    chunks.fade(stage, chunk.decay, draft, chunk.features);
  stage.begin = chunks.stateBefore(KeySums(op), draft, Representation::Scaled, pieces);
  if (chunk.hasShortcut()) {
    Source near = term(terms::inUnit(), {chunk.own.key, chunk.state});
    Source pairs = term(terms::logPlainContract(), {chunk.query, near, chunk.state, least});
    stage.shortcut = Shortcut{term(terms::rises(steadyHeadroom), {chunk.own.key, chunk.state}),
                              {{chunk.own.key, chunk.f32}, {chunk.own.value, chunk.f32}, {chunk.query, chunk.f32}, {chunk.given, chunk.f32}},
                              form(0, near, pairs)};
  }
  Source pairs = term(terms::logContract(chunk.bands), {chunk.query, chunk.own.key, chunk.unit, least});
  KernelRegion region = chunks.region(stream(stage, form(chunk.bands, term(terms::nearUnit(chunk.bands, /*offset=*/false), {chunk.own.key, chunk.unit}), pairs)));
  region.suffix = "query_gradients";
  return region;
}

KernelRegion kernel::logRowPiecesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const StateMemory &spans) {
  ChunkStage chunks(draft.problem);
  draft.plan.extents = chunks.piecesBehind(spans);
  LogChunk chunk(op, draft, chunks);
  LeftRows rows(chunk, quotient);
  Stage stage = chunks.stage();
  stage.extents = draft.plan.extents, stage.reverse = true, stage.unit = chunk.unit;
  KernelRegion region = stateKernel(draft.plan, "row_pieces");
  region.grid.push_back({Axis::Piece, tile::Axis::KeyPiece});
  Source a = term(terms::inUnit(), {rows.query, chunk.unit});
  region.outputs = spans.write(stream(stage, chunk.sums(a, rows.u, rows.query, rows.w)), {entryOf(Axis::Batch), entryOf(Axis::Head), chunks.spanOfPiece()});
  return region;
}

KernelRegion kernel::logKeysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const DecayShares &shares,
                                   const StateMemory &before, const StateMemory &pieces, OutputsOfKeys outputs) {
  ChunkStage chunks(draft.problem);
  LogChunk chunk(op, draft, chunks);
  LeftRows rows(chunk, quotient);
  auto form = [&](int64_t bands, Source a) {
    SmallVector<Source> operands{rows.query, chunk.own.key, chunk.state, chunk.given, rows.delta, rows.divisor, chunk.own.value};
    if (chunk.own.shares)
      operands.push_back(chunk.own.shares);
    Source all = term(terms::logKeyGradient(bands), operands);
    auto existing = [&](Source x) { return draft.problem.lengths ? term(terms::existing(Axis::Key), {x}) : x; };
    Source ofKeys = existing(term(terms::select({0}), {all})), ofShares = chunk.own.shares ? existing(term(terms::select({3}), {all})) : nullptr;
    StepForm step = chunk.sums(std::move(a), rows.u, rows.query, rows.w);
    step.outputs = outputs({ofKeys, term(terms::select({1}), {all}), ofShares});
    if (shares)
      step.outputs.push_back(chunk.decayShares(existing(term(terms::select({2}), {all})), Axis::Key, shares.ofKeys));
    return step;
  };
  Stage stage = chunks.stage();
  stage.state = chunk.state, stage.unit = chunk.unit, stage.reverse = true;
  if (chunk.decay)
    chunks.fade(stage, chunk.decay, draft, chunk.features);
  if (Source cotangent = shareOfCotangent(op, draft, chunks.keys()))
    stage.begin = term(terms::cotangentUnits(chunk.features, chunk.isNormalized), {cotangent});
  if (draft.problem.split)
    stage.begin = chunks.sumOfPiecesBehind(pieces, {entryOf(Axis::Batch), entryOf(Axis::Head)}, stage.begin);
  if (chunk.hasShortcut())
    stage.shortcut = Shortcut{term(terms::rises(steadyHeadroom), {rows.query, chunk.state}),
                              {{rows.query, chunk.f32}, {chunk.own.key, chunk.f32}, {chunk.own.value, chunk.f32}, {chunk.given, chunk.f32}},
                              form(0, term(terms::inUnit(), {rows.query, chunk.state}))};
  KernelRegion region = chunks.region(stream(stage, form(chunk.bands, term(terms::nearUnit(chunk.bands, /*offset=*/false), {rows.query, chunk.unit}))));
  region.suffix = "key_gradients";
  Source first = term(terms::sumsOfUnits(chunk.features, chunk.isNormalized), {region.effects.front()});
  if (before.matrix)
    chunks.store(region, first, before, /*reverse=*/true);
  if (shares.ofState)
    storeStateShares(region, first, op, draft, chunks.keys(), shares.ofState);
  return region;
}
