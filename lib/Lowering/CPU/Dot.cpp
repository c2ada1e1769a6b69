//===- Dot.cpp - Dots with a block of the result in registers ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of vectors of the result's adjacent elements (J)
//     for block of rows (I)
//       sum[rows × vectors] = 0
//       for k:  sum += S[row, k] (broadcast) · V[k, vectors]
//       C[row, vectors] = acc + sum
//
// S is A and V is B if the result is row-major; S is B and V is A transposed if it is column-major: then J are its
// rows. The products of one dot are summed apart and added to the accumulator last, so that the sums inside a block of
// keys do not depend on what came before. Padding of V and C is computed along: nobody reads it.
//
// Of bf16 numbers, on a processor that has their dot products, k counts pairs and S and V are of 32 bits.
//
// Below a diagonal (causal weights inside a chunk) only the blocks and the terms of the sums that count are computed.
//
//===----------------------------------------------------------------------===//
#include "DotForms.h"
#include "DotTail.h"
#include "FetchAhead.h"
#include "KernelState.h"
#include "MemoryAccess.h"
#include "Pairs.h"

#include "attune/Lowering/CPU/Pipeline.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

namespace {
/// What the accumulator is multiplied by before it is added.
enum class Scale { None, Rows, Columns };

/// What a dot function is made for. Strides that are only known at run time are -1 and come as arguments.
struct DotShape {
  int64_t rows, columns, inner; ///< I, J (of the orientation above), K
  int64_t rowStep, innerStep;   ///< strides of S
  int64_t vectorStep;           ///< stride of V
  int64_t resultStep;           ///< stride of the accumulator and, in the scratch, of C
  bool accumulates;
  Scale scale;
  bool transposed;                        ///< I are the columns of the result, J its rows
  std::optional<int64_t> resultDiagonal;  ///< only elements j ≤ i + diagonal are needed
  std::optional<int64_t> operandDiagonal; ///< A is zero where k > i + diagonal
  bool stores, storesBelow;               ///< C is scaled and stored to memory, be it only rows below a bound
  bool pairs;                             ///< of bf16 numbers: steps of S count these, rows of V are pairs
  Fold scalarFold, vectorFold, storeFold; ///< of the rows of S, V and the memory that C is stored to
  int64_t tail;                           ///< rows of the result that are computed one by one (DotTail.h)
  SmallVector<FetchShape, 2> fetches;     ///< what is fetched on the way

  std::string name() const;
  std::string foldNames() const;
};

/// Where a scaled result is stored.
struct StorePlace {
  Value step, bound, dump; ///< from row to row; rows before it exist; where the others go
  Value scale;             ///< a factor for each row
  FoldPlace place;
};

/// Emits the body of a dot function.
struct DotBody {
  Emit &emit;
  DotShape shape;
  Value result, accumulator, scalars, vectors, rowStep, innerStep, vectorStep, scale;
  FoldPlace scalarPlace = {}, vectorPlace = {};
  Value tailStart = {}, tailStep = {}; ///< the first row of the tail, and from row to row
  StorePlace stored = {};
  SmallVector<FetchPlace, 2> fetches = {};
  Value number = {}; ///< of blocks before the current one

  void run();
  void tail();
  void strip(Value column, int64_t count);
  void blocks(Value column, int64_t count, int64_t from, int64_t to, int64_t height, Value before);
  Value innerEnd(Value row, int64_t rows, Value column, int64_t count);
  Value accumulated(Value sum, Value row, Value column, Value place);
  void block(Value row, int64_t rows, Value column, int64_t count);
  void store(ArrayRef<Value> sums, Value row, Value column);
  SmallVector<Value, 12> scalarRows(Value row, int64_t rows);
  SmallVector<Value> product(Value row, int64_t rows, Value column, int64_t count);
  SmallVector<Value> productOfPairs(Value row, int64_t rows, Value column, int64_t count);
  SmallVector<Value> addPair(Value row, int64_t rows, Value column, int64_t count, Value pair, ValueRange sums,
                             bool half);
};
} // namespace

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
  auto text = [](int64_t step) { return step < 0 ? "x" + std::to_string(-step) : std::to_string(step); };
  return (pairs ? "dot_bf16_" : "dot_") + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::to_string(inner) + "_s" + text(rowStep) + "_" + text(innerStep) + "_v" + text(vectorStep) + "_c" + text(resultStep) +
         (accumulates ? "_add" : "") +
         (scale == Scale::Rows      ? "_rows"
          : scale == Scale::Columns ? "_columns"
                                    : "") +
         (resultDiagonal || operandDiagonal ? transposed ? "_t" : "_n" : "") +
         (resultDiagonal ? "_below" + text(*resultDiagonal) : "") +
         (operandDiagonal ? "_sums" + text(*operandDiagonal) : "") +
         (storesBelow ? "_storebelow"
          : stores    ? "_store"
                      : "") +
         (tail ? "_tail" : "") + foldNames() + fetched;
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
    starts.push_back(together ? emit.offset(starts[0], emit.mul(emit.constant(i), rowStep), f32) : at(emit.add(row, i)));
  return starts;
}

SmallVector<Value> DotBody::product(Value row, int64_t rows, Value column, int64_t count) {
  Type f32 = emit.getF32Type();
  SmallVector<Value, 12> rowsOfS = scalarRows(row, rows);
  Value firstVector = emit.offset(vectors, column, f32);
  SmallVector<Value> zeros(rows * count, emit.splat(0.0));
  std::optional<BlockFetch> fetch;
  if (!fetches.empty())
    fetch.emplace(emit, shape.fetches, fetches, number, shape.inner, result);
  return emit.loop(emit.constant(0), innerEnd(row, rows, column, count), 1, zeros, [&](Value k, ValueRange sums) {
    SmallVector<Value> next(sums), v;
    if (fetch)
      fetch->emitStep(emit, k);
    Value place = foldedRow(emit, shape.vectorFold, vectorPlace, k);
    Value vectorRow = emit.offset(firstVector, emit.mul(place, vectorStep), f32);
    for (int64_t j = 0; j < count; ++j)
      v.push_back(emit.load(emit.offset(vectorRow, emit.constant(j * emit.lanes()), f32), emit.floats()));
    Value column = emit.mul(k, innerStep);
    for (int64_t i = 0; i < rows; ++i) {
      Value s = emit.splat(emit.load(emit.offset(rowsOfS[i], column, f32), f32));
      for (int64_t j = 0; j < count; ++j)
        next[i * count + j] = LLVM::FMAOp::create(emit, s, v[j], sums[i * count + j]);
    }
    return next;
  });
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
    Value read = half ? arith::ExtUIOp::create(emit, i32, emit.load(address, i16, 2)).getResult()
                      : emit.load(address, i32, 2);
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
  std::optional<BlockFetch> fetch;
  if (!fetches.empty() && shape.inner > 1)
    fetch.emplace(emit, shape.fetches, fetches, number, shape.inner / 2, result);
  sums = emit.loop(emit.constant(0), last, 1, sums, [&](Value pair, ValueRange before) {
    if (fetch)
      fetch->emitStep(emit, pair);
    return addPair(row, rows, column, count, pair, before, /*half=*/false);
  });
  if (shape.inner % 2)
    sums = addPair(row, rows, column, count, emit.constant(shape.inner / 2), sums, /*half=*/true);
  return sums;
}

Value DotBody::accumulated(Value sum, Value row, Value column, Value place) {
  Type f32 = emit.getF32Type();
  Value before = emit.load(emit.offset(accumulator, place, f32), emit.floats());
  if (shape.scale == Scale::None)
    return arith::AddFOp::create(emit, before, sum);
  Value factor = shape.scale == Scale::Rows ? emit.splat(emit.load(emit.offset(scale, row, f32), f32))
                                            : emit.load(emit.offset(scale, column, f32), emit.floats());
  return LLVM::FMAOp::create(emit, before, factor, sum);
}

/// Stores a row of the block, in the scratch or, scaled, in memory.
void DotBody::store(ArrayRef<Value> sums, Value row, Value column) {
  Type f32 = emit.getF32Type();
  Value place = shape.storeFold ? foldedRow(emit, shape.storeFold, stored.place, row) : row;
  Value start = emit.offset(result, emit.mul(place, shape.stores ? stored.step : emit.constant(shape.resultStep)), f32);
  if (shape.storesBelow)
    start = emit.select(emit.less(row, stored.bound), start, stored.dump);
  Value factor = shape.stores ? emit.splat(emit.load(emit.offset(stored.scale, row, f32), f32)) : Value();
  for (auto [j, sum] : llvm::enumerate(sums)) {
    Value value = factor ? arith::MulFOp::create(emit, sum, factor).getResult() : sum;
    emit.store(value, emit.offset(start, emit.add(column, static_cast<int64_t>(j) * emit.lanes()), f32));
  }
}

void DotBody::block(Value row, int64_t rows, Value column, int64_t count) {
  SmallVector<Value> sums =
      shape.pairs ? productOfPairs(row, rows, column, count) : product(row, rows, column, count);
  Value first = emit.add(emit.mul(row, shape.resultStep), column);
  for (int64_t i = 0; i < rows; ++i) {
    MutableArrayRef<Value> line = MutableArrayRef(sums).slice(i * count, count);
    for (int64_t j = 0; shape.accumulates && j < count; ++j) {
      Value place = emit.add(first, i * shape.resultStep + j * emit.lanes());
      line[j] = accumulated(line[j], emit.add(row, i), emit.add(column, j * emit.lanes()), place);
    }
    store(line, emit.add(row, i), column);
  }
}

/// Blocks of equal height if there is a good height that divides the rows; otherwise the last ones are one lower.
void DotBody::strip(Value column, int64_t count) {
  int64_t most = emit.isa.blockRows;
  if (count > emit.isa.blockVectors) // registers for the sums, a row of vectors and a broadcast
    most = (2 * emit.lanes() - count - 1) / count;
  int64_t number = (shape.rows + most - 1) / most;
  for (int64_t more = 0; more < 3; ++more)
    if (shape.rows % (number + more) == 0 && shape.rows / (number + more) * 2 >= most) {
      number += more;
      break;
    }
  int64_t height = (shape.rows + number - 1) / number, low = number * height - shape.rows;
  int64_t tall = (number - low) * height;
  // Blocks of the strips before this one.
  Value before = emit.constant(0);
  if (!fetches.empty())
    before = emit.mul(
        arith::DivUIOp::create(emit, column, emit.constant(emit.isa.blockVectors * emit.lanes())).getResult(), number);
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

void DotBody::run() {
  int64_t lanes = emit.lanes(), most = emit.isa.blockVectors;
  int64_t count = (shape.columns - shape.tail + lanes - 1) / lanes;
  int64_t looped = count == most + 1 ? 0 : count / most * most; // three vectors are one strip
  emit.loop(emit.constant(0), emit.constant(looped * lanes), most * lanes, [&](Value column) { strip(column, most); });
  if (count > looped)
    strip(emit.constant(looped * lanes), count - looped);
  tail();
}

/// Arguments of a dot function before those of its store and of its fetches.
static constexpr unsigned fixedArguments = 8;

/// The function for a shape, made at its first use.
static LLVM::LLVMFuncOp dotFunction(KernelState &state, const DotShape &shape) {
  std::string name = variantName(shape.name(), state.emit.isa.name);
  if (auto known = state.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  Emit emit(state.emit.getLoc(), OpBuilder(state.module.getContext()), state.emit.isa);
  Type pointer = emit.pointerType(), i64 = emit.getI64Type();
  SmallVector<Type> arguments = {pointer, pointer, pointer, pointer, i64, i64, i64, pointer};
  if (shape.stores)
    arguments.append({i64, i64, pointer, pointer});
  for (const Fold &fold : {shape.scalarFold, shape.vectorFold, shape.storeFold})
    if (fold)
      arguments.append({i64, i64});
  if (shape.tail)
    arguments.append({pointer, i64});
  for (size_t i = 0; i < shape.fetches.size(); ++i)
    arguments.append({pointer, i64, i64});
  LLVM::LLVMFuncOp op = emit.function(state.module, name, arguments);
  op.setLinkage(LLVM::Linkage::Internal);
  op.setNoInline(true);
  Block &block = op.getBody().front();
  emit.setInsertionPointToStart(&block);
  auto step = [&](int64_t known, unsigned argument) -> Value {
    return known < 0 ? Value(block.getArgument(argument)) : emit.constant(known);
  };
  DotBody body{emit,
               shape,
               block.getArgument(0),
               block.getArgument(1),
               block.getArgument(2),
               block.getArgument(3),
               step(shape.rowStep, 4),
               step(shape.innerStep, 5),
               step(shape.vectorStep, 6),
               block.getArgument(7)};
  unsigned at = fixedArguments;
  if (shape.stores) {
    body.stored = {block.getArgument(at), block.getArgument(at + 1), block.getArgument(at + 2),
                   block.getArgument(at + 3), {}};
    at += 4;
  }
  for (auto [fold, place] : {std::pair(&shape.scalarFold, &body.scalarPlace),
                             std::pair(&shape.vectorFold, &body.vectorPlace),
                             std::pair(&shape.storeFold, &body.stored.place)})
    if (*fold)
      *place = {block.getArgument(at), block.getArgument(at + 1)}, at += 2;
  if (shape.tail)
    body.tailStart = block.getArgument(at), body.tailStep = block.getArgument(at + 1), at += 2;
  for (; at < block.getNumArguments(); at += 3)
    body.fetches.push_back({block.getArgument(at), block.getArgument(at + 1), block.getArgument(at + 2)});
  body.run();
  LLVM::ReturnOp::create(emit, ValueRange());
  return op;
}

/// Strides of the rows and of the columns of A or B as the product sees it.
static std::pair<Value, Value> strides(Emit &emit, Buffer buffer, Order order, bool transposed) {
  Value one = emit.constant(1);
  bool rowsApart = (order == Order::Row) != transposed;
  return rowsApart ? std::pair(buffer.stride, one) : std::pair(one, buffer.stride);
}

/// The operand that is read number by number: S[i, k] and its strides.
static ScalarOperand requireScalars(KernelState &state, OpOperand &use) {
  auto dot = cast<tile::DotOp>(use.getOwner());
  bool rows = orderOf(dot.getResult()) == Order::Column;
  Order order = orderOfUse(use);
  Buffer scalars = state.require(use.get(), order);
  auto [rowStep, columnStep] =
      strides(state.emit, scalars, order, rows ? dot.getTransposeB() : dot.getTransposeA());
  if (rows) // S[i = column of B, k = row of B]
    std::swap(rowStep, columnStep);
  return {scalars.pointer, rowStep, columnStep, scalars.fold, scalars.place};
}

void cpu::emitDot(KernelState &state, tile::DotOp dot) {
  Emit &emit = state.emit;
  ++state.dots;
  Order order = orderOf(dot.getResult());
  bool rows = order == Order::Column;
  OpOperand &scalarUse = dot->getOpOperand(rows ? 1 : 0), &vectorUse = dot->getOpOperand(rows ? 0 : 1);
  bool pairs = takesPairs(dot, emit.isa);
  auto [scalars, rowStep, columnStep, scalarFold, scalarPlace] =
      pairs ? requirePairs(state, scalarUse) : requireScalars(state, scalarUse);
  Buffer vectors = pairs ? requireVectorPairs(state, vectorUse) : state.require(vectorUse.get(), orderOfUse(vectorUse));
  std::optional<ScaledAccumulator> scaled = scaledAccumulator(dot);
  bool accumulates = splatValue(dot.getAcc()) != 0.0;
  std::optional<ScaledStore> stored = scaledStore(dot, emit.lanes());
  std::optional<MemoryAccess> access;
  if (stored)
    access.emplace(state, stored->store);
  // What is stored needs no place of its own, but the accumulator's stride is that of a tile of the scratch.
  Buffer result = stored ? Buffer{access->base, state.strideOf(shapeOf(dot.getResult()), order)}
                         : state.destination(dot.getResult(), order);
  Value added = scaled ? scaled->tile : dot.getAcc();
  Buffer accumulator = accumulates ? state.require(added, order) : result;
  Buffer factor = scaled ? state.require(scaled->scale, Order::Row) : result;
  auto known = [](Value value) { return Emit::known(value).value_or(-1); };
  DotShape shape{rows ? dot.getN() : dot.getM(),
                 rows ? dot.getM() : dot.getN(),
                 dot.getK(),
                 known(rowStep),
                 known(columnStep),
                 known(vectors.stride),
                 known(result.stride),
                 accumulates,
                 !scaled                       ? Scale::None
                 : (scaled->axis == 1) == rows ? Scale::Columns
                                               : Scale::Rows,
                 rows,
                 resultDiagonal(dot),
                 operandDiagonal(dot),
                 stored.has_value(),
                 stored && access->rowsThatExist(),
                 pairs,
                 scalarFold,
                 vectors.fold,
                 stored ? foldOf(stored->store) : Fold(),
                 tailRows(state, dot),
                 {}};
  SmallVector<Value> arguments = {result.pointer, accumulator.pointer, scalars,        vectors.pointer,
                                  rowStep,        columnStep,          vectors.stride, factor.pointer};
  if (stored)
    arguments.append({access->stride, shape.storesBelow ? access->rowsThatExist() : emit.constant(0), state.dumpRow(),
                      state.require(stored->scale, Order::Row).pointer});
  FoldPlace storePlace = stored ? access->placeOfFold(emit) : FoldPlace();
  for (auto [fold, place] : {std::pair(shape.scalarFold, scalarPlace), std::pair(shape.vectorFold, vectors.place),
                             std::pair(shape.storeFold, storePlace)})
    if (fold)
      arguments.append({place.first, place.jump});
  if (shape.tail) {
    Buffer rowsOfA = *state.find(dot.getA(), Order::Row);
    Value first = emit.mul(rowsOfA.stride, dot.getM() - shape.tail);
    arguments.append({emit.offset(rowsOfA.pointer, first, emit.getF32Type()), rowsOfA.stride});
  }
  for (tile::LoadOp load : state.fetches.lookup(dot)) {
    FetchPlace next = MemoryAccess(state, load).nextPlace(emit, load);
    shape.fetches.push_back(nextShape(load));
    arguments.append({next.base, next.rowBytes, next.first});
  }
  LLVM::CallOp::create(emit, dotFunction(state, shape), arguments);
}
