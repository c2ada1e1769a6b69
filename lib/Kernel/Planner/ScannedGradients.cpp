//===- ScannedGradients.cpp - Gradients of causal readouts, row by row -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the gradient (Terms/ReadoutGradients.cpp) every sum over pairs is what a scan reads, with p_ij and p̄_ij as the products of its rows:
//
//   queries, from the first on:   ā_i = Σ_{j ≤ i} (⟨ū_i, v_j⟩ + w̄_i) b_j     rows ū of Σ v bᵀ, and w̄_i times the running sum of b
//   keys, from the last up:       b̄_j = Σ_{i ≥ j} (⟨v_j, ū_i⟩ + w̄_i) a_i     rows v of Σ ū aᵀ, and the running sum of w̄ a
//                                 v̄_j = Σ_{i ≥ j} ⟨b_j, a_i⟩ ū_i              rows b of Σ a ūᵀ
//
// A scan's sums lie along the columns of its state, so the pass over keys carries R = Σ a ūᵀ and its transpose: four products with a state, where chunks have
// three and those of their pairs. Of a quotient g_i = ⟨a_i, Σ_{j ≤ i} b_j⟩, and ⟨ō_i, o_i⟩ = ⟨a_i, Σ_{j ≤ i} ⟨ū_i, v_j⟩ b_j⟩ is there before w̄ is asked for.
//
//===----------------------------------------------------------------------===//
#include "ScannedGradients.h"

#include "GradientRules.h"
#include "HostBuilder.h"
#include "Regions/ChunkStage.h"
#include "Regions/Regions.h"
#include "ScanRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using terms::ScanForm;

namespace {
/// What a pass carries: a state as memory has it, and its matrices transposed.
struct Carries {
  Carries(attn::CausalReadoutGradientOp op) : widths(featureWidths(op.getKeyFeatures())), columns(cast<RankedTensorType>(op.getValue().getType()).getDimSize(3)),
                                              divides(op.divides()), decays(static_cast<bool>(op.getDecay())) {}

  unsigned blocks() const { return widths.size(); }
  StateTiles state() const { return {blocks(), divides}; }
  /// [m, dv] of each block, or [dv, m].
  SmallVector<SmallVector<int64_t>> matrices(bool transposed) const {
    return llvm::map_to_vector(widths, [&](int64_t m) { return transposed ? SmallVector<int64_t>{columns, m} : SmallVector<int64_t>{m, columns}; });
  }
  SmallVector<SmallVector<int64_t>> sums() const {
    return divides ? llvm::map_to_vector(widths, [](int64_t m) { return SmallVector<int64_t>{m}; }) : SmallVector<SmallVector<int64_t>>();
  }

  SmallVector<int64_t, 2> widths;
  int64_t columns;
  bool divides, decays;
};
} // namespace

/// The sum of what rows read of others and of themselves, p_t z_t, where others' is asked for alone.
static GradientChunk::Sums withOwn(Source read, bool exclusive, Source p, Source z) {
  if (!exclusive)
    return {read, nullptr};
  return {term(terms::plusWeighed(), {read, std::move(z), std::move(p)}), read};
}

/// ⟨ū_t, v_t⟩, and w̄_t if the state has sums.
static Source ownCotangents(const GradientChunk &chunk) {
  Source products = term(terms::rowProducts(), {chunk.u, chunk.v});
  return chunk.divides ? term(terms::plus(), {products, chunk.w}) : products;
}

KernelRegion kernel::scannedQueriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs, const DecayShares &shares,
                                          const QuotientRows &quotient, const StateMemory &pieces) {
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  GradientChunk chunk(op, draft, rows, keys);
  Carries carries(op);
  unsigned blocks = carries.blocks();
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  // Of shares of decay rows are read without themselves, which are added then: a difference would lose them where all else has decayed.
  bool exclusive = static_cast<bool>(shares);
  Source running, before;
  if (chunk.divides) {
    running = runningSumsOf({.exclusive = exclusive}, chunk.b, tilesFrom(state, blocks, blocks), nullptr, KeySums(op), draft, keys);
    before = tilesFrom(running, 0, blocks);
  }
  if (op.getGuard())
    chunk.divideBy(term(terms::rowProducts(), {chunk.a, exclusive ? term(terms::plus(), {before, chunk.b}) : before}));
  Source scan = scanOf({.exclusive = exclusive}, {chunk.u, chunk.v, chunk.b, tilesFrom(state, 0, blocks)}, KeySums(op), draft, keys, ScanForm::Decay::Columns);
  Source read = tilesFrom(scan, 0, blocks);
  if (op.getGuard()) {
    Source all = withOwn(read, exclusive, term(terms::rowProducts(), {chunk.u, chunk.v}), chunk.b).all;
    chunk.w = term(terms::denominatorGradient(op.getGuardAttr()), {term(terms::rowProducts(), {chunk.a, all}), chunk.g});
  }
  GradientChunk::Sums sums = withOwn(running ? term(terms::plusWeighed(), {read, before, chunk.w}) : read, exclusive, ownCotangents(chunk), chunk.b);
  Source ofQueries = op.getLogarithms() ? term(terms::times(), {chunk.a, sums.all}) : sums.all;
  draft.defineResults(op, {blocksOf(ofQueries, blocks), Tiles(), Tiles(), Tiles()});
  Stage stage = chunks.stage();
  stage.state = state;
  if (Source begin = chunks.stateBefore(KeySums(op), draft, Representation::Plain, pieces, chunk.divides)) {
    SmallVector<Source> parts{term(terms::transposed(), {carries.state().matrices(begin)})};
    if (chunk.divides)
      parts.push_back(carries.state().sums(begin));
    stage.begin = term(terms::blocks(), parts);
  }
  SmallVector<SmallVector<int64_t>> shapes = carries.matrices(/*transposed=*/true);
  llvm::append_range(shapes, carries.sums());
  StepForm step{terms::carriedOn(shapes, carries.decays), {tilesFrom(scan, blocks, blocks)}};
  if (running)
    step.operands.push_back(tilesFrom(running, blocks, blocks));
  for (const WrittenValue &each : outputs)
    llvm::append_range(step.outputs, everyRowOf(draft, each, rows));
  llvm::append_range(step.outputs, chunk.leftByQueries(sums, quotient, shares));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "query_gradients";
  return region;
}

KernelRegion kernel::scannedKeysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const DecayShares &shares,
                                       const StateMemory &before, const StateMemory &pieces, OutputsOfKeys outputs) {
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  GradientChunk chunk(op, draft, rows, keys, quotient);
  Carries carries(op);
  unsigned blocks = carries.blocks();
  // R, then its transpose, then ζ.
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source running;
  bool exclusive = static_cast<bool>(shares);
  if (chunk.divides)
    running = runningSumsOf({.reverse = true, .exclusive = exclusive}, chunk.a, tilesFrom(state, 2 * blocks, blocks), chunk.w, KeySums(op), draft, keys);
  SmallVector<Source> ofKeys{chunk.v, chunk.u, chunk.a, tilesFrom(state, blocks, blocks)};
  if (running)
    ofKeys.push_back(tilesFrom(running, 0, blocks));
  Source keyScan = scanOf({.reverse = true, .exclusive = exclusive, .accumulates = chunk.divides}, ofKeys, KeySums(op), draft, keys, ScanForm::Decay::Columns);
  Source valueScan = scanOf({.reverse = true}, {chunk.b, chunk.a, chunk.u, tilesFrom(state, 0, blocks)}, KeySums(op), draft, keys, ScanForm::Decay::Rows);
  GradientChunk::Sums sums = withOwn(tilesFrom(keyScan, 0, blocks), exclusive, ownCotangents(chunk), chunk.a);
  auto existing = [&](Source x) { return draft.problem.lengths ? term(terms::existing(Axis::Key), {x}) : x; };
  KeyCotangents cotangents{existing(op.getLogarithms() ? term(terms::times(), {chunk.b, sums.all}) : sums.all), tilesFrom(valueScan, 0, 1), nullptr};
  if (op.getWrite())
    cotangents.shares = existing(term(terms::rowProducts(), {existingFeatures(op.getKeyFeatures(), draft, keys), sums.all}));
  Stage stage = chunks.stage();
  stage.state = state, stage.reverse = true;
  Source begin = shareOfCotangent(op, draft, keys);
  if (draft.problem.split)
    begin = chunks.sumOfPiecesBehind(pieces, {entryOf(Axis::Batch), entryOf(Axis::Head)}, begin);
  if (begin) {
    Source matrices = carries.state().matrices(begin);
    SmallVector<Source> parts{matrices, term(terms::transposed(), {matrices})};
    if (chunk.divides)
      parts.push_back(carries.state().sums(begin));
    stage.begin = term(terms::blocks(), parts);
  }
  SmallVector<SmallVector<int64_t>> shapes = carries.matrices(/*transposed=*/false);
  llvm::append_range(shapes, carries.matrices(/*transposed=*/true));
  llvm::append_range(shapes, carries.sums());
  StepForm step{terms::carriedOn(shapes, carries.decays), {tilesFrom(valueScan, 1, blocks), tilesFrom(keyScan, blocks, blocks)}};
  if (running)
    step.operands.push_back(tilesFrom(running, blocks, blocks));
  step.outputs = outputs(cotangents);
  if (shares)
    step.outputs.push_back(storedRows(chunk.shares(chunk.b, sums.ofOthers), Axis::Key, shares.ofKeys));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "key_gradients";
  Source left = region.effects.front(), sumsLeft = chunk.divides ? tilesFrom(left, 2 * blocks, blocks) : nullptr;
  Source cotangent = carries.state().join(tilesFrom(left, 0, blocks), sumsLeft);
  if (before.matrix)
    chunks.store(region, cotangent, before, /*reverse=*/true);
  if (shares.ofState)
    storeStateShares(region, cotangent, op, draft, keys, shares.ofState, chunks.inOtherParts(region, /*reverse=*/true));
  return region;
}
