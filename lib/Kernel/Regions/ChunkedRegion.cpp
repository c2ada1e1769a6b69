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
// The sum of a row starts from what the incoming state gives and goes on inside the chunk, in this order whoever computed
// the state: a sequence that is cut at chunks gives the same bits as one that is not, if the states are the same.
//
//===----------------------------------------------------------------------===//
#include "ChunkStage.h"
#include "KeyStage.h"
#include "Planner/EraseRules.h"
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

KernelRegion kernel::chunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs,
                                   const StateMemory &before, const StateMemory &after) {
  ChunkStage chunks(draft.problem);
  KeySums sums(op);
  Place rows = chunks.rows(), keys = chunks.keys();
  Source a = draft.read(op.getQueryFeatures(), rows), b = existingFeatures(sums.features, draft, keys);
  Source v = draft.read(sums.value, keys), w = weights(a, b, sums, draft, keys);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  bool divides = !op.getDenominator().use_empty() || after.sum;
  std::optional<ErasingKeys> erasing;
  if (sums.erase)
    erasing.emplace(sums, draft, keys), b = erasing->features(), v = erasing->written(erasing->values(), state);
  a = decayed(a, terms::DecaySpan::Since, sums.decay, draft, keys);
  draft.define(op, term(terms::readout(draft.wide(), divides), {a, state, w, v, b, v}), divides ? 2 : 1);
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = chunks.stateBefore(sums, draft, Representation::Plain, before, divides);
  StepForm step = erasing ? erasing->step(v, sums.width()) : keySums(sums, draft, b, v, keys, divides);
  step.outputs = outputsOf(draft, outputs, rows);
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  if (after.matrix)
    chunks.store(region, region.effects.front(), after);
  return region;
}

KernelRegion kernel::copiedStateRegion(const Problem &problem, const StateMemory &from, const StateMemory &to) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  KernelRegion region = stateKernel(plan, "final_state");
  SmallVector<Dimension> at{entryOf(Axis::Batch), entryOf(Axis::Head)};
  region.outputs = to.write(from.read(at), at);
  return region;
}
