//===- ErasingGradientRules.cpp - Gradients of readouts whose keys erase ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With x = β ⊙ b, U = (I + L)⁻¹ (v − (e^d ⊙ x) S) and the other names of EraseRules.h and Terms/ReadoutGradients.cpp:
//
//   keys:     chunks from the last down:   û = Rᵀ b + pᵀ ū,   v̄ = (I + L)⁻ᵀ û,   b̄' = R U + p̄ᵀ a + L̄ᵀ x
//                                          R ← e^d R + (e^d ⊙ a)ᵀ ū − (e^d ⊙ x)ᵀ v̄
//   queries:  chunks from the first on:    ā,   x̄ = L̄ b − e^d ⊙ (S v̄),   b̄ = b̄' + β ⊙ x̄,   β̄ = b ⊙ x̄
//
// with L̄_ij = −⟨v̄_i, U_j⟩ for j < i. v̄ needs what comes behind and x̄ what came before: neither pass can do without rows that another has
// left, [batch, H, n] times dv (v̄) and m (b̄'). U is what the forward pass writes, which it leaves or which is made again.
//
// Every query head has all of this. Where several share keys, what each of them gives to these is added up behind the passes.
//
//===----------------------------------------------------------------------===//
#include "EraseRules.h"
#include "GradientChunk.h"
#include "GradientRules.h"

#include "HostBuilder.h"
#include "Regions/ChunkStage.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using terms::DecaySpan;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {
/// The passes, each with a draft of its own.
class ErasingPass {
public:
  ErasingPass(RegionDraft &draft, attn::CausalReadoutGradientOp op, StringRef name)
      : draft(draft), op(op), name(name), chunks(draft.problem), sums(op), width(shapeOf(op.getValue())[3]),
        state(std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain)), chunk(op, draft, chunks.rows(), chunks.keys()),
        erasing(sums, draft, chunks.keys()) {}

  /// Rows of each query head that another pass has left.
  Source rowsOfKeys(const kernel::Tokens &tokens) const {
    return draft.plan.tokens(tokens, Axis::Key, Axis::Head, draft.problem.heads());
  }
  /// U, of which only the rows of keys that exist are there.
  Source written() { return draft.read(op.getWritten(), chunks.keys()); }
  KernelRegion region(bool reverse, StepForm step, ArrayRef<RegionOutput> outputs) const {
    Stage stage = chunks.stage();
    stage.state = state, stage.reverse = reverse;
    stage.begin = reverse ? shareOfCotangent(op, draft, chunks.keys()) : chunks.stateBefore(sums, draft, Representation::Plain, {}, /*withSums=*/false);
    step.outputs.assign(outputs.begin(), outputs.end());
    KernelRegion region = chunks.region(stream(stage, std::move(step)));
    region.suffix = name;
    return region;
  }
  /// −x.
  static Source negated(Source x) { return term(terms::scale(-1), {std::move(x)}); }

  RegionDraft &draft;
  attn::CausalReadoutGradientOp op;
  std::string name;
  ChunkStage chunks;
  KeySums sums;
  int64_t width;
  std::shared_ptr<BoundSource> state;
  GradientChunk chunk;
  ErasingKeys erasing;
};

/// What passes leave for others.
struct Rows {
  kernel::Tokens values, keys;          ///< v̄, b̄'
  kernel::Tokens ofKeys, ofErase;       ///< b̄ and β̄ of each query head, of those that share keys; else no memory
};
} // namespace

static KernelRegion keysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const Rows &rows, const DecayShares &shares, const StateMemory &before,
                               ArrayRef<WrittenValue> outputs) {
  ErasingPass pass(draft, op, "key_gradients");
  GradientChunk &chunk = pass.chunk;
  chunk.v = pass.written();
  Source reading = term(terms::valueReadoutGradient(draft.wide(), /*divides=*/false),
                        {chunk.left(chunk.b, DecaySpan::Until), pass.state, chunk.pairs(), chunk.u});
  Source ofValues = term(terms::product(/*transposed=*/true), {pass.erasing.solution(), reading}), taken = ErasingPass::negated(ofValues);
  Source begin = chunk.carried(chunk.v, pass.state, DecaySpan::Until, terms::Carried::Matrix);
  Source erased = chunk.sumsOfOthers(begin, chunk.products(taken, chunk.v), pass.erasing.erasedFeatures(), /*transposed=*/true);
  GradientChunk::Sums sums = chunk.sums(erased, chunk.cotangents(), chunk.a, /*transposed=*/true, static_cast<bool>(shares));
  draft.defineResults(op, SmallVector<Tiles>(op.getNumResults(), Tiles{ofValues}));
  SmallVector<RegionOutput, 4> stores{storedRows(ofValues, Axis::Key, rows.values.memory), storedRows(sums.all, Axis::Key, rows.keys.memory)};
  for (const WrittenValue &each : outputs)
    llvm::append_range(stores, everyRowOf(draft, each, pass.chunks.keys()));
  if (shares)
    stores.push_back(storedRows(chunk.shares(chunk.b, sums.ofOthers), Axis::Key, shares.ofKeys));
  KernelRegion region = pass.region(/*reverse=*/true,
                                    pass.erasing.step({{chunk.left(chunk.a, DecaySpan::Since), chunk.u},
                                                       {chunk.left(pass.erasing.erasedFeatures(), DecaySpan::Since), taken}},
                                                      pass.width),
                                    stores);
  if (before.matrix)
    pass.chunks.store(region, region.effects.front(), before);
  if (shares.ofState)
    storeStateShares(region, region.effects.front(), op, draft, pass.chunks.keys(), shares.ofState);
  return region;
}

static KernelRegion queriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const Rows &rows, const DecayShares &shares,
                                  ArrayRef<WrittenValue> outputs) {
  ErasingPass pass(draft, op, "query_gradients");
  GradientChunk &chunk = pass.chunk;
  chunk.v = pass.written();
  Source taken = ErasingPass::negated(pass.rowsOfKeys(rows.values));
  GradientChunk::Sums sums = chunk.sums(chunk.carried(chunk.u, pass.state, DecaySpan::Since, terms::Carried::Matrix), chunk.cotangents(), chunk.b,
                                        /*transposed=*/false, static_cast<bool>(shares));
  Source ofErased = chunk.sumsOfOthers(chunk.carried(taken, pass.state, DecaySpan::Since, terms::Carried::Matrix), chunk.products(taken, chunk.v), chunk.b,
                                       /*transposed=*/false);
  bool channels = shapeOf(op.getErase()).size() == 4;
  Source ofKeys = term(terms::plus(), {pass.rowsOfKeys(rows.keys), term(terms::times(), {ofErased, gateAt(op.getErase(), draft, pass.chunks.keys())})});
  Source ofErase = term(channels ? terms::times() : terms::rowProducts(), {chunk.b, ofErased});
  if (draft.problem.lengths)
    ofKeys = term(terms::existing(Axis::Key), {ofKeys}), ofErase = term(terms::existing(Axis::Key), {ofErase});
  SmallVector<Tiles> results(op.getNumResults());
  results[0] = {sums.all}, results[1] = {ofKeys}, results[cast<OpResult>(op.getEraseGradient()).getResultNumber()] = {ofErase};
  draft.defineResults(op, results);
  SmallVector<RegionOutput, 4> stores;
  if (rows.ofKeys)
    stores = {storedRows(ofKeys, Axis::Key, rows.ofKeys.memory), storedRows(ofErase, Axis::Key, rows.ofErase.memory)};
  for (const WrittenValue &each : outputs)
    llvm::append_range(stores, everyRowOf(draft, each, resultBehind(each.value, op).getResultNumber() == 0 ? pass.chunks.rows() : pass.chunks.keys()));
  if (shares) {
    Source own = chunk.shares(chunk.a, sums.ofOthers), erasedOnes = chunk.shares(pass.erasing.erasedFeatures(), ofErased);
    stores.push_back(storedRows(term(terms::plus(), {own, erasedOnes}), Axis::Query, shares.ofQueries));
  }
  return pass.region(/*reverse=*/false, pass.erasing.step(chunk.v, pass.width), stores);
}

LogicalResult HostBuilder::writeErasingGradient(const Problem &problem, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                                const DecayShares &shares, const StateMemory &before, const OpSet &reads) {
  int64_t features = shapeOf(op.getKeyFeatures())[3];
  Rows rows{allocateRows(op.getValue(), problem.heads(), problem.valueWidth()), allocateRows(op.getKeyFeatures(), problem.heads(), features), {}, {}};
  bool shared = problem.heads() != problem.sharedHeads();
  if (shared) {
    rows.ofKeys = allocateRows(op.getKeyFeatures(), problem.heads(), features);
    rows.ofErase = shapeOf(op.getErase()).size() == 4 ? allocateRows(op.getKeyFeatures(), problem.heads(), features)
                                                      : Tokens{allocateNumbers(problem.heads(), op.getKeyFeatures()), 0, problem.heads(), 1, {}};
  }
  SmallVector<WrittenValue, 2> ofValues, ofQueries, others;
  for (const WrittenValue &each : outputs) {
    unsigned number = resultBehind(each.value, op).getResultNumber();
    (number == 0 ? ofQueries : number == 2 ? ofValues : others).push_back(each);
  }
  if (!shared)
    llvm::append_range(ofQueries, others);
  RegionDraft keys(*this, problem, RegionPlanner::OfAll, reads), queries(*this, problem, RegionPlanner::OfAll, reads);
  if (failed(buildKernel(keysRegion(keys, op, rows, shares, before, shared ? ArrayRef<WrittenValue>() : ofValues))) ||
      failed(buildKernel(queriesRegion(queries, op, rows, shares, ofQueries))))
    return failure();
  if (!shared)
    return success();
  std::pair<unsigned, Tokens> sums[] = {{1, rows.ofKeys}, {2, rows.values}, {cast<OpResult>(op.getEraseGradient()).getResultNumber(), rows.ofErase}};
  for (const auto &[number, ofHeads] : sums)
    if (failed(writeSumsOfHeads(problem, op, number, outputs, ofHeads, reads)))
      return failure();
  return success();
}
