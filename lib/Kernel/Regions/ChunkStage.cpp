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
  plan.addValueSlices(region);
  if (problem.split)
    region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  return region;
}

std::shared_ptr<const Extents> ChunkStage::piecesBehind(const StateMemory &spans) const {
  auto pieces = std::make_shared<Extents>(*extents);
  Extent &piece = (*pieces)[Axis::Piece];
  piece.size = {}, piece.memory = spans.matrix, piece.dimension = 2, piece.begin = (*pieces)[Axis::Part].cuts->perPart;
  for (Axis axis : {Axis::Query, Axis::Key})
    (*pieces)[axis].ofPart = false, (*pieces)[axis].ofPiece = true;
  return pieces;
}

Dimension ChunkStage::spanOfPiece() const {
  Dimension place = entryOf(Axis::Piece);
  place.add = -(*extents)[Axis::Part].cuts->perPart;
  return place;
}

Index ChunkStage::inOtherParts(KernelRegion &region, bool reverse) const {
  if (!problem.split)
    return {};
  auto one = std::make_shared<Extents>(*region.extents);
  (*one)[Axis::Part].evenNone = true;
  region.extents = one;
  if (reverse)
    return Index::first(Axis::Part);
  const Extent &part = (*extents)[Axis::Part]; // the last part has no tokens behind it
  Index all = Index::size(part.memory, part.dimension), piece = part.cuts->pieceLength(all);
  return max(all - (Index::first(Axis::Part) + 1) * piece * part.cuts->perPart, 0);
}

void ChunkStage::store(KernelRegion &region, const Source &state, StateMemory result, bool reverse) const {
  int64_t own = cast<MemRefType>(result.matrix.getType()).getDimSize(1), share = heads() / own;
  if (share > 1)
    result.unless = Index::first(head()) - Index::first(head()) / share * share;
  if (Index others = inOtherParts(region, reverse))
    result.unless = result.unless ? result.unless + others : others;
  region.outputs = result.write(state, {entryOf(Axis::Batch), Dimension{head(), share}});
}

/// What spans in memory, which a stage reads one after another, make of `begin`.
static Source composed(Stage pieces, const StateMemory &spans, ArrayRef<Dimension> at, Source begin) {
  pieces.begin = std::move(begin);
  SmallVector<Dimension> indices(at);
  indices.push_back(entryOf(Axis::Piece));
  return stream(pieces, {terms::compose(spans.representation(), spans.shapes(), /*squares=*/false, spans.transitionKind()),
                         {spans.read(indices)}});
}

Source ChunkStage::sumOfPieces(const StateMemory &spans, ArrayRef<Dimension> at, Source begin) const {
  return composed({Axis::Piece, 1, {{"before", Border::Begin, Border::End, false}}, extents}, spans, at, std::move(begin));
}

Source ChunkStage::sumOfPiecesBehind(const StateMemory &spans, ArrayRef<Dimension> at, Source begin) const {
  auto behind = std::make_shared<Extents>(*extents);
  Index all = Index::size(spans.matrix, 2), first = Index::first(Axis::Part) * (*extents)[Axis::Part].cuts->perPart;
  (*behind)[Axis::Piece].size = all;
  Stage pieces{Axis::Piece, 1, {{"behind", first, all, false}}, behind};
  pieces.reverse = true;
  return composed(std::move(pieces), spans, at, std::move(begin));
}

Source ChunkStage::stateBefore(const KeySums &sums, const RegionDraft &draft, Representation as, const StateMemory &pieces, bool withSums) const {
  Source begin;
  if (sums.initialMatrix)
    begin = draft.host.stateOf(sums.initialMatrix, withSums || sums.initialUnit ? sums.initialSum : Value(), featureWidths(sums.features),
                               keys(), sums.initialUnit, plan.isSliced() ? &draft : nullptr);
  if (sums.initialUnit) { // z says which rows have a unit
    int64_t features = featureWidths(sums.features)[0];
    begin = term(as == Representation::Scaled ? terms::givenUnits(features) : terms::trueState(features), {begin});
    if (!withSums)
      begin = term(terms::select({0}), {begin});
  } else if (begin && as == Representation::Scaled) {
    begin = term(terms::unitsOfSums(featureWidths(sums.features)[0]), {begin});
  }
  return problem.split ? sumOfPieces(pieces, {entryOf(Axis::Batch), Dimension{head(), heads() / sums.heads()}}, begin) : begin;
}

void ChunkStage::fade(Stage &stage, Value decay, RegionDraft &draft, int64_t features) const {
  stage.left = std::make_shared<BoundSource>("left", Axis::Query, Representation::Scaled);
  stage.faded = term(terms::faded(/*ofCotangents=*/stage.reverse), {stage.left, decayOver(terms::DecaySpan::Whole, decay, draft, keys(), features)});
}
