//===- MmaSm80.cpp - Products by mma.sync (sm_80) ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for each 16 of k:
//     A: registers, or transposed from shared memory     [row blocks][4 pairs]
//     for each two blocks of 8 columns:
//       B: from shared memory                             [2 columns][2 halves of k]
//       16-bit operands: one m16n8k16;   f32 operands: two m16n8k8 on tf32
//
// k may end with a half: the other half is zero. k outermost keeps neighbouring products independent of each other.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <array>

using namespace mlir;
using namespace attune;
using namespace attune::device;

namespace {
/// One product being emitted.
struct Product {
  KernelState &state;
  tile::DotOp dot;
  Type element;                        // of the operands: f32, f16 or bf16
  int64_t rowBlocks, columnBlocks, kBlocks; // of C: 16 · warps rows, 8 columns; of k: 8
  ThreadTile a, b;
  SmallVector<Value> sums;

  bool isTf32() const { return element.isF32(); }
  bool hasSecondHalf(int64_t kBlock) const { return kBlock + 1 < kBlocks; }
};

/// Fragment of A for one row block and 16 of k: for 16-bit types registers a0 … a3 as pairs, for f32 the four words of each
/// half of k.
using FragmentA = SmallVector<Value, 8>;
/// Fragment of B for one column block and 16 of k: [half], a pair of 16-bit elements or two words.
using FragmentB = SmallVector<Value, 4>;
} // namespace

static Value toTf32(DeviceBuilder &code, Value number) {
  return code.intrinsic("llvm.nvvm.f2tf32.rna", code.builder.getI32Type(), number);
}

/// The two elements of a 16-bit pair as f32 words; f16 and bf16 are tf32 numbers as they are.
static void appendWidened(DeviceBuilder &code, Value pair, SmallVectorImpl<Value> &words) {
  for (int64_t i = 0; i < 2; ++i) {
    Value wide = arith::ExtFOp::create(code.builder, code.loc, code.builder.getF32Type(), code.element(pair, i));
    words.push_back(code.bitcast(wide, code.builder.getI32Type()));
  }
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

static FragmentA aFromRegisters(Product &product, int64_t rowBlock, int64_t kBlock) {
  DeviceBuilder &code = product.state.code;
  FragmentA fragment;
  for (int64_t half = 0; half < 2; ++half) {
    if (half == 1 && !product.hasSecondHalf(kBlock))
      break;
    int64_t block = rowBlock * product.kBlocks + kBlock + half;
    if (!product.isTf32()) {
      fragment.push_back(product.a.registers[block * 2]);
      fragment.push_back(product.a.registers[block * 2 + 1]);
      continue;
    }
    for (int64_t i : {0, 2, 1, 3}) // the order of A, inner 8: TileLayouts.h
      fragment.push_back(toTf32(code, product.a.registers[block * 4 + i]));
  }
  return fragment;
}

static FragmentA aTransposed(Product &product, int64_t rowBlock, int64_t kBlock) {
  KernelState &state = product.state;
  const SharedTile &tile = *product.a.shared;
  int64_t k = kBlock * tile::blockSize;
  Value column = warpRow(state, rowBlock, llvm::alignTo(product.dot.getM(), tile::fragmentRows));
  if (!product.isTf32())
    return FragmentA(loadMatrices(state, tile, {k, 0, {}, column}, product.hasSecondHalf(kBlock) ? 4 : 2,
                                  /*columnsFirst=*/true, /*transposed=*/true));
  FragmentA fragment;
  for (int64_t half = 0; half < (product.hasSecondHalf(kBlock) ? 2 : 1); ++half)
    for (int64_t second = 0; second < 2; ++second)
      for (int64_t below = 0; below < 2; ++below)
        fragment.push_back(toTf32(state.code, readWord(state, tile, {k + half * 8, below * 8, {}, column}, second)));
  return fragment;
}

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

/// 16-bit pairs of one or two column blocks: [column block][half].
static SmallVector<FragmentB> pairsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  int64_t k = kBlock * tile::blockSize, n = columnBlock * tile::blockSize;
  bool transposed = product.dot.getTransposeB(), whole = product.hasSecondHalf(kBlock);
  SmallVector<FragmentB> result(count);
  // [k, n] in memory needs the transposing load; [n, k] lies as B wants it. The half of k comes first where there are two.
  SharedPlace place = transposed ? SharedPlace{n, k, {}, {}} : SharedPlace{k, n, {}, {}};
  bool columnsFirst = transposed == whole;
  auto pairs = loadMatrices(product.state, *product.b.shared, place, count * (whole ? 2 : 1), columnsFirst, !transposed);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t half = 0; half < (whole ? 2 : 1); ++half)
      result[i].push_back(pairs[whole ? i * 2 + half : i]);
  return result;
}

/// f32 words of one or two column blocks: [column block][half, first and second].
static SmallVector<FragmentB> wordsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  KernelState &state = product.state;
  DeviceBuilder &code = state.code;
  SmallVector<FragmentB> result(count);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t half = 0; half < (product.hasSecondHalf(kBlock) ? 2 : 1); ++half) {
      int64_t k = (kBlock + half) * tile::blockSize, n = (columnBlock + i) * tile::blockSize;
      Value pair = product.dot.getTransposeB() ? readPair(state, *product.b.shared, {n, k, {}, {}}) : Value();
      for (int64_t second = 0; second < 2; ++second)
        result[i].push_back(toTf32(code, pair ? code.element(pair, second)
                                              : readWord(state, *product.b.shared, {k, n, {}, {}}, second)));
    }
  return result;
}

static SmallVector<FragmentB> fragmentsOfB(Product &product, int64_t kBlock, int64_t columnBlock, int64_t count) {
  if (product.b.shared->element.isF32())
    return wordsOfB(product, kBlock, columnBlock, count);
  SmallVector<FragmentB> pairs = pairsOfB(product, kBlock, columnBlock, count);
  if (!product.isTf32())
    return pairs;
  SmallVector<FragmentB> words(count);
  for (auto [fragment, wide] : llvm::zip_equal(pairs, words))
    for (Value pair : fragment)
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

/// One 16×8 block of C and up to 16 of k.
static void multiplyBlock(Product &product, const FragmentA &a, const FragmentB &b, MutableArrayRef<Value> sums) {
  if (product.isTf32()) {
    for (size_t half = 0; half < a.size() / 4; ++half)
      multiply(product, ArrayRef<Value>(a).slice(half * 4, 4), ArrayRef<Value>(b).slice(half * 2, 2), sums);
    return;
  }
  Value zero = product.state.code.zero(VectorType::get({2}, product.element));
  SmallVector<Value> left(a.begin(), a.end()), right(b.begin(), b.end());
  left.resize(4, zero);
  right.resize(2, zero);
  multiply(product, left, right, sums);
}

static void step(Product &product, int64_t kBlock) {
  SmallVector<FragmentA> a;
  for (int64_t rowBlock = 0; rowBlock < product.rowBlocks; ++rowBlock)
    a.push_back(product.a.shared ? aTransposed(product, rowBlock, kBlock) : aFromRegisters(product, rowBlock, kBlock));
  for (int64_t column = 0; column < product.columnBlocks; column += 2) {
    int64_t count = std::min<int64_t>(2, product.columnBlocks - column);
    SmallVector<FragmentB> b = fragmentsOfB(product, kBlock, column, count);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t rowBlock = 0; rowBlock < product.rowBlocks; ++rowBlock) {
        int64_t block = rowBlock * product.columnBlocks + column + i;
        multiplyBlock(product, a[rowBlock], b[i], MutableArrayRef<Value>(product.sums).slice(block * 4, 4));
      }
  }
}

LogicalResult device::lowerDot(KernelState &state, tile::DotOp dot) {
  tile::FragmentLayout layout = state.fragment(dot.getResult());
  Product product{state,
                  dot,
                  cast<RankedTensorType>(dot.getA().getType()).getElementType(),
                  layout.rowBlocks(),
                  layout.columnBlocks(),
                  static_cast<int64_t>(llvm::divideCeil(dot.getK(), tile::blockSize)),
                  state.tileOf(dot.getA()),
                  state.tileOf(dot.getB()),
                  state.tileOf(dot.getAcc()).registers};
  for (ThreadTile *operand : {&product.a, &product.b})
    if (operand->shared)
      state.sharedUse.beforeRead(state.code, operand->shared->buffer);
  for (int64_t kBlock = 0; kBlock < product.kBlocks; kBlock += 2)
    step(product, kBlock);
  state.tiles[dot.getResult()].registers = std::move(product.sums);
  return success();
}
