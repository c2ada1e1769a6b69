//===- DotForms.cpp - What a dot takes over from the ops around it -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DotForms.h"

#include "RunningSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

std::optional<ScaledAccumulator> cpu::scaledAccumulator(tile::DotOp dot) {
  auto product = dot.getAcc().getDefiningOp<arith::MulFOp>();
  if (!product || !product.getResult().hasOneUse() || product->getBlock() != dot->getBlock())
    return std::nullopt;
  for (unsigned position : {0u, 1u}) {
    auto expand = product->getOperand(position).getDefiningOp<tile::ExpandOp>();
    Value other = product->getOperand(1 - position);
    if (expand && !isFree(expand.getSource()) && !isFree(other) && orderOf(other) == orderOf(dot.getResult()))
      return ScaledAccumulator{product, other, expand.getSource(), static_cast<int64_t>(expand.getAxis())};
  }
  return std::nullopt;
}

/// Whether no vector of what is stored has a mask.
static bool hasWholeVectors(tile::StoreOp store, int64_t lanes) {
  Value tile = store.getValue();
  auto memory = cast<MemRefType>(store.getTarget().getType());
  APInt column;
  return !store.getLower() && rankOf(tile) == 2 && memory.getElementType().isF32() && shapeOf(tile)[1] % lanes == 0 &&
         !memory.isDynamicDim(memory.getRank() - 1) && matchPattern(store.getIndices().back(), m_ConstantInt(&column)) &&
         column.getSExtValue() + shapeOf(tile)[1] <= memory.getDimSize(memory.getRank() - 1);
}

bool cpu::storesWholeVectors(tile::StoreOp store, int64_t lanes) {
  if (!hasWholeVectors(store, lanes))
    return false;
  bool read = false;
  store->getParentOfType<tile::KernelOp>()->walk(
      [&](tile::LoadOp load) { read |= load.getSource() == store.getTarget(); });
  return !read;
}

Operation *cpu::onlyUser(Operation *op) {
  Operation *user = op->getResult(0).hasOneUse() ? *op->getResult(0).user_begin() : nullptr;
  return user && user->getBlock() == op->getBlock() ? user : nullptr;
}

std::optional<ScaledStore> cpu::scaledStore(tile::DotOp dot, int64_t lanes) {
  Value result = dot.getResult();
  auto product = dyn_cast_or_null<arith::MulFOp>(onlyUser(dot));
  Operation *user = product ? onlyUser(product) : nullptr;
  auto sum = dyn_cast_or_null<arith::AddFOp>(user);
  auto store = dyn_cast_or_null<tile::StoreOp>(sum ? onlyUser(sum) : user);
  if (!store || orderOf(result) != Order::Row || !storesWholeVectors(store, lanes) || runningSums(dot))
    return std::nullopt;
  Value other = product.getLhs() == result ? product.getRhs() : product.getLhs();
  auto expand = other.getDefiningOp<tile::ExpandOp>();
  // The dot comes just before the product, so that the scale is there: cpu-fold-accumulators has moved it.
  if (!expand || expand.getAxis() != 1 || isFree(expand.getSource()) || dot->getNextNode() != product)
    return std::nullopt;
  if (!sum)
    return ScaledStore{product, expand.getSource(), store};
  Value addend = sum.getLhs() == product.getResult() ? sum.getRhs() : sum.getLhs();
  if (isFree(addend) || product->getNextNode() != sum)
    return std::nullopt;
  return ScaledStore{product, expand.getSource(), store, sum, addend};
}

bool cpu::haveSameElements(tile::LoadOp load, tile::StoreOp store) {
  return load.getSource() == store.getTarget() && load.getIndices() == store.getIndices() && load.getLower() == store.getLower() &&
         load.getRows() == store.getRows() && load.getFold() == store.getFold() && load.getColumns() == store.getColumns() &&
         load.getStride() == store.getStride();
}

/// Whether an op may touch memory on its own.
static bool writesOrWaits(Operation *op) { return isa<tile::StoreOp, tile::LoopOp, tile::ArriveOp>(op); }

std::optional<SumInMemory> cpu::sumInMemory(tile::DotOp dot, int64_t lanes) {
  auto load = dot.getAcc().getDefiningOp<tile::LoadOp>();
  auto store = dyn_cast_or_null<tile::StoreOp>(onlyUser(dot));
  if (!load || !store || dot->getNextNode() != store || onlyUser(load) != dot || !haveSameElements(load, store) ||
      orderOf(dot.getResult()) != Order::Row || !hasWholeVectors(store, lanes) || runningSums(dot))
    return std::nullopt;
  // The load moves to the dot.
  for (Operation *op = load->getNextNode(); op != dot; op = op->getNextNode())
    if (writesOrWaits(op))
      return std::nullopt;
  return SumInMemory{load, store};
}

std::optional<MultipliedResult> cpu::multipliedResult(tile::DotOp dot, int64_t lanes) {
  Value result = dot.getResult();
  auto product = dyn_cast_or_null<arith::MulFOp>(onlyUser(dot));
  if (!product || dot->getNextNode() != product || scaledStore(dot, lanes) || runningSums(dot))
    return std::nullopt;
  Value factor = product.getLhs() == result ? product.getRhs() : product.getLhs();
  // A factor without other readers is made beside the product.
  if (isFree(factor) || factor.hasOneUse() || orderOf(factor) != orderOf(result) || orderOf(product.getResult()) != orderOf(result))
    return std::nullopt;
  return MultipliedResult{product, factor};
}

Operation *cpu::lastOf(tile::DotOp dot, int64_t lanes) {
  std::optional<MultipliedResult> multiplied = multipliedResult(dot, lanes);
  return multiplied ? multiplied->product : dot.getOperation();
}

tile::StoreOp cpu::plainStore(tile::DotOp dot, int64_t lanes) {
  Operation *last = lastOf(dot, lanes);
  auto store = dyn_cast_or_null<tile::StoreOp>(onlyUser(last));
  bool stores = store && last->getNextNode() == store && orderOf(dot.getResult()) == Order::Row && storesWholeVectors(store, lanes) && !runningSums(dot);
  return stores ? store : tile::StoreOp();
}

tile::DotOp cpu::dotThatEndsWith(Operation *op, int64_t lanes) {
  tile::DotOp dot;
  if (isa<tile::LoadOp>(op)) {
    dot = dyn_cast_or_null<tile::DotOp>(onlyUser(op));
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    Operation *made = store.getValue().getDefiningOp();
    dot = made ? dyn_cast<tile::DotOp>(isa<arith::MulFOp>(made) && made->getPrevNode() ? made->getPrevNode() : made) : tile::DotOp();
  } else if (isa<arith::MulFOp>(op)) {
    dot = dyn_cast_or_null<tile::DotOp>(op->getPrevNode());
  }
  if (!dot)
    return dot;
  std::optional<SumInMemory> sum = sumInMemory(dot, lanes);
  bool ends = (sum && (sum->load == op || sum->store == op)) || plainStore(dot, lanes) == op || (lastOf(dot, lanes) == op && op != dot);
  return ends ? dot : tile::DotOp();
}

/// A dot whose result is a factor of the tile.
static tile::DotOp factorOf(Value tile) {
  if (auto product = tile.getDefiningOp<arith::MulFOp>())
    for (Value operand : product->getOperands())
      if (auto dot = operand.getDefiningOp<tile::DotOp>())
        return dot;
  return {};
}

tile::DotOp cpu::dotThatStores(Operation *op, int64_t lanes) {
  auto store = dyn_cast<tile::StoreOp>(op);
  Value tile = store ? store.getValue() : op->getNumResults() == 1 ? op->getResult(0) : Value();
  if (!tile)
    return {};
  SmallVector<Value, 3> products{tile};
  if (auto sum = tile.getDefiningOp<arith::AddFOp>())
    llvm::append_range(products, sum->getOperands());
  for (Value product : products)
    if (tile::DotOp dot = factorOf(product))
      if (auto stored = scaledStore(dot, lanes); stored && stored->does(op))
        return dot;
  return {};
}

static std::optional<int64_t> diagonalOf(tile::MaskOp mask) {
  APInt diagonal;
  if (mask && mask.getDiagonal() && matchPattern(mask.getDiagonal(), m_ConstantInt(&diagonal)))
    return diagonal.getSExtValue();
  return std::nullopt;
}

std::optional<int64_t> cpu::resultDiagonal(tile::DotOp dot) {
  std::optional<int64_t> common;
  for (Operation *user : dot.getResult().getUsers()) {
    auto diagonal = diagonalOf(dyn_cast<tile::MaskOp>(user));
    if (!diagonal || (common && *common != *diagonal))
      return std::nullopt;
    common = diagonal;
  }
  return common;
}

std::optional<int64_t> cpu::operandDiagonal(tile::DotOp dot) {
  Value a = dot.getA();
  if (auto rounded = a.getDefiningOp<arith::TruncFOp>())
    a = rounded.getIn();
  auto mask = a.getDefiningOp<tile::MaskOp>();
  if (!mask || dot.getTransposeA() || !mask.getFill().isZero())
    return std::nullopt;
  return diagonalOf(mask);
}

/// Whether something may be stored into the same memory after the load, before its tile is read for the last time. Ops may
/// move within their block, so there must be no such store there at all.
static bool overwritten(tile::LoadOp load) {
  Block *block = load->getBlock();
  bool written = false;
  load->getParentOfType<tile::KernelOp>()->walk([&](tile::StoreOp store) {
    written |= store.getTarget() == load.getSource() && block->findAncestorOpInBlock(*store);
  });
  return written;
}

bool cpu::isRowAlone(tile::DotOp dot, const Isa &target) {
  auto load = dot.getA().getDefiningOp<tile::LoadOp>();
  return dot.getM() == 1 && dot.getK() > 1 && !(load && load.getFold()) && orderOf(dot.getResult()) == Order::Row && !isFree(dot.getA()) && splatValue(dot.getAcc()) == 0.0 &&
         !takesPairs(dot, target) && !scaledStore(dot, target.lanes) && !plainStore(dot, target.lanes) && lastOf(dot, target.lanes) == dot.getOperation() &&
         !resultDiagonal(dot) && !operandDiagonal(dot);
}

bool cpu::takesPairs(tile::DotOp dot, const Isa &target) {
  return target.bf16Dots && tileType(dot.getA()).getElementType().isBF16();
}

bool cpu::heldAsBf16(Value tile, const Isa &target) {
  return target.bf16Dots && rankOf(tile) == 2 && tileType(tile).getElementType().isBF16() && !isFree(tile) &&
         !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
           return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
         });
}

int64_t cpu::depthAxis(tile::DotOp dot, unsigned operand) {
  return operand == 0 ? !dot.getTransposeA() : dot.getTransposeB();
}

/// Whether a dot reads the tile of a window row by row, as it lies: as vectors of whole rows, or as numbers along a row.
static bool readsRowsOfWindow(OpOperand &use, int64_t lanes) {
  auto dot = dyn_cast<tile::DotOp>(use.getOwner());
  if (!dot || use.getOperandNumber() == 2 || orderOfUse(use) == Order::Column)
    return false;
  bool rows = orderOf(dot.getResult()) == Order::Column, vectors = (use.getOperandNumber() == 0) == rows;
  bool depthAlong = depthAxis(dot, use.getOperandNumber()) == 1;
  return vectors ? !depthAlong && shapeOf(use.get())[1] % lanes == 0 : depthAlong;
}

/// Whether a dot can read the tile as it lies in memory, or pairs be made of it by whole vectors.
static bool readsPairsInPlace(OpOperand &use, int64_t lanes) {
  auto dot = cast<tile::DotOp>(use.getOwner());
  unsigned operand = use.getOperandNumber();
  ArrayRef<int64_t> shape = shapeOf(use.get());
  bool rows = orderOf(dot.getResult()) == Order::Column, vectors = (operand == 0) == rows;
  if (depthAxis(dot, operand) == 0)
    return shape[1] % lanes == 0;
  return vectors ? shape[0] % lanes == 0 && shape[1] % (2 * lanes) == 0 : true;
}

/// A scan reads numbers of a and b, and vectors of the rows of what has columns.
static bool readsInPlace(tile::ScanOp scan, OpOperand &use, bool wholeRows) {
  if (use.get() == scan.getState() || use.get() == scan.getAcc())
    return false;
  bool numbers = use.get() != scan.getV() && !(use.get() == scan.getDecay() && scan.getDecayColumns());
  return numbers || wholeRows;
}

bool cpu::readInPlace(tile::LoadOp load, const Isa &target) {
  int64_t lanes = target.lanes;
  bool pairs = heldAsBf16(load.getResult(), target);
  Value tile = load.getResult();
  auto memory = cast<MemRefType>(load.getSource().getType());
  APInt column;
  if ((load.getFold() && pairs) || !(pairs || tileType(tile).getElementType().isF32()) || rankOf(tile) != 2 ||
      memory.isDynamicDim(memory.getRank() - 1) || !matchPattern(load.getIndices().back(), m_ConstantInt(&column)) ||
      column.getSExtValue() + shapeOf(tile)[1] > memory.getDimSize(memory.getRank() - 1))
    return false;
  if (overwritten(load))
    return false;
  if (load.getFold())
    return llvm::all_of(tile.getUses(), [&](OpOperand &use) { return readsRowsOfWindow(use, lanes); });
  if (pairs)
    return llvm::all_of(tile.getUses(), [&](OpOperand &use) { return readsPairsInPlace(use, lanes); });
  bool wholeRows = shapeOf(tile)[1] % lanes == 0, wholeColumns = shapeOf(tile)[0] % lanes == 0;
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    if (isa<tile::LoopOp, tile::YieldOp, tile::StoreOp, tile::ReduceOp>(use.getOwner()))
      return false;
    if (auto scan = dyn_cast<tile::ScanOp>(use.getOwner()))
      return readsInPlace(scan, use, wholeRows);
    // In the other order the tile is transposed, by whole blocks.
    if (orderOfUse(use) == Order::Column)
      return wholeRows && wholeColumns;
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot || use.getOperandNumber() == 2)
      return false;
    bool rows = orderOf(dot.getResult()) == Order::Column;
    bool vectors = (use.getOperandNumber() == 0) == rows;
    return !vectors || wholeRows;
  });
}
