//===- IssuedWork.cpp - What the warps of a GPU do -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"
#include "Shuffles.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <numeric>

using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Of a request of one lane, at most.
static constexpr double pieceBytes = 16;

void IssuedWork::move(double rows, double width, double bytesEach) {
  bytes += rows * width * bytesEach;
  wideBytes += std::fmod(width * bytesEach, pieceBytes) == 0 ? rows * width * bytesEach : 0;
}

void IssuedWork::moveHeads(double rows, double width, double heads, double bytesEach) {
  double headBytes = width * bytesEach, wide = 0;
  // Of so many heads the first begins where a piece does, and every head that does so begins as many pieces on.
  double period = pieceBytes / std::gcd(static_cast<int64_t>(headBytes), static_cast<int64_t>(pieceBytes));
  if (std::fmod(heads * headBytes, pieceBytes) == 0)
    wide = std::ceil(heads / period);
  bytes += rows * heads * headBytes;
  wideBytes += rows * wide * headBytes;
}

void IssuedWork::loadAlongRows(double elements, double bytesEach) {
  bytes += elements * bytesEach * schedule.getWarpGrid().columns;
}

void IssuedWork::loadAlongColumns(double elements, double bytesEach) {
  bytes += elements * bytesEach * schedule.getWarpGrid().rows;
}

void IssuedWork::add(const IssuedWork &other, double times) {
  bytes += times * other.bytes, wideBytes += times * other.wideBytes;
  products += times * other.products, tf32Products += times * other.tf32Products;
  shuffles += times * other.shuffles;
}

void IssuedWork::reduceAlongRows(double times, double rows) {
  shuffles += times * shufflesAlongRows(schedule.getWarpGrid(), rows);
}

void IssuedWork::reduceAlongColumns(double times, double columns) {
  shuffles += times * shufflesAlongColumns(schedule.getWarpGrid(), columns);
}

void IssuedWork::loadToRegisters(double times, double rows, double columns, double bytesEach, double width) {
  if (bytesEach == 4)
    storeRegisters(times, rows, columns, bytesEach, width); // a transposition is its own inverse
}

void IssuedWork::storeRegisters(double times, double rows, double columns, double bytesEach, double width) {
  if (std::fmod((width > 0 ? width : columns) * bytesEach, pieceBytes) == 0)
    shuffles += times * shufflesOfMove(schedule.getWarpGrid(), rows, columns, bytesEach);
}

void IssuedWork::swapHalves(double times, double rows, double columns) {
  shuffles += times * shufflesOfHalves(schedule.getWarpGrid(), rows, static_cast<int64_t>(columns));
}

static double padded(double size, double unit) { return std::ceil(size / unit) * unit; }

void IssuedWork::multiply(double times, double rows, double columns, double depth, Operands operands, bool narrow) {
  tile::WarpGrid warps = schedule.getWarpGrid();
  bool wide = schedule.getOperand().isF32();
  bool tf32 = wide || operands == Operands::F32 || operands == Operands::Exact ||
              (operands == Operands::Features && schedule.getOperand().isF16());
  // a2 b1 + a1 b2 + a1 b1; a number of 16 bits is one of tf32, and leaves no b2.
  double passes = !tf32 || !(wide || operands == Operands::Exact) ? 1 : narrow ? 2 : 3;
  // Every row of the grid of warps has 16 rows at a time, every column of it as many blocks of 8 columns.
  double area = padded(rows, 16.0 * warps.rows) * padded(std::ceil(columns / 8), double(warps.columns)) * 8;
  double adds = times * area * padded(depth, tf32 ? 8 : 16) * passes;
  products += adds;
  tf32Products += tf32 ? adds : 0;
}

double cost::storageBytes(const Sizes &z) { return z.schedule.getOperand().getIntOrFloatBitWidth() / 8.0; }

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void cost::loadQueries(IssuedWork &work, const Sizes &z, double rows) { work.move(rows, z.qw, z.q); }

void cost::loadKeys(IssuedWork &work, const Sizes &z, double rows) { work.move(rows, z.kw, z.k); }

bool cost::takesF32(const Sizes &z, Operands operands) {
  mlir::Type storage = z.schedule.getOperand();
  return operands == Operands::Storage ? storage.isF32() : operands != Operands::Features || !storage.isBF16();
}

/// The halves of rows change places to be rotated, and a row is normalised by two sums.
static void takeSteps(IssuedWork &work, double tiles, double rows, double width, bool halves, bool norm) {
  if (halves)
    work.swapHalves(tiles, rows, width);
  if (norm)
    work.reduceAlongRows(2 * tiles, rows);
}

void cost::takeQueries(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows) {
  work.loadToRegisters(tiles, rows, z.qw, z.q);
  takeSteps(work, tiles, rows, z.d, shape.queryHalves, shape.queryNorm);
}

void cost::takeKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows) {
  work.loadToRegisters(tiles, rows, z.kw, z.k);
  takeSteps(work, tiles, rows, z.d, shape.keyHalves, shape.keyNorm);
}

void cost::takeKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double rows,
                    Operands read) {
  if (shape.keyRope || shape.keyNorm || !takesF32(z, read))
    takeKeys(work, shape, z, tiles, rows);
}

void cost::takeValues(IssuedWork &work, const Sizes &z, double tiles, double rows, Operands read) {
  if (!takesF32(z, read))
    work.loadToRegisters(tiles, rows, z.dv, z.k);
}

void cost::loadTurns(IssuedWork &work, const Sizes &z, double blocks, bool rope) {
  work.loadAlongColumns(rope ? 3 * z.d * blocks : 0);
}

/// Rows of v that the taps of all tiles of a sequence of n tokens read: token t + shift where there is one. A tile that
/// ends past the sequence reads tokens of it for rows that do not exist, if the shift is back.
static double tapRows(const AttentionShape &shape, double n, double padding) {
  double rows = 0, edge = shape.taps == 9 ? 1 : 0;
  for (double y = -edge; y <= edge; ++y)
    for (double x = -1; x <= 1; ++x) {
      double shift = y * static_cast<double>(shape.tapColumns) + x;
      rows += std::max(0.0, n - std::abs(shift)) + (shift < 0 ? std::min(-shift, padding) : 0);
    }
  return rows;
}

void cost::storeOutput(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, double tileRows) {
  double points = z.points();
  work.move(points * z.n, z.dv, z.o);
  work.storeRegisters(tiles, tileRows, z.dv, z.o);
  if (!shape.taps)
    return;
  double taps = tiles * shape.taps; // values, and their weights, a column each, which a sum turns into a row
  work.loadToRegisters(taps, tileRows, z.dv, shape.tapBytes);
  work.reduceAlongRows(taps, z.dv);
  // Outside windows neighbours come from the whole sequence.
  double padding = z.rows() - z.n;
  double rows = shape.tapsInWindow ? points * tapRows(shape, z.n, padding)
                                   : z.batch * z.heads * tapRows(shape, z.windows * z.n, padding);
  work.move(rows, z.dv, static_cast<double>(shape.tapBytes));
  work.move(points * z.blocks * z.dv, static_cast<double>(shape.taps), storageBytes(z));
  work.loadAlongColumns(shape.bias ? points * z.blocks * z.dv : 0, storageBytes(z));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static bool isRandom(const AttentionShape &shape) {
  return shape.map && (shape.map.isFavor() || shape.map.getKind() == attn::FeatureKind::FavorRelu);
}

/// Whether the largest square of ω's rows stabilizes the exponents of keys.
static bool hasSquares(const AttentionShape &shape) {
  return shape.map && shape.map.isFavor() && shape.map.getStabilizer() == attn::Stabilizer::Constant;
}

/// With no stages ω is loaded for each product that it is an operand of.
static bool loadsAgain(const Sizes &z) { return z.schedule.getStages() == 0; }

void cost::loadMap(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double blocks) {
  if (isRandom(shape) && !(shape.queryFolded && shape.keyFolded) && !loadsAgain(z))
    work.move(blocks * z.m, z.d, storageBytes(z));
  if (shape.map && shape.map.getKind() == attn::FeatureKind::Focused)
    work.loadAlongColumns(blocks * z.d, storageBytes(z));
}

void cost::multiplyMap(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows,
                       bool folded) {
  if (!isRandom(shape) || folded)
    return;
  work.multiply(times, rows, z.m, z.d, Operands::Exact, /*narrow=*/storageBytes(z) < 4);
  work.move(loadsAgain(z) ? times * z.m : 0, z.d, storageBytes(z));
}

/// Sums and maxima of the rows of a token in its map (lib/Kernel/FeatureMaps.cpp).
static double reductionsOfMap(const AttentionShape &shape, bool key) {
  if (!shape.map)
    return 0;
  if (shape.map.getKind() == attn::FeatureKind::Focused) // the largest entry, the norms before the power and after it
    return 3;
  if (!shape.map.isFavor())
    return 0;
  if (key) // |k|²
    return 1;
  if (shape.runningMaximum) // that of a query is in its maximum, which is that of what reads it
    return 0;
  // |q|² or the row's maximum, which has it in it unless it is that of the projection alone.
  return shape.map.getStabilizer() == attn::Stabilizer::Projection ? 2 : 1;
}

void cost::mapQueries(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows) {
  multiplyMap(work, shape, z, times, rows, shape.queryFolded);
  work.reduceAlongRows(times * reductionsOfMap(shape, /*key=*/false), rows);
}

void cost::mapKeys(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times, double rows) {
  multiplyMap(work, shape, z, times, rows, shape.keyFolded);
  work.reduceAlongRows(times * reductionsOfMap(shape, /*key=*/true), rows);
}

void cost::spreadStabilizer(IssuedWork &work, const AttentionShape &shape, double blocks, double rows) {
  bool constant = hasSquares(shape) && !shape.runningMaximum;
  if (shape.keyMaximum) {
    work.move(blocks, 1);
    work.multiply(blocks, rows, 1, 1, Operands::Exact);
  }
  if (constant)
    work.reduceAlongRows(blocks,
                         static_cast<double>(shape.features)); // the squares; of queries alone nobody reads them
  work.reduceAlongRows(shape.keyMaximum || constant ? blocks : 0, rows);
}

llvm::SmallVector<double, 2> cost::featureBlocks(const AttentionShape &shape) {
  double m = static_cast<double>(shape.features);
  if (shape.map && shape.map.getKind() == attn::FeatureKind::Cosformer)
    return {m / 2, m / 2};
  return {m};
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

double cost::tilesOfPieces(const Sizes &z) {
  double piece = static_cast<double>(z.schedule.getPiece()), whole = std::floor(z.N / piece);
  return whole * std::ceil(piece / z.Tk) + std::ceil((z.N - whole * piece) / z.Tk);
}

IssuedWork cost::issuedMerge(const Sizes &z, double points, double rows, double columns, double vectors, double initial,
                             double tile) {
  IssuedWork work(z);
  double tiles = std::ceil(rows / tile);
  double read = points * (z.pieces + initial);
  work.move((read + points) * rows, columns);
  work.loadToRegisters(read * tiles, tile, columns);
  work.storeRegisters(points * tiles, tile, columns);
  work.loadAlongRows(read * rows * vectors);
  work.storeVector(points * rows * vectors);
  return work;
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

IssuedWorks cost::issuedWork(const AttentionShape &shape, const Sizes &z) {
  switch (shape.family) {
  case Family::Softmax:
  case Family::Polynomial:
    return issuedPairs(shape, z);
  case Family::Kernel:
    return issuedKernelAttention(shape, z);
  case Family::Polysketch:
    return issuedPolysketch(shape, z);
  case Family::Effatt:
    return issuedEffatt(shape, z);
  case Family::Eva:
    return issuedEva(shape, z);
  case Family::Agent:
    return issuedAgent(shape, z);
  case Family::Project:
  case Family::ProjectOutput:
  case Family::Compress:
  case Family::ProjectSlots:
  case Family::SlotSums:
    return issuedLayer(shape, z);
  }
  llvm_unreachable("every family is above");
}
