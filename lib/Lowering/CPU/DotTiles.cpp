//===- DotTiles.cpp - A dot by products of tiles -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of two tiles of columns (J)
//     for block of two tiles of rows (I)
//       four tiles of sums = 0, or the accumulator
//       for k in steps of 32:  sums += S[32 rows, k … k + 31] · V[k … k + 31, 32 columns]
//       C = sums
//
// A tile is never short of rows: the last block begins so much earlier and computes some rows twice. What a tile cannot
// do (a scaled accumulator, a scaled result to memory, the last number of an odd depth) is done to rows of the block,
// which goes to a buffer first.
//
//===----------------------------------------------------------------------===//
#include "DotBody.h"

#include "Amx.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Rows and columns of a block.
static constexpr int64_t blockSide = 2 * tileRows;

namespace {
/// A block of tiles: where it begins, and how large it is.
struct TileBlock {
  Value row, column;
  int64_t tilesDown, tilesAcross;
  int64_t done; ///< of its rows an earlier block has computed

  int64_t rows() const { return tilesDown * tileRows; }
};

/// Emits a dot function of tiles.
struct DotTiles {
  DotBody &body;
  Emit &emit;
  const DotShape &shape;
  TileNames names;
  Value buffer = {};

  explicit DotTiles(DotBody &body) : body(body), emit(body.emit), shape(body.shape), names{body.shape.tileRest} {}

  int64_t wholeSteps() const { return shape.inner / tileNumbers; }
  int64_t restPairs() const { return shape.inner / 2 % tileWords; }
  bool restInTiles() const { return restPairs() != 0 && restPairs() == names.rest; }
  /// Pairs that tiles multiply.
  int64_t tilePairs() const { return wholeSteps() * tileWords + (restInTiles() ? restPairs() : 0); }
  bool leavesNumbers() const { return 2 * tilePairs() != shape.inner; }
  bool isDirect(const TileBlock &block) const {
    bool inPlace = shape.accumulates && (block.done != 0 || shape.scale != Along::None || shape.spread != Along::None);
    return !shape.stores && !shape.multiplies && !leavesNumbers() && !inPlace;
  }

  void run();
  void strip(Value column, int64_t across);
  void block(const TileBlock &block, Value number);
  void fetch(Value number);
  void forTiles(const TileBlock &block, function_ref<void(int64_t, Value)> what);
  void products(const TileBlock &block);
  void step(const TileBlock &block, Value pair, bool whole);
  void finish(const TileBlock &block);
  int64_t restBlocks() const;
};
} // namespace

/// Every tile of sums, and the place of its first element in C.
void DotTiles::forTiles(const TileBlock &block, function_ref<void(int64_t, Value)> what) {
  for (int64_t i = 0; i < block.tilesDown; ++i)
    for (int64_t j = 0; j < block.tilesAcross; ++j) {
      Value row = emit.mul(emit.add(block.row, i * tileRows), shape.resultStep);
      what(names.sum(i, j), emit.add(row, emit.add(block.column, j * tileWords)));
    }
}

/// Products with the tiles that begin at a pair. From product to product one of A and B stays: of four products four
/// tiles are loaded, five if A and B have one place each.
void DotTiles::step(const TileBlock &block, Value pair, bool whole) {
  Type i16 = emit.getI16Type(), i32 = emit.getI32Type();
  Value stepOfA = emit.mul(body.rowStep, 2), stepOfB = emit.mul(body.vectorStep, 4);
  int64_t held[8];
  std::fill(std::begin(held), std::end(held), -1);
  for (int64_t n = 0; n < block.tilesDown * block.tilesAcross; ++n) {
    int64_t i = n / block.tilesAcross,
            j = i % 2 ? block.tilesAcross - 1 - n % block.tilesAcross : n % block.tilesAcross;
    int64_t a = whole ? names.a(i) : names.shortA(), b = whole ? names.b(j) : names.shortB();
    if (std::exchange(held[a], i) != i) {
      Value row = emit.mul(emit.add(block.row, i * tileRows), body.rowStep);
      loadTile(emit, a, emit.offset(body.scalars, emit.add(row, emit.mul(pair, 2)), i16), stepOfA);
    }
    if (std::exchange(held[b], j) != j) {
      Value row = emit.add(emit.mul(pair, body.vectorStep), block.column);
      loadTile(emit, b, emit.offset(body.vectors, emit.add(row, j * tileWords), i32), stepOfB);
    }
    multiplyTiles(emit, names.sum(i, j), a, b);
  }
}

void DotTiles::products(const TileBlock &block) {
  Value steps = emit.constant(wholeSteps());
  if (shape.operandDiagonal) { // A is zero beyond it
    Value end = body.innerEnd(block.row, block.rows(), block.column, block.tilesAcross);
    Value needed = arith::DivUIOp::create(emit, emit.add(end, tileNumbers - 1), emit.constant(tileNumbers));
    steps = emit.min(steps, needed);
  }
  emit.loop(emit.constant(0), steps, 1, [&](Value k) { step(block, emit.mul(k, tileWords), /*whole=*/true); });
  if (restInTiles())
    step(block, emit.constant(wholeSteps() * tileWords), /*whole=*/false);
}

/// The rows of the block from the buffer to their place.
void DotTiles::finish(const TileBlock &block) {
  Type f32 = emit.getF32Type();
  emit.loop(emit.constant(block.done), emit.constant(block.rows()), 1, [&](Value i) {
    Value row = emit.add(block.row, i), start = emit.offset(buffer, emit.mul(i, blockSide), f32);
    SmallVector<Value> sums;
    for (int64_t j = 0; j < block.tilesAcross; ++j)
      sums.push_back(emit.load(emit.offset(start, emit.constant(j * tileWords), f32), emit.floats()));
    sums = emit.loop(emit.constant(tilePairs()), emit.constant(shape.inner / 2), 1, sums,
                     [&](Value pair, ValueRange before) {
                       return body.addPair(row, 1, block.column, block.tilesAcross, pair, before, /*half=*/false);
                     });
    if (shape.inner % 2)
      sums = body.addPair(row, 1, block.column, block.tilesAcross, emit.constant(shape.inner / 2), sums, /*half=*/true);
    body.finishRow(sums, row, block.column);
  });
}

/// Lines of the next tiles, some in each block.
void DotTiles::fetch(Value number) {
  if (body.fetches.empty())
    return;
  int64_t blocks = (shape.rows / blockSide + restBlocks()) * ((shape.columns + blockSide - 1) / blockSide), steps = 1;
  auto taken = [&] {
    int64_t count = 0;
    for (const FetchShape &fetched : shape.fetches)
      count += fetched.blocks(steps);
    return count;
  };
  int64_t most = 1;
  for (const FetchShape &fetched : shape.fetches)
    most = std::max(most, fetched.columns ? fetched.rows : fetched.rows * fetched.lines);
  while (steps < most && taken() > blocks)
    ++steps;
  BlockFetch next(emit, shape.fetches, body.fetches, number, steps, body.result);
  emit.loop(emit.constant(0), emit.constant(steps), 1, next.start(),
            [&](Value k, ValueRange carried) { return SmallVector<Value>(next.emitStep(emit, k, carried)); });
}

void DotTiles::block(const TileBlock &block, Value number) {
  Type f32 = emit.getF32Type();
  Value stride = emit.constant(4 * shape.resultStep);
  bool direct = isDirect(block);
  forTiles(block, [&](int64_t tile, Value place) {
    if (direct && shape.accumulates)
      loadTile(emit, tile, emit.offset(body.accumulator, place, f32), stride);
    else
      zeroTile(emit, tile);
  });
  fetch(number);
  products(block);
  if (direct)
    return forTiles(
        block, [&](int64_t tile, Value place) { storeTile(emit, tile, emit.offset(body.result, place, f32), stride); });
  for (int64_t i = 0; i < block.tilesDown; ++i)
    for (int64_t j = 0; j < block.tilesAcross; ++j) {
      Value place = emit.constant(i * tileRows * blockSide + j * tileWords);
      storeTile(emit, names.sum(i, j), emit.offset(buffer, place, f32), emit.constant(4 * blockSide));
    }
  finish(block);
}

/// Blocks of a strip for the rows that are no multiple of a block's.
int64_t DotTiles::restBlocks() const {
  int64_t rest = shape.rows % blockSide;
  return rest == 0 ? 0 : rest > tileRows && shape.rows < blockSide ? 2 : 1;
}

void DotTiles::strip(Value column, int64_t across) {
  int64_t whole = shape.rows / blockSide * blockSide, rest = shape.rows - whole;
  Value before = arith::DivUIOp::create(emit, column, emit.constant(blockSide));
  before = emit.mul(before, whole / blockSide + restBlocks());
  Value lower = emit.constant(0), upper = emit.constant(whole);
  if (shape.resultDiagonal && shape.transposed) {
    // Below the diagonal are the rows up to the strip's last column and so far beyond.
    upper = emit.min(upper, emit.add(column, across * tileWords + *shape.resultDiagonal));
  } else if (shape.resultDiagonal) {
    Value missing = emit.max(emit.sub(column, emit.constant(*shape.resultDiagonal)), emit.constant(0));
    lower = emit.mul(arith::DivUIOp::create(emit, missing, emit.constant(blockSide)), blockSide);
  }
  if (whole > 0)
    emit.loop(lower, upper, blockSide, [&](Value row) {
      Value number = emit.add(before, arith::DivUIOp::create(emit, row, emit.constant(blockSide)));
      block({row, column, 2, across, 0}, number);
    });
  auto last = [&](int64_t row, int64_t down, int64_t done) {
    block({emit.constant(row), column, down, across, done}, emit.add(before, whole / blockSide));
  };
  if (rest > tileRows && whole == 0) {
    last(0, 1, 0);
    last(shape.rows - tileRows, 1, blockSide - shape.rows);
  } else if (rest > tileRows) {
    last(shape.rows - blockSide, 2, blockSide - rest);
  } else if (rest > 0) {
    last(shape.rows - tileRows, 1, tileRows - rest);
  }
}

void DotTiles::run() {
  Value size = LLVM::ConstantOp::create(emit, emit.getI64Type(), emit.getI64IntegerAttr(blockSide * blockSide));
  buffer = LLVM::AllocaOp::create(emit, emit.pointerType(), emit.getF32Type(), size, /*alignment=*/64);
  int64_t tiles = (shape.columns + tileWords - 1) / tileWords, paired = tiles / 2 * blockSide;
  emit.loop(emit.constant(0), emit.constant(paired), blockSide, [&](Value column) { strip(column, 2); });
  if (tiles % 2)
    strip(emit.constant(paired), 1);
}

void DotBody::runTiles() { DotTiles(*this).run(); }
