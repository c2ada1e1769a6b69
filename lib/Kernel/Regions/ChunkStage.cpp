//===- ChunkStage.cpp - Causal attention chunk by chunk --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ChunkStage.h"

#include "HostBuilder.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

ChunkStage::ChunkStage(const Problem &problem) : problem(problem), plan(problem), extents(plan.extents) {
  if (!problem.split)
    return;
  SequenceCuts cuts = cutsOf(problem, problem.keyTile());
  auto parts = std::make_shared<Extents>(*plan.extents);
  Extent &part = (*parts)[Axis::Part];
  part.memory = (*parts)[Axis::Key].memory, part.dimension = (*parts)[Axis::Key].dimension;
  part.cuts = cuts;
  (*parts)[Axis::Query].ofPart = true;
  (*parts)[Axis::Piece].size = Index::first(Axis::Part) * cuts.perPart;
  extents = parts;
}

Stage ChunkStage::stage() const {
  Stage stage{Axis::Query, problem.keyTile(), {{"chunks", Border::Begin, Border::End, false}}, extents};
  stage.together = Axis::Key;
  if (problem.grouped)
    stage.group = Group{Axis::Head, Axis::SharedHead, problem.heads() / problem.sharedHeads()};
  return stage;
}

KernelRegion ChunkStage::region(Source stage) const {
  KernelRegion region{problem.name, "chunked", problem.schedule, {}, extents, {}, {std::move(stage)}};
  region.grid = {{Axis::Batch, tile::Axis::Batch}, {head(), tile::Axis::Head}};
  if (problem.split)
    region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  return region;
}

void ChunkStage::store(KernelRegion &region, const Source &state, StateMemory result) const {
  int64_t own = cast<MemRefType>(result.matrix.getType()).getDimSize(1), share = heads() / own;
  if (share > 1)
    result.unless = Index::first(head()) - Index::first(head()) / share * share;
  if (problem.split) { // the last part has no tokens behind it
    const Extent &part = (*extents)[Axis::Part];
    Index all = Index::size(part.memory, part.dimension), piece = part.cuts->pieceLength(all);
    Index behind = max(all - (Index::first(Axis::Part) + 1) * piece * part.cuts->perPart, 0);
    result.unless = result.unless ? result.unless + behind : behind;
    auto one = std::make_shared<Extents>(*region.extents);
    (*one)[Axis::Part].evenNone = true;
    region.extents = one;
  }
  region.outputs = result.write(state, {entryOf(Axis::Batch), Dimension{head(), share}});
}

Source ChunkStage::sumOfPieces(const StateMemory &spans, ArrayRef<Dimension> at, Source begin) const {
  Stage pieces{Axis::Piece, 1, {{"before", Border::Begin, Border::End, false}}, extents};
  pieces.begin = std::move(begin);
  SmallVector<Dimension> indices(at);
  indices.push_back(entryOf(Axis::Piece));
  return stream(pieces, {terms::compose(spans.representation(), spans.shapes(), /*squares=*/false, spans.transitionKind()),
                         {spans.read(indices)}});
}

Source ChunkStage::stateBefore(const KeySums &sums, const RegionDraft &draft, Representation as, const StateMemory &pieces, bool withSums) const {
  Source begin;
  if (sums.initialMatrix)
    begin = draft.host.stateOf(sums.initialMatrix, withSums ? sums.initialSum : Value(), featureWidths(sums.features), keys(),
                               sums.initialUnit);
  if (sums.initialUnit) {
    int64_t features = featureWidths(sums.features)[0];
    begin = term(as == Representation::Scaled ? terms::givenUnits(features) : terms::trueState(features), {begin});
  }
  return problem.split ? sumOfPieces(pieces, {entryOf(Axis::Batch), Dimension{head(), heads() / sums.heads()}}, begin) : begin;
}
