//===- WgmmaSm90.cpp - Products by warpgroups (sm_90a) -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for each block of rows, 64 of each warpgroup:
//     for each 16 of k:
//       one m64nNk16: A from registers or a descriptor, B from a descriptor, N the columns of a warp
//
// Sums lie as those of mma.sync do, so nothing around a product knows how it was made. The products are left unordered
// here: gpu-order-products puts the fences, groups and waits around them. What of A is in registers, and what
// descriptors are computed from, comes before the first product, so that the products of one `tile.dot` follow each
// other.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "Warpgroups.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

namespace {
/// An operand that the warpgroup finds by a descriptor.
struct Described {
  tile::WarpgroupOperand operand;
  int64_t begin; // bytes
  Value base;    // i64: the descriptor of this warpgroup's first row or column, but for `begin`
};

/// One product being emitted.
struct Product {
  KernelState &state;
  tile::DotOp dot;
  tile::FragmentLayout layout; // of C
  WgmmaAsm instruction;
  std::optional<Described> a; // in shared memory; else
  SmallVector<Value> words;   // [row block][k / 8][rows g, g + 8]: pairs as i32
  Described b;
  SmallVector<Value> sums;

  int64_t sumsOfBlock() const { return instruction.sums(); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Bytes from a tile's begin to row or column `first` (i32, a multiple of 8): WarpgroupOperand::startOf.
static Value startOf(DeviceBuilder &code, const tile::WarpgroupOperand &operand, Value first) {
  const tile::SharedLayout &layout = operand.layout;
  if (operand.kFirst)
    return code.mul(first, layout.rowBytes());
  return code.add(code.mul(code.div(first, layout.panel), layout.panelBytes()),
                  code.mul(code.rem(first, layout.panel), layout.elementBytes));
}

/// `first`: this warpgroup's first row of A or column of B (i32); null: 0.
static Described describe(KernelState &state, const SharedTile &tile, bool kFirst, Value first) {
  DeviceBuilder &code = state.code;
  OpBuilder &builder = code.builder;
  Described described{{tile.layout, kFirst}, tile.begin, {}};
  Value address = LLVM::PtrToIntOp::create(builder, code.loc, builder.getI32Type(), tile.base);
  if (first)
    address = code.add(address, startOf(code, described.operand, first));
  // 14 bits for the address / 16; a constant added later does not leave them, since shared memory has fewer bytes.
  Value field = code.both(code.div(address, 16), code.i32(0x3fff));
  Value start = builder.createOrFold<arith::ExtUIOp>(code.loc, builder.getI64Type(), field);
  described.base = code.either(start, code.i64(static_cast<int64_t>(described.operand.descriptor())));
  return described;
}

/// The descriptor for rows or columns from `first` (of this warpgroup) and 16 of k on.
static Value descriptorOf(DeviceBuilder &code, const Described &described, int64_t first, int64_t k) {
  return code.add(described.base, code.i64((described.begin + described.operand.startOf(first, k)) / 16));
}

/// First column of this warp's sums; null: 0.
static Value firstColumn(KernelState &state, const tile::FragmentLayout &layout) {
  return state.grid.columns == 1 ? Value() : state.code.mul(state.gridColumn, layout.warpColumns());
}

/// First row of this warpgroup in the first block; null: 0.
static Value firstRowOfGroup(KernelState &state) {
  DeviceBuilder &code = state.code;
  bool isOne = state.grid.rows == tile::warpsPerGroup;
  return isOne ? Value() : code.mul(code.div(state.gridRow, tile::warpsPerGroup), tile::warpgroupRows);
}

static SmallVector<Value> wordsOf(DeviceBuilder &code, ArrayRef<Value> pairs) {
  Type i32 = code.builder.getI32Type();
  return llvm::map_to_vector(pairs, [&](Value pair) { return code.bitcast(pair, i32); });
}

//===----------------------------------------------------------------------===//
// The instructions
//===----------------------------------------------------------------------===//

/// One m64nNk16; `add`: to the sums, which are otherwise not read.
static void multiply(Product &product, ValueRange a, Value b, bool add, MutableArrayRef<Value> sums) {
  DeviceBuilder &code = product.state.code;
  OpBuilder &builder = code.builder;
  const WgmmaAsm &instruction = product.instruction;
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, a);
  operands.push_back(b);
  auto constant = [&](int64_t value) {
    operands.push_back(LLVM::ConstantOp::create(builder, code.loc, builder.getI32IntegerAttr(value)));
  };
  constant(add), constant(1), constant(1);
  if (!instruction.registersOfA)
    constant(!product.a->operand.kFirst);
  constant(!product.b.operand.kFirst);
  SmallVector<Type> types(sums.size(), builder.getF32Type());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value result = LLVM::InlineAsmOp::create(builder, code.loc, type, operands, instruction.text(),
                                           instruction.constraints(), /*has_side_effects=*/true,
                                           /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                           LLVM::AsmDialectAttr(), ArrayAttr())
                     .getResult(0);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(builder, code.loc, result, static_cast<int64_t>(i));
}

/// A for one block of rows and 16 of k: four words, or a descriptor.
static SmallVector<Value> operandA(Product &product, int64_t rowBlock, int64_t k) {
  if (product.a)
    return {descriptorOf(product.state.code, *product.a, rowBlock * product.layout.rowStride(), k)};
  int64_t block = (rowBlock * product.dot.getK() + k) / tile::blockSize;
  return SmallVector<Value>(ArrayRef(product.words).slice(2 * block, 4));
}

static void multiplyAll(Product &product, bool fromZero) {
  DeviceBuilder &code = product.state.code;
  for (int64_t rowBlock = 0; rowBlock < product.layout.rowBlocks(); ++rowBlock) {
    auto sums = MutableArrayRef(product.sums).slice(rowBlock * product.sumsOfBlock(), product.sumsOfBlock());
    if (fromZero)
      llvm::fill(sums, LLVM::UndefOp::create(code.builder, code.loc, code.builder.getF32Type()).getResult());
    for (int64_t k = 0; k < product.dot.getK(); k += tile::warpgroupDepth)
      multiply(product, operandA(product, rowBlock, k), descriptorOf(code, product.b, 0, k), !fromZero || k > 0, sums);
  }
}

static LogicalResult refuse(tile::DotOp dot, const Twine &expected) {
  return dot.emitError() << "expected " << expected << " where the second operand lies in panels, for products by "
                         << "warpgroups; a layout without panels is for mma.sync";
}

LogicalResult device::lowerWarpgroupDot(KernelState &state, tile::DotOp dot) {
  if (auto reason = whyNotByWarpgroups(dot, state.grid))
    return refuse(dot, *reason);
  const ThreadTile &a = state.tileOf(dot.getA()), &b = state.tileOf(dot.getB());
  bool sharesA = isInPanels(dot.getA().getType());
  if (!sharesA && (a.shared || needsFirstInShared(dot, state.grid)))
    return refuse(dot, "a first operand in panels");
  if (sharesA && !readsFirstFromShared(dot, state.grid))
    return refuse(dot, "rows in whole blocks of the warpgroups");
  // A again, for a barrier that B wants comes before both are read, and starts the book anew.
  for (const ThreadTile *operand : {&a, &b, &a})
    if (operand->shared)
      state.sharedUse.beforeRead(state.code, operand->shared->buffer);
  tile::FragmentLayout layout = state.fragment(dot.getResult());
  bool isHalf = cast<RankedTensorType>(dot.getA().getType()).getElementType().isF16();
  WgmmaAsm instruction{static_cast<unsigned>(layout.warpColumns()), tile::warpgroupDepth, isHalf ? "f16" : "bf16",
                       !sharesA};
  Product product{state,
                  dot,
                  layout,
                  instruction,
                  std::nullopt,
                  {},
                  describe(state, *b.shared, /*kFirst=*/dot.getTransposeB(), firstColumn(state, layout)),
                  state.tileOf(dot.getAcc()).registers};
  if (sharesA)
    product.a = describe(state, *a.shared, /*kFirst=*/!dot.getTransposeA(), firstRowOfGroup(state));
  else
    product.words = wordsOf(state.code, a.registers);
  multiplyAll(product, tile::splatValue(dot.getAcc()) == 0);
  state.tiles[dot.getResult()].registers = std::move(product.sums);
  return success();
}
