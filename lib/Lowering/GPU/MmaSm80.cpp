//===- MmaSm80.cpp - Products by mma.sync (sm_80) ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for each 16 of k:
//     A: registers, or from shared memory                [row blocks][4 pairs]
//     for each two blocks of 8 columns:
//       B: from shared memory                             [2 columns][2 halves of k]
//       16-bit operands: one m16n8k16;   f32 operands: two m16n8k8 on tf32, of precision f32 three times that
//
// k may end with a half: the other half is zero. k outermost keeps neighbouring products independent of each other.
//
// ## Products of precision f32
//
// a = a1 + a2 with a1 = tf32(a), a2 what the unit reads of a - a1, and b likewise: a2 b1 + a1 b2 + a1 b1 is off by a2 b2 and
// by what a2 and b2 lost, 2^-22 of a b each. But the unit cuts its sums off where f32 rounds: sums that only grow lose half
// a unit in the last place at each step, in one direction, and a tile of 64 tokens is 24 steps (TileKernels.md has what comes
// of it). So 16 of k, six steps, are summed from zero and added by an addition that rounds; so is what all of k of this
// product gives to an accumulator.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "ProductShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <array>

using namespace mlir;
using namespace attune;
using namespace attune::device;

namespace {
/// One product being emitted.
struct Product : ProductShape {
  KernelState &state;
  tile::DotOp dot;
  ThreadTile a, b;
  tile::FragmentLayout layout; // of C
  SmallVector<Value> sums;
  Value addToKOfA, addToKOfB; // i32, elements: what k is more by, in a loop over it

  /// Columns of C that the shared tile of B has.
  int64_t columnsOfB() { return dot.getTransposeB() ? b.shared->layout.rows : b.shared->layout.columns; }
  bool hasSecondHalf(int64_t kBlock) const { return kBlock + 1 < kBlocks; }
};

/// Fragment of A for one row block and 16 of k: for 16-bit types registers a0 … a3 as pairs, for f32 the four words of each
/// half of k. Of B for one column block and 16 of k: [half], a pair of 16-bit elements or two words.
struct Fragment {
  SmallVector<Value, 8> values; // tf32: what each word is rounded to
  SmallVector<Value, 8> rests;  // tf32: what that left, in all its bits; empty if nothing, or if it is dropped

  ArrayRef<Value> half(int64_t number, int64_t size) const { return ArrayRef(values).slice(number * size, size); }
  ArrayRef<Value> restOfHalf(int64_t number, int64_t size) const { return ArrayRef(rests).slice(number * size, size); }
};
} // namespace

static Value toTf32(DeviceBuilder &code, Value number) {
  return code.intrinsic("llvm.nvvm.f2tf32.rna", code.builder.getI32Type(), number);
}

/// The tf32 number nearest to a number, ties away from zero; of some NaNs a zero.
static Value nearestTf32(DeviceBuilder &code, Value number) {
  constexpr int64_t unread = 13; // low bits, of which the unit takes no notice
  Value bits = code.add(code.bitcast(number, code.builder.getI32Type()), int64_t(1) << (unread - 1));
  return code.both(bits, code.i32(-(int64_t(1) << unread)));
}

/// A word of an f32 operand. Beside its tf32 a number of 24 bits has 12 more at most, of which the unit reads 11: off by one
/// unit of the last place, as if they were rounded. What is left of a NaN is a NaN. So three instructions split a number; the
/// two conversions and their difference are eight.
static void appendWord(Product &product, Value number, Fragment &fragment) {
  DeviceBuilder &code = product.state.code;
  if (!product.isSplit) {
    fragment.values.push_back(toTf32(code, number));
    return;
  }
  Value nearest = nearestTf32(code, number);
  Value rest = arith::SubFOp::create(code.builder, code.loc, number, code.bitcast(nearest, number.getType()));
  fragment.values.push_back(nearest);
  fragment.rests.push_back(code.bitcast(rest, nearest.getType()));
}

/// The two elements of a 16-bit pair as words; f16 and bf16 are tf32 numbers as they are.
static void appendWidened(DeviceBuilder &code, Value pair, Fragment &fragment) {
  for (int64_t i = 0; i < 2; ++i) {
    Value wide = arith::ExtFOp::create(code.builder, code.loc, code.builder.getF32Type(), code.element(pair, i));
    fragment.values.push_back(code.bitcast(wide, code.builder.getI32Type()));
  }
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

static Fragment aFromRegisters(Product &product, int64_t rowBlock, int64_t kBlock) {
  Fragment fragment;
  for (int64_t half = 0; half < 2; ++half) {
    if (half == 1 && !product.hasSecondHalf(kBlock))
      break;
    int64_t block = rowBlock * product.kBlocks + kBlock + half;
    if (!product.isTf32()) {
      fragment.values.push_back(product.a.registers[block * 2]);
      fragment.values.push_back(product.a.registers[block * 2 + 1]);
      continue;
    }
    for (int64_t i : {0, 2, 1, 3}) // the order of A, inner 8: TileLayouts.h
      appendWord(product, product.a.registers[block * 4 + i], fragment);
  }
  return fragment;
}

/// A [m, k] in shared memory: where several warps share a row, each of them needs all of its k, which is too much to hold.
static Fragment aFromShared(Product &product, int64_t rowBlock, int64_t kBlock) {
  KernelState &state = product.state;
  const SharedTile &tile = *product.a.shared;
  int64_t k = kBlock * tile::blockSize;
  Value row = firstRow(state, rowBlock, tile.layout.rows);
  Fragment fragment;
  if (!product.isTf32()) {
    int count = product.hasSecondHalf(kBlock) ? 4 : 2;
    llvm::append_range(fragment.values, loadMatrices(state, tile, {0, k, row, product.addToKOfA}, count, /*columnsFirst=*/false,
                                                     /*transposed=*/false));
    return fragment;
  }
  for (int64_t half = 0; half < (product.hasSecondHalf(kBlock) ? 2 : 1); ++half) {
    Value above = readPair(state, tile, {0, k + half * 8, row, product.addToKOfA}), below = readPair(state, tile, {8, k + half * 8, row, product.addToKOfA});
    for (int64_t second = 0; second < 2; ++second)
      for (Value pair : {above, below})
        appendWord(product, state.code.element(pair, second), fragment);
  }
  return fragment;
}

static Fragment aTransposed(Product &product, int64_t rowBlock, int64_t kBlock) {
  KernelState &state = product.state;
  const SharedTile &tile = *product.a.shared;
  int64_t k = kBlock * tile::blockSize;
  Value column = firstRow(state, rowBlock, llvm::alignTo(product.dot.getM(), tile::fragmentRows));
  Fragment fragment;
  if (!product.isTf32()) {
    int count = product.hasSecondHalf(kBlock) ? 4 : 2;
    llvm::append_range(fragment.values, loadMatrices(state, tile, {k, 0, product.addToKOfA, column}, count, /*columnsFirst=*/true,
                                                     /*transposed=*/true));
    return fragment;
  }
  for (int64_t half = 0; half < (product.hasSecondHalf(kBlock) ? 2 : 1); ++half)
    for (int64_t second = 0; second < 2; ++second)
      for (int64_t below = 0; below < 2; ++below)
        appendWord(product, readWord(state, tile, {k + half * 8, below * 8, product.addToKOfA, column}, second), fragment);
  return fragment;
}

static Fragment fragmentOfA(Product &product, int64_t rowBlock, int64_t kBlock) {
  if (!product.a.shared)
    return aFromRegisters(product, rowBlock, kBlock);
  return product.dot.getTransposeA() ? aTransposed(product, rowBlock, kBlock) : aFromShared(product, rowBlock, kBlock);
}

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

/// Where the operand B has k and a column block of this warp.
static SharedPlace placeInB(Product &product, int64_t k, int64_t columnBlock) {
  auto [n, add] = columnPlace(product.state, product.layout, columnBlock, product.columnsOfB());
  return product.dot.getTransposeB() ? SharedPlace{n, k, add, product.addToKOfB} : SharedPlace{k, n, product.addToKOfB, add};
}

/// 16-bit pairs of one or two column blocks: [column block][half].
static SmallVector<Fragment> pairsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  int64_t k = kBlock * tile::blockSize;
  bool transposed = product.dot.getTransposeB(), whole = product.hasSecondHalf(kBlock);
  SmallVector<Fragment> result(count);
  // [k, n] in memory needs the transposing load; [n, k] lies as B wants it. The half of k comes first where there are two.
  SharedPlace place = placeInB(product, k, columnBlock);
  bool columnsFirst = transposed == whole;
  auto pairs = loadMatrices(product.state, *product.b.shared, place, count * (whole ? 2 : 1), columnsFirst, !transposed);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t half = 0; half < (whole ? 2 : 1); ++half)
      result[i].values.push_back(pairs[whole ? i * 2 + half : i]);
  return result;
}

/// f32 words of one or two column blocks: [column block][half, first and second].
static SmallVector<Fragment> wordsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  KernelState &state = product.state;
  DeviceBuilder &code = state.code;
  SmallVector<Fragment> result(count);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t half = 0; half < (product.hasSecondHalf(kBlock) ? 2 : 1); ++half) {
      SharedPlace place = placeInB(product, (kBlock + half) * tile::blockSize, columnBlock + i);
      Value pair = product.dot.getTransposeB() ? readPair(state, *product.b.shared, place) : Value();
      for (int64_t second = 0; second < 2; ++second)
        appendWord(product, pair ? code.element(pair, second) : readWord(state, *product.b.shared, place, second),
                   result[i]);
    }
  return result;
}

static SmallVector<Fragment> fragmentsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  if (product.isTf32() && !product.isBNarrow)
    return wordsOfB(product, kBlock, columnBlock, count);
  SmallVector<Fragment> pairs = pairsOfB(product, kBlock, columnBlock, count);
  if (!product.isTf32())
    return pairs;
  SmallVector<Fragment> words(count);
  for (auto [fragment, wide] : llvm::zip_equal(pairs, words))
    for (Value pair : fragment.values)
      appendWidened(product.state.code, pair, wide);
  return words;
}

//===----------------------------------------------------------------------===//
// The instructions
//===----------------------------------------------------------------------===//

static void multiply(Product &product, ArrayRef<Value> a, ArrayRef<Value> b, MutableArrayRef<Value> sums) {
  DeviceBuilder &code = product.state.code;
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
  NVVM::MMATypes operands = product.isTf32()          ? NVVM::MMATypes::tf32
                            : product.element.isF16() ? NVVM::MMATypes::f16
                                                      : NVVM::MMATypes::bf16;
  SmallVector<Value> left(a), right(b);
  if (product.element.isBF16())
    for (SmallVector<Value> *list : {&left, &right})
      for (Value &pair : *list)
        pair = code.bitcast(pair, builder.getI32Type());
  Value result = NVVM::MmaOp::create(
      builder, code.loc, type, left, right, sums, ArrayRef<int64_t>{16, 8, product.isTf32() ? 8 : 16}, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{operands, operands},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (int64_t i = 0; i < 4; ++i)
    sums[i] = LLVM::ExtractValueOp::create(builder, code.loc, result, i);
}

/// One 16×8 block of C and 8 of k, on tf32: small terms first.
static void multiplyHalf(Product &product, const Fragment &a, const Fragment &b, int64_t half,
                         MutableArrayRef<Value> sums) {
  if (!a.rests.empty())
    multiply(product, a.restOfHalf(half, 4), b.half(half, 2), sums);
  if (!b.rests.empty())
    multiply(product, a.half(half, 4), b.restOfHalf(half, 2), sums);
  multiply(product, a.half(half, 4), b.half(half, 2), sums);
}

/// One 16×8 block of C and up to 16 of k, on tf32.
static void multiplyWords(Product &product, const Fragment &a, const Fragment &b, MutableArrayRef<Value> sums) {
  for (size_t half = 0; half < a.values.size() / 4; ++half)
    multiplyHalf(product, a, b, half, sums);
}

/// The same in precision f32: summed from zero, and added by an addition that rounds, unless there is nothing to add it
/// to.
static void multiplySplit(Product &product, const Fragment &a, const Fragment &b, MutableArrayRef<Value> sums) {
  DeviceBuilder &code = product.state.code;
  SmallVector<Value> apart(sums.size(), code.f32(0));
  multiplyWords(product, a, b, apart);
  for (auto [sum, more] : llvm::zip_equal(sums, apart))
    sum = matchPattern(sum, m_AnyZeroFloat()) ? more : arith::AddFOp::create(code.builder, code.loc, sum, more);
}

/// One 16×8 block of C and up to 16 of k.
static void multiplyBlock(Product &product, const Fragment &a, const Fragment &b, MutableArrayRef<Value> sums) {
  if (product.isTf32())
    return product.isSplit ? multiplySplit(product, a, b, sums) : multiplyWords(product, a, b, sums);
  Value zero = product.state.code.zero(VectorType::get({2}, product.element));
  SmallVector<Value> left(a.values.begin(), a.values.end()), right(b.values.begin(), b.values.end());
  left.resize(4, zero);
  right.resize(2, zero);
  multiply(product, left, right, sums);
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

namespace {
/// Blocks of columns of a warp.
struct ColumnRange {
  int64_t begin, end;
};
} // namespace

/// Do a column block and the next lie side by side in B for each warp?
static bool isTwoBlocks(Product &product, int64_t column, ColumnRange range) {
  int64_t limit = product.columnsOfB();
  return column + 1 < range.end &&
         (isWithin(product.layout, column + 1, limit) || !endsPast(product.layout, limit));
}

/// Adds 16 of k to the sums of a range of columns: [row block][column block of the range][4].
static void step(Product &product, int64_t kBlock, ColumnRange range, MutableArrayRef<Value> sums) {
  SmallVector<Fragment> a;
  for (int64_t rowBlock = 0; rowBlock < product.rowBlocks; ++rowBlock)
    a.push_back(fragmentOfA(product, rowBlock, kBlock));
  for (int64_t column = range.begin, count = 0; column < range.end; column += count) {
    count = isTwoBlocks(product, column, range) ? 2 : 1;
    SmallVector<Fragment> b = fragmentsOfB(product, kBlock, column, count);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t rowBlock = 0; rowBlock < product.rowBlocks; ++rowBlock) {
        int64_t block = rowBlock * (range.end - range.begin) + column - range.begin + i;
        multiplyBlock(product, a[rowBlock], b[i], sums.slice(block * 4, 4));
      }
  }
}

/// Words that a lane reads for 16 of k of the operand of which it reads more: of A, where that is in shared memory,
/// eight a row block, of B four a column block.
static int64_t wordsOfStep(Product &product, ColumnRange range) {
  int64_t ofA = product.a.shared ? 8 * product.rowBlocks : 0;
  return std::max(ofA, 4 * (range.end - range.begin));
}

/// What the assembler reads of shared memory ahead of its use, and keeps of it for the next product, it keeps in
/// parts: twice the registers. It reads nothing ahead past a barrier of the warp.
static void endReadingAhead(Product &product) {
  DeviceBuilder &code = product.state.code;
  NVVM::SyncWarpOp::create(code.builder, code.loc, code.i32(-1));
}

/// Blocks of k from `begin` to `end`, all in a row.
static void multiplyBlocks(Product &product, int64_t begin, int64_t end, ColumnRange range,
                           MutableArrayRef<Value> sums) {
  constexpr int64_t mostAhead = 48; // words of an operand
  int64_t words = wordsOfStep(product, range), ahead = 0;
  for (int64_t kBlock = begin; kBlock < end; kBlock += 2) {
    if (product.isSplit && (kBlock == begin || ahead + words > mostAhead)) {
      endReadingAhead(product);
      ahead = 0;
    }
    step(product, kBlock, range, sums);
    ahead += words;
  }
}

//===----------------------------------------------------------------------===//
// A loop over k
//===----------------------------------------------------------------------===//

/// About as many instructions as 16 of k take: products, three to split a word, and additions to the sums.
static int64_t instructionsOfStep(Product &product, ColumnRange range) {
  int64_t columns = range.end - range.begin;
  return 3 * (8 * product.rowBlocks + 4 * columns) + (6 + 4) * product.rowBlocks * columns;
}

/// Steps of 16 of k in the body of a loop over k; all of them if there is none. Where a barrier of the warp is due anyway, the
/// assembler could have moved nothing past a loop's end. A loop takes 8 to 16 instructions a round for itself, eight of them
/// addresses where the swizzle begins anew, after 32 of k, and one step is spared the half of those.
static int64_t stepsOfBody(Product &product, ColumnRange range) {
  constexpr int64_t fewest = 120; // instructions
  int64_t steps = llvm::divideCeil(product.kBlocks, 2), best = steps, least = steps;
  if (!product.isSplit || !product.a.shared)
    return steps;
  for (int64_t body = 1; body <= steps / 2; body += body == 1 ? 1 : 2)
    if (int64_t made = body + steps % body; body * instructionsOfStep(product, range) >= fewest && made < least)
      best = body, least = made;
  return best;
}

/// Moves an operand in shared memory `done` blocks of k further, a multiple of `unit`. Chunks are exchanged anew after eight
/// rows, and in a row after eight of them: that far it is where the tile begins that moves; the rest is given back in elements.
static Value moveAlong(DeviceBuilder &code, SharedTile &tile, bool kIsRows, Value done, int64_t unit) {
  int64_t period = kIsRows ? 1 : 8 * tile.layout.elementsPerChunk() / tile::blockSize;
  int64_t bytes = tile::blockSize * (kIsRows ? tile.layout.rowBytes() : tile.layout.elementBytes);
  Value rest;
  if (unit % period != 0) {
    rest = code.mul(code.rem(done, period), tile::blockSize);
    done = code.mul(code.div(done, period), period);
  }
  tile.base = code.offset(tile.base, code.mul(done, bytes));
  return rest;
}

/// The product as it goes on after `done` blocks of k.
static Product partOf(const Product &product, Value done, int64_t unit) {
  Product part = product;
  DeviceBuilder &code = part.state.code;
  part.addToKOfA = moveAlong(code, *part.a.shared, part.dot.getTransposeA(), done, unit);
  part.addToKOfB = moveAlong(code, *part.b.shared, !part.dot.getTransposeB(), done, unit);
  return part;
}

/// Blocks of k before `end`, `unit` of them a round.
static void multiplyInLoop(Product &product, int64_t end, int64_t unit, ColumnRange range,
                           MutableArrayRef<Value> sums) {
  DeviceBuilder &code = product.state.code;
  OpBuilder &builder = code.builder;
  auto loop = scf::ForOp::create(builder, code.loc, code.i32(0), code.i32(end), code.i32(unit), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Product part = partOf(product, loop.getInductionVar(), unit);
  SmallVector<Value> carried(loop.getRegionIterArgs());
  multiplyBlocks(part, 0, unit, range, carried);
  scf::YieldOp::create(builder, code.loc, carried);
  llvm::copy(loop.getResults(), sums.begin());
}

static void multiplyColumns(Product &product, ColumnRange range, MutableArrayRef<Value> sums) {
  int64_t unit = 2 * stepsOfBody(product, range), looped = product.kBlocks / unit * unit;
  if (looped > unit)
    multiplyInLoop(product, looped, unit, range, sums);
  else
    looped = 0;
  multiplyBlocks(product, looped, product.kBlocks, range, sums);
}

/// acc + A·B, where A·B is summed from zero: see the head of this file. All columns at once: in several ranges what A was
/// split into would stay for the next one, which is more than the sums.
static void multiplyApart(Product &product) {
  DeviceBuilder &code = product.state.code;
  SmallVector<Value> sums(product.sums.size(), code.f32(0));
  multiplyColumns(product, {0, product.columnBlocks}, sums);
  for (auto [total, sum] : llvm::zip_equal(product.sums, sums))
    total = arith::AddFOp::create(code.builder, code.loc, total, sum);
}

/// A second operand of three products or more, such as the keys that the heads of a group share. What the first of them has
/// read of it would be kept in registers for all.
static bool isReadOften(tile::DotOp dot) {
  auto reads = [&](OpOperand &use) { return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() == 1; };
  return llvm::count_if(dot.getB().getUses(), reads) >= 3;
}

LogicalResult device::lowerDot(KernelState &state, tile::DotOp dot) {
  tile::FragmentLayout layout = state.fragment(dot.getResult());
  Product product{ProductShape(dot),
                  state,
                  dot,
                  state.tileOf(dot.getA()),
                  state.tileOf(dot.getB()),
                  layout,
                  state.tileOf(dot.getAcc()).registers,
                  {},
                  {}};
  // A again, for a barrier that B wants comes before both are read, and starts the book anew.
  for (ThreadTile *operand : {&product.a, &product.b, &product.a})
    if (operand->shared)
      state.sharedUse.beforeRead(state.code, operand->shared->buffer);
  if (isReadOften(dot)) // shared memory is read anew after it
    NVVM::SyncWarpOp::create(state.code.builder, state.code.loc, state.code.i32(-1));
  bool fromZero = tile::splatValue(dot.getAcc()) == 0;
  if (product.isSplit && !fromZero)
    multiplyApart(product);
  else
    multiplyColumns(product, {0, product.columnBlocks}, product.sums);
  state.tiles[dot.getResult()].registers = std::move(product.sums);
  return success();
}
