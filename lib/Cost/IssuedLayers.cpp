//===- IssuedLayers.cpp - What the warps of a GPU do for projections and compressions -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"

#include "attune/Attn/CompressFirst.h"
#include "attune/Tile/KernelSizes.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

static constexpr double modelTile = tile::modelTile;

static IssuedWork issuedProject(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.heads, tiles = points * z.blocks, model = static_cast<double>(shape.model);
  // What prepare has folded with omega is f32, and keeps its bits.
  double weightBytes = shape.queryFolded ? 4 : z.o;
  Operands operands = shape.queryFolded ? Operands::Exact : Operands::Storage;
  IssuedWork work(z);
  work.move(points * z.n, model, z.o);
  work.moveHeads(z.batch * z.blocks * model, z.d, z.heads, weightBytes);
  work.loadAlongColumns(shape.bias ? tiles * z.d : 0, weightBytes);
  work.multiply(tiles * std::ceil(model / modelTile), z.Tq, z.d, modelTile, operands);
  work.loadToRegisters(tiles * std::ceil(model / modelTile), z.Tq, modelTile, z.o, model);
  work.move(points * z.n, z.d);
  work.storeRegisters(tiles, z.Tq, z.d);
  return work;
}

static IssuedWork issuedProjectOutput(const AttentionShape &shape, const Sizes &z) {
  double model = static_cast<double>(shape.model), blocks = std::ceil(model / modelTile), tiles = z.batch * z.blocks;
  IssuedWork work(z);
  work.move(z.batch * blocks * z.n * z.heads, z.d);
  work.move(tiles * z.heads * z.d, model, z.o);
  work.loadAlongColumns(shape.bias ? tiles * model : 0, z.o);
  work.multiply(tiles * blocks * z.heads, z.Tq, modelTile, z.d, shape.sums ? Operands::Features : Operands::Storage);
  work.loadToRegisters(tiles * blocks * z.heads, z.Tq, z.d);
  work.move(z.batch * z.n, model, z.o);
  work.storeRegisters(tiles * blocks, z.Tq, modelTile, z.o, model);
  return work;
}

/// E [k, N] times tokens, in blocks of slots; or times blocks of columns of the input, a head each.
static IssuedWork issuedCompress(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.shared, k = static_cast<double>(shape.rank), tile = std::min(k, z.Tq);
  double slots = std::ceil(k / tile), tiles = points * slots * tilesOfPieces(z);
  IssuedWork work(z);
  work.move(points * k, z.N, z.o);
  if (shape.model) // the last block may be narrower
    work.move(z.batch * static_cast<double>(shape.sharedWeights) * slots * z.N, static_cast<double>(shape.model), z.k);
  else
    loadKeys(work, z, points * slots * z.N);
  loadTurns(work, z, points * slots * z.pieces, shape.keyRope);
  work.multiply(tiles, tile, z.d, z.Tk, Operands::Storage);
  work.loadToRegisters(tiles, tile, z.Tk, z.o, z.N);
  takeKeys(work, shape, z, tiles, z.Tk, Operands::Storage);
  work.move(points * z.pieces * k, z.d);
  work.storeRegisters(points * z.pieces * slots, tile, z.d);
  return work;
}

/// Slots of the input, block after block of its columns, times W; a bias as often as the sums of E say.
static IssuedWork issuedProjectSlots(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.heads, k = static_cast<double>(shape.rank), tile = std::min(k, z.Tq);
  double slots = std::ceil(k / tile), model = static_cast<double>(shape.model);
  double width = std::min<double>(attn::inputColumns, model), blocks = std::ceil(model / width);
  IssuedWork work(z);
  work.move(points * k * blocks, width);
  work.moveHeads(z.batch * slots * model, z.d, z.heads, z.o);
  work.multiply(points * slots * blocks, tile, z.d, width, Operands::Storage);
  if (shape.bias) {
    work.loadAlongColumns(points * slots * z.d, z.o);
    work.loadAlongRows(points * k);
  }
  work.loadToRegisters(points * slots * blocks, tile, width);
  work.move(points * k, z.d);
  work.storeRegisters(points * slots, tile, z.d);
  return work;
}

static IssuedWork issuedSlotSums(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * static_cast<double>(shape.sharedWeights), k = static_cast<double>(shape.rank);
  IssuedWork work(z);
  double tile = std::min(k, z.Tq), tiles = points * std::ceil(k / tile) * z.keyTiles;
  work.move(points * k, z.N, z.o);
  work.loadToRegisters(tiles, tile, z.Tk, z.o, z.N);
  work.reduceAlongRows(tiles, tile);
  work.storeVector(points * k);
  return work;
}

IssuedWorks cost::issuedLayer(const AttentionShape &shape, const Sizes &z) {
  if (shape.family == Family::Project)
    return {issuedProject(shape, z)};
  if (shape.family == Family::ProjectOutput)
    return {issuedProjectOutput(shape, z)};
  if (shape.family == Family::ProjectSlots)
    return {issuedProjectSlots(shape, z)};
  if (shape.family == Family::SlotSums)
    return {issuedSlotSums(shape, z)};
  auto k = static_cast<double>(shape.rank);
  return {issuedCompress(shape, z), issuedMerge(z, z.batch * z.shared, k, z.d, 0, 0, std::min(k, z.Tq))};
}
