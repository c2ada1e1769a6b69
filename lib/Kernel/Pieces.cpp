//===- Pieces.cpp - Pieces of a sequence, and parts of several ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Pieces.h"

#include "attune/Tile/KernelSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

SequenceCuts kernel::cutsOf(const Problem &problem, int64_t chunk) {
  int64_t parts = problem.schedule.getParts();
  return {parts, tile::piecesOfPart(parts), chunk};
}

Value SequenceCuts::pieceLength(TileBuilder &tiles, Value all) const {
  return tiles.mul(tiles.ceilDiv(all, parts * perPart * chunk), chunk);
}

Value SequenceCuts::partLength(TileBuilder &tiles, Value all) const { return tiles.mul(pieceLength(tiles, all), perPart); }

Value SequenceCuts::partCount(TileBuilder &tiles, Value all) const {
  Value length = tiles.max(partLength(tiles, all), tiles.index(1));
  return arith::CeilDivUIOp::create(tiles.builder, tiles.loc, all, length);
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Pieces::Pieces(const Problem &problem, int64_t chunk) : problem(problem), cuts(cutsOf(problem, chunk)) {}

Value Pieces::partCount(TileBuilder &host) const { return cuts.partCount(host, tokenCount(host, problem.key.memory)); }

Value Pieces::count(TileBuilder &host) const {
  if (problem.split)
    return host.mul(host.sub(host.max(partCount(host), host.index(1)), host.index(1)), cuts.perPart);
  return host.ceilDiv(tokenCount(host, problem.key.memory), problem.schedule.getPiece());
}
