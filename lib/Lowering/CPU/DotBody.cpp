//===- DotBody.cpp - A block of a dot's result in registers -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DotBody.h"

#include "DotTail.h"
#include "Pairs.h"
#include "attune/Support/DebugOutput.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-lower-kernels"

std::string DotShape::foldNames() const {
  std::string text;
  for (auto [mark, fold] : {std::pair("_sf", scalarFold), std::pair("_vf", vectorFold), std::pair("_cf", storeFold)})
    if (fold)
      text += mark + fold.name();
  return text;
}

std::string DotShape::name() const {
  std::string fetched;
  for (const FetchShape &fetch : fetches)
    fetched += fetch.name();
  auto along = [](StringRef mark, Along of) { return of == Along::None ? std::string() : (mark + (of == Along::Rows ? "rows" : "columns")).str(); };
  auto text = [](int64_t step) { return step < 0 ? "x" + std::to_string(-step) : std::to_string(step); };
  return (tiles   ? tileRest ? "dot_tiles" + std::to_string(tileRest) + "_" : "dot_tiles_"
          : pairs ? "dot_bf16_"
                  : "dot_") +
         std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(inner) + "_s" + text(rowStep) +
         "_" + text(innerStep) + "_v" + text(vectorStep) + "_c" + text(resultStep) + (accumulates ? "_add" : "") +
         along("_", scale) + along("_each", spread) +
         (resultDiagonal || operandDiagonal ? transposed ? "_t" : "_n" : "") +
         (resultDiagonal ? "_below" + text(*resultDiagonal) : "") +
         (operandDiagonal ? "_sums" + text(*operandDiagonal) : "") +
         (storesBelow ? "_storebelow"
          : stores    ? "_store"
                      : "") +
         (scalesRows ? "_scaled" : "") + (storesSum ? "_sum" : "") + (addsInMemory ? "_there" : "") + (multiplies ? "_times" : "") + (tail ? "_tail" : "") + foldNames() + fetched;
}

/// The terms of the sums that a block needs: k ≤ (its largest i) + diagonal.
Value DotBody::innerEnd(Value row, int64_t rows, Value column, int64_t count) {
  if (!shape.operandDiagonal)
    return emit.constant(shape.inner);
  Value last = shape.transposed ? emit.add(column, count * emit.lanes()) : emit.add(row, rows);
  return emit.max(emit.min(emit.add(last, *shape.operandDiagonal), emit.constant(shape.inner)), emit.constant(0));
}

/// Where the rows of S of a block begin: in a window its rows, else all of them, are equally far apart.
SmallVector<Value, 12> DotBody::scalarRows(Value row, int64_t rows) {
  Type f32 = emit.getF32Type();
  bool together = !shape.scalarFold || (shape.scalarFold.run % rows == 0 && shape.rows % rows == 0);
  auto at = [&](Value i) {
    return emit.offset(scalars, emit.mul(foldedRow(emit, shape.scalarFold, scalarPlace, i), rowStep), f32);
  };
  SmallVector<Value, 12> starts{at(row)};
  for (int64_t i = 1; i < rows; ++i)
    starts.push_back(together ? emit.offset(starts[0], emit.mul(emit.constant(i), rowStep), f32)
                              : at(emit.add(row, i)));
  return starts;
}

/// The sums with the products of step k; `place` is where its vectors are.
SmallVector<Value> DotBody::addStep(ArrayRef<Value> rowsOfS, Value firstVector, Value k, Value place, ValueRange sums) {
  Type f32 = emit.getF32Type();
  int64_t count = static_cast<int64_t>(sums.size() / rowsOfS.size());
  SmallVector<Value> next(sums), v;
  Value vectorRow = emit.offset(firstVector, place, f32), column = emit.mul(k, innerStep);
  for (int64_t j = 0; j < count; ++j)
    v.push_back(emit.load(emit.offset(vectorRow, emit.constant(j * emit.lanes()), f32), emit.floats()));
  for (auto [i, start] : llvm::enumerate(rowsOfS)) {
    Value s = emit.splat(emit.load(emit.offset(start, column, f32), f32));
    for (int64_t j = 0; j < count; ++j)
      next[i * count + j] = LLVM::FMAOp::create(emit, s, v[j], sums[i * count + j]);
  }
  return next;
}

SmallVector<Value> DotBody::product(Value row, int64_t rows, Value column, int64_t count) {
  SmallVector<Value, 12> rowsOfS = scalarRows(row, rows);
  Value firstVector = emit.offset(vectors, column, emit.getF32Type());
  SmallVector<Value> carried(rows * count, emit.splat(0.0));
  int64_t pace = fetchPace();
  SmallVector<BlockFetch, 1> fetched = fetchesInRows() ? SmallVector<BlockFetch, 1>() : blockFetches(shape.inner / pace);
  std::optional<RowWalk> walk; // of a window: where the vectors of each step begin
  if (shape.vectorFold) {
    walk.emplace(emit, shape.vectorFold, vectorPlace, vectorStep);
    llvm::append_range(carried, walk->start());
  }
  for (const BlockFetch &fetch : fetched)
    llvm::append_range(carried, fetch.start());
  Value end = innerEnd(row, rows, column, count);
  carried = emit.loop(emit.constant(0), end, 1, carried, [&](Value k, ValueRange before) {
    ValueRange rest = before.drop_front(rows * count);
    Value place = walk ? rest[0] : emit.mul(k, vectorStep);
    SmallVector<Value> next = addStep(rowsOfS, firstVector, k, place, before.take_front(rows * count));
    if (walk)
      llvm::append_range(next, walk->next(emit, rest)), rest = rest.drop_front(2);
    Value line = pace == 1 ? k : arith::DivUIOp::create(emit, k, emit.constant(pace)).getResult();
    for (const BlockFetch &fetch : fetched)
      llvm::append_range(next, fetch.emitStep(emit, line, rest));
    return next;
  });
  carried.truncate(rows * count);
  return carried;
}

/// The sums with the products of pair `pair`; of its first numbers alone if `half`.
SmallVector<Value> DotBody::addPair(Value row, int64_t rows, Value column, int64_t count, Value pair, ValueRange sums,
                                    bool half) {
  Type i16 = emit.getI16Type(), i32 = emit.getI32Type();
  SmallVector<Value> next(sums), v;
  Value vectorRow = emit.offset(vectors, emit.add(emit.mul(pair, vectorStep), column), i32);
  for (int64_t j = 0; j < count; ++j) {
    Value read = emit.load(emit.offset(vectorRow, emit.constant(j * emit.lanes()), i32), emit.vectorOf(i32));
    // What is beside the last number may be anything, and 0 · NaN is NaN.
    v.push_back(half ? arith::AndIOp::create(emit, read, emit.splat(emit.number(0xffff))).getResult() : read);
  }
  Value scalarPair = emit.offset(scalars, emit.add(emit.mul(row, rowStep), emit.mul(pair, innerStep)), i16);
  for (int64_t i = 0; i < rows; ++i) {
    Value address = emit.offset(scalarPair, emit.mul(emit.constant(i), rowStep), i16);
    Value read =
        half ? arith::ExtUIOp::create(emit, i32, emit.load(address, i16, 2)).getResult() : emit.load(address, i32, 2);
    Value s = emit.splat(read);
    for (int64_t j = 0; j < count; ++j)
      next[i * count + j] = addProductsOfPairs(emit, sums[i * count + j], s, v[j]);
  }
  return next;
}

/// Sums over pairs. Of a sum that ends within a pair the rest of that pair is zero, or the tile's own depth ends there.
SmallVector<Value> DotBody::productOfPairs(Value row, int64_t rows, Value column, int64_t count) {
  SmallVector<Value> sums(rows * count, emit.splat(0.0));
  Value end = innerEnd(row, rows, column, count), last = emit.constant(shape.inner / 2);
  if (shape.operandDiagonal)
    last = emit.min(arith::ShRUIOp::create(emit, emit.add(end, 1), emit.constant(1)), last);
  SmallVector<BlockFetch, 1> fetched = shape.inner > 1 ? blockFetches(shape.inner / 2) : SmallVector<BlockFetch, 1>();
  for (const BlockFetch &fetch : fetched)
    llvm::append_range(sums, fetch.start());
  sums = emit.loop(emit.constant(0), last, 1, sums, [&](Value pair, ValueRange before) {
    ValueRange now = before.take_front(rows * count);
    SmallVector<Value> next = addPair(row, rows, column, count, pair, now, /*half=*/false);
    for (const BlockFetch &fetch : fetched)
      llvm::append_range(next, fetch.emitStep(emit, pair, before.drop_front(rows * count)));
    return next;
  });
  sums.truncate(rows * count);
  if (shape.inner % 2)
    sums = addPair(row, rows, column, count, emit.constant(shape.inner / 2), sums, /*half=*/true);
  return sums;
}

Value DotBody::accumulated(Value sum, Value row, Value column, Value place) {
  Type f32 = emit.getF32Type();
  auto numbers = [&](Value of, Along along) {
    return along == Along::Rows ? emit.splat(emit.load(emit.offset(of, row, f32), f32)) : emit.load(emit.offset(of, column, f32), emit.floats());
  };
  Value before = shape.spread == Along::None ? emit.load(emit.offset(accumulator, place, f32), emit.floats()) : numbers(accumulator, shape.spread);
  if (shape.scale == Along::None)
    return arith::AddFOp::create(emit, before, sum);
  Value factor = numbers(scale, shape.scale);
  return LLVM::FMAOp::create(emit, before, factor, sum);
}

/// A vector with the factor of its row.
Value DotBody::scaled(Value sum, Value factor, Value row, Value column) {
  if (!shape.storesSum)
    return arith::MulFOp::create(emit, sum, factor);
  Type f32 = emit.getF32Type();
  Value place = emit.add(emit.mul(row, shape.resultStep), column);
  return LLVM::FMAOp::create(emit, sum, factor, emit.load(emit.offset(stored.addend, place, f32), emit.floats()));
}

/// Stores a row of the block, in the scratch or in memory.
void DotBody::store(ArrayRef<Value> sums, Value row, Value column) {
  Type f32 = emit.getF32Type();
  Value place = shape.storeFold ? foldedRow(emit, shape.storeFold, stored.place, row) : row;
  Value start = emit.offset(result, emit.mul(place, shape.stores ? stored.step : emit.constant(shape.resultStep)), f32);
  if (shape.storesBelow)
    start = emit.select(emit.less(row, stored.bound), start, stored.dump);
  Value factor = shape.scalesRows ? emit.splat(emit.load(emit.offset(stored.scale, row, f32), f32)) : Value();
  for (auto [j, sum] : llvm::enumerate(sums)) {
    Value place = emit.add(column, static_cast<int64_t>(j) * emit.lanes()), address = emit.offset(start, place, f32), stored = sum;
    if (factor)
      stored = scaled(sum, factor, row, place);
    else if (shape.addsInMemory) // of a row that does not exist, to what nobody reads
      stored = arith::AddFOp::create(emit, emit.load(address, emit.floats()), sum);
    emit.store(stored, address);
  }
}

void DotBody::finishRow(MutableArrayRef<Value> sums, Value row, Value column) {
  Value first = emit.add(emit.mul(row, shape.resultStep), column);
  for (auto [j, sum] : llvm::enumerate(sums)) {
    int64_t vector = static_cast<int64_t>(j) * emit.lanes();
    Value at = emit.add(column, vector), place = emit.add(first, vector);
    if (shape.accumulates)
      sum = accumulated(sum, row, at, place);
    if (shape.multiplies)
      sum = arith::MulFOp::create(emit, sum, emit.load(emit.offset(factor, place, emit.getF32Type()), emit.floats()));
  }
  store(sums, row, column);
}

void DotBody::block(Value row, int64_t rows, Value column, int64_t count) {
  SmallVector<Value> sums = shape.pairs ? productOfPairs(row, rows, column, count) : product(row, rows, column, count);
  int64_t lines = fetchesInRows() ? linesOfBlock(shape.fetches, blockCount()) : 0;
  SmallVector<BlockFetch, 1> fetched = lines ? blockFetches(lines) : SmallVector<BlockFetch, 1>();
  for (int64_t i = 0; i < rows; ++i) {
    finishRow(MutableArrayRef(sums).slice(i * count, count), emit.add(row, i), column);
    for (int64_t line = i * lines / rows; line < (i + 1) * lines / rows; ++line)
      (void)fetched.front().emitStep(emit, emit.constant(line), ValueRange());
  }
}

/// Blocks of equal height if there is a good height that divides the rows; otherwise the last ones are one lower.
DotBody::Heights DotBody::heights(int64_t count) const {
  // Registers for the sums, a row of vectors and a broadcast.
  int64_t most = std::min((2 * emit.lanes() - count - 1) / count, emit.isa.blockRows * emit.isa.blockVectors / 2);
  int64_t number = (shape.rows + most - 1) / most;
  // Of a window the rows that are not equally far apart take a register each: there blocks within a row of it may be
  // low.
  int64_t least = shape.scalarFold ? (most + 1) / 2 : (2 * most + 2) / 3;
  for (int64_t more = 0; more < 3; ++more)
    if (shape.rows % (number + more) == 0 && shape.rows / (number + more) >= least) {
      number += more;
      break;
    }
  int64_t height = (shape.rows + number - 1) / number;
  return {number, height, number * height - shape.rows};
}

void DotBody::strip(Value column, int64_t count) {
  auto [number, height, low] = heights(count);
  int64_t tall = (number - low) * height;
  // Blocks of the strips before this one, which are as wide as they can be.
  Value before = emit.constant(0);
  if (!fetches.empty())
    before = emit.mul(arith::DivUIOp::create(emit, column, emit.constant(wide() * emit.lanes())).getResult(),
                      heights(wide()).number);
  blocks(column, count, 0, tall, height, before);
  blocks(column, count, tall, shape.rows, height - 1, emit.add(before, number - low));
}

/// Blocks of one height, from row `from` to row `to`, as far as they are needed.
void DotBody::blocks(Value column, int64_t count, int64_t from, int64_t to, int64_t height, Value before) {
  if (from == to)
    return;
  Value lower = emit.constant(from), upper = emit.constant(to);
  if (shape.resultDiagonal && shape.transposed) {
    // The smallest column of the block, its first row, is at most the largest row of the strip plus the diagonal.
    upper = emit.min(upper, emit.add(column, count * emit.lanes() + *shape.resultDiagonal));
  } else if (shape.resultDiagonal) {
    // The first block whose last row plus the diagonal reaches the strip's first column.
    Value missing = emit.max(emit.sub(column, emit.constant(*shape.resultDiagonal + from)), emit.constant(0));
    Value skipped = arith::DivUIOp::create(emit, missing, emit.constant(height));
    lower = emit.add(emit.mul(skipped, height), from);
  }
  emit.loop(lower, upper, height, [&](Value row) {
    if (!fetches.empty())
      number = emit.add(
          before, arith::DivUIOp::create(emit, emit.sub(row, emit.constant(from)), emit.constant(height)).getResult());
    block(row, height, column, count);
  });
}

/// The last rows of the result, which fill no vector.
void DotBody::tail() {
  Type f32 = emit.getF32Type();
  for (int64_t i = 0; i < shape.tail; ++i) {
    Value row = emit.offset(tailStart, emit.mul(tailStep, i), f32);
    Value place = emit.offset(result, emit.constant(shape.columns - shape.tail + i), f32);
    DotTail{row, shape.inner, shape.rows, place, shape.resultStep, [&](Value j) { return scalarRows(j, 1)[0]; }}.emit(emit);
  }
}

/// Vectors of a strip. Of a few rows, or of few products, each number of V or of the sums is read once: then a strip is as wide as the registers allow,
/// since memory gives rows faster than parts of rows.
int64_t DotBody::wide() const { return shape.rows <= 2 || isShallow(shape.inner) ? 2 * emit.isa.blockVectors : emit.isa.blockVectors; }

DotBody::Strips DotBody::strips() const {
  int64_t lanes = emit.lanes(), most = wide();
  int64_t count = (shape.columns - shape.tail + lanes - 1) / lanes;
  int64_t whole = count == most + 1 ? 0 : count / most; // one vector more is in the same strip
  return {whole, count - whole * most};
}

/// Whether rows are walked step by step as they are fetched: those of a window.
static bool walksRows(ArrayRef<FetchShape> shapes) {
  return llvm::any_of(shapes, [](const FetchShape &fetch) { return fetch.columns != 0; });
}

int64_t DotBody::blockCount() const {
  auto [whole, rest] = strips();
  return whole * heights(wide()).number + (rest ? heights(rest).number : 0);
}

/// What the current block fetches in so many steps. All rows of a few queries are in one block a strip, which has not steps
/// enough for the lines of a tile: it fetches several lines in each. Those lines are all that such a dot waits for.
SmallVector<BlockFetch, 1> DotBody::blockFetches(int64_t steps) const {
  SmallVector<BlockFetch, 1> fetched;
  if (fetches.empty())
    return fetched;
  bool isLow = heights(wide()).number == 1 && !walksRows(shape.fetches);
  int64_t each = isLow ? llvm::divideCeil(blocksToFetch(shape.fetches, steps), blockCount()) : 1;
  for (int64_t i = 0; i < each; ++i)
    fetched.emplace_back(emit, shape.fetches, fetches, emit.add(emit.mul(number, each), i), steps, result);
  return fetched;
}

/// Steps of the sums for each line that is fetched: as many as leave room for all lines. Lines that are asked for in
/// every step of a few blocks wait in a queue, and loads of those blocks behind them; a line that is on its way may be
/// asked for again.
int64_t DotBody::fetchPace() const {
  if (fetches.empty() || walksRows(shape.fetches))
    return 1;
  for (int64_t pace : {4, 2})
    if (shape.inner % pace == 0 && blocksToFetch(shape.fetches, shape.inner / pace) <= blockCount())
      return pace;
  return 1;
}

/// Whether lines are fetched between the rows that a block stores: the sums have too few steps.
bool DotBody::fetchesInRows() const { return !fetches.empty() && isShallow(shape.inner) && !walksRows(shape.fetches); }

void DotBody::run() {
  if (shape.tiles) {
    ATTUNE_DEBUG() << shape.name() << ": products of tiles";
    return runTiles();
  }
  int64_t lanes = emit.lanes(), most = wide();
  auto [whole, rest] = strips();
  ATTUNE_DEBUG() << shape.name() << ": " << whole << " strips of " << most << " vectors in blocks of " << heights(most).height
                 << " rows, one of " << rest << ", " << shape.tail << " single rows";
  emit.loop(emit.constant(0), emit.constant(whole * most * lanes), most * lanes,
            [&](Value column) { strip(column, most); });
  if (rest)
    strip(emit.constant(whole * most * lanes), rest);
  tail();
}
