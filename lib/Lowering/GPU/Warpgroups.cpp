//===- Warpgroups.cpp - Which products are made by warpgroups -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Warpgroups.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

/// An operand with the layout that it would have.
static WarpgroupOperand operandFor(Value tile, bool kFirst) {
  auto type = cast<RankedTensorType>(tile.getType());
  return {SharedLayout(warpgroupSharedFor(type), type.getElementType()), kFirst};
}

static FragmentLayout sumsOf(DotOp dot, WarpGrid warps) {
  auto attr = FragmentAttr::get(dot.getContext(), FragmentRole::C, fragmentRows, warps);
  return {attr, {dot.getM(), dot.getN()}};
}

bool device::readsFirstFromShared(DotOp dot, WarpGrid warps) {
  WarpgroupOperand a = operandFor(dot.getA(), /*kFirst=*/!dot.getTransposeA());
  FragmentLayout sums = sumsOf(dot, warps);
  // Rows past the last fragment of the tile may hold anything, or belong to the next one.
  if (sums.rowBlocks() * sums.rowStride() > static_cast<int64_t>(llvm::alignTo(dot.getM(), fragmentRows)))
    return false;
  for (int64_t row = 0; row < sums.rowBlocks() * sums.rowStride(); row += warpgroupRows)
    if (!a.isReadable(row, warpgroupRows))
      return false;
  return true;
}

/// Is the last step along k whole? If not, the copies that load an operand fill it up with zeros.
static bool hasWholeSteps(DotOp dot) { return dot.getK() % warpgroupDepth == 0; }

/// Rows narrower than a copy come to registers.
static bool isLoaded(Value tile) {
  return isa_and_nonnull<LoadOp>(tile.getDefiningOp()) &&
         cast<RankedTensorType>(tile.getType()).getDimSize(1) >= blockSize;
}

bool device::needsFirstInShared(DotOp dot, WarpGrid warps) {
  return dot.getTransposeA() || warps.columns > 1 || !hasWholeSteps(dot);
}

/// Can each column of warps read its columns of the second operand?
static bool readsSecond(DotOp dot, const FragmentLayout &sums) {
  WarpgroupOperand b = operandFor(dot.getB(), /*kFirst=*/dot.getTransposeB());
  for (int64_t column = 0; column < sums.warps.columns; ++column)
    if (!b.isReadable(column * sums.warpColumns(), sums.warpColumns()))
      return false;
  return true;
}

std::optional<std::string> device::whyNotByWarpgroups(DotOp dot, WarpGrid warps) {
  Type element = cast<RankedTensorType>(dot.getA().getType()).getElementType();
  if (!element.isF16() && !element.isBF16())
    return "operands of f16 or bf16";
  if (warps.rows % warpsPerGroup != 0)
    return "rows of warps in fours";
  if (!hasWholeSteps(dot) && !(isLoaded(dot.getA()) && isLoaded(dot.getB())))
    return "loaded operands, or an inner size in sixteens";
  FragmentLayout sums = sumsOf(dot, warps);
  if (sums.warpColumns() > warpgroupColumns)
    return "at most " + std::to_string(warpgroupColumns) + " columns a warpgroup";
  if (!readsSecond(dot, sums))
    return "columns of a warpgroup that begin a panel, or lie in one";
  if (needsFirstInShared(dot, warps) && !readsFirstFromShared(dot, warps))
    return "rows in whole blocks of the warpgroups";
  return std::nullopt;
}

llvm::DenseSet<Operation *> device::productsByWarpgroups(KernelOp kernel, WarpGrid warps) {
  llvm::DenseSet<Operation *> made;
  SmallVector<DotOp> left;
  kernel.walk([&](DotOp dot) {
    if (!whyNotByWarpgroups(dot, warps))
      made.insert(dot), left.push_back(dot);
  });
  auto isShared = [&](Value tile) {
    return llvm::any_of(tile.getUsers(), [&](Operation *user) { return isa<DotOp>(user) && !made.contains(user); });
  };
  // One that is out may share its other operand with further ones.
  for (bool changed = true; changed;) {
    changed = false;
    for (DotOp dot : left)
      if (made.contains(dot) && (isShared(dot.getB()) || (needsFirstInShared(dot, warps) && isShared(dot.getA()))))
        changed = made.erase(dot);
  }
  return made;
}

bool device::isInPanels(Type tile) {
  auto type = dyn_cast<RankedTensorType>(tile);
  auto shared = type ? dyn_cast_or_null<SharedAttr>(type.getEncoding()) : SharedAttr();
  return shared && shared.getPanel() != 0;
}

bool device::hasPanels(KernelOp kernel) {
  auto found = kernel.walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isInPanels) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}
