//===- ShiftedLoads.cpp - Loads of one memory at neighbouring rows -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ShiftedLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// An index as another one and a constant distance from it.
static std::pair<Value, int64_t> withDistance(Value index) {
  APInt distance;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (sum && matchPattern(sum.getRhs(), m_ConstantInt(&distance)))
    return {sum.getLhs(), distance.getSExtValue()};
  return {index, 0};
}

static unsigned rowDimension(tile::LoadOp load) { return load.getIndices().size() - 2; }

std::pair<Value, int64_t> cpu::firstRow(tile::LoadOp load) {
  return withDistance(load.getFold() ? load.getFold() : load.getIndices()[rowDimension(load)]);
}

bool cpu::isShifted(tile::LoadOp a, tile::LoadOp b) {
  auto column = [](tile::LoadOp load) { return load.getIndices().back(); };
  return a.getSource() == b.getSource() && a.getType() == b.getType() && !a.getFold() == !b.getFold() &&
         firstRow(a).first == firstRow(b).first && column(a) == column(b);
}

/// Whether rows before the load's bound are those before the memory's first, which nobody reads without a bound.
static bool beginsWithMemory(tile::LoadOp load) { return !load.getLower() || matchPattern(load.getLower(), m_Zero()); }

/// Whether row r + 1 of `a` is row r of `b`, be it one that does not exist.
static bool follows(tile::LoadOp a, tile::LoadOp b) {
  if (!isShifted(a, b)) // of another memory, perhaps of another rank
    return false;
  bool bounds =
      a.getRows() == b.getRows() && (a.getLower() == b.getLower() || (beginsWithMemory(a) && beginsWithMemory(b)));
  bool place = a.getColumns() == b.getColumns() && a.getStride() == b.getStride();
  for (unsigned i = 0, end = a.getIndices().size(); i < end; ++i)
    place &= a.getIndices()[i] == b.getIndices()[i] || (i == rowDimension(a) && !a.getFold());
  return bounds && place && firstRow(b).second == firstRow(a).second + 1;
}

SmallVector<RunOfLoads> cpu::runsOfLoads(ArrayRef<Operation *> ops) {
  SmallVector<tile::LoadOp> loads;
  for (Operation *op : ops)
    if (auto load = dyn_cast<tile::LoadOp>(op); load && cast<ShapedType>(load.getType()).getRank() == 2)
      loads.push_back(load);
  llvm::stable_sort(loads, [](tile::LoadOp a, tile::LoadOp b) { return firstRow(a).second < firstRow(b).second; });
  SmallVector<RunOfLoads> runs;
  for (tile::LoadOp load : loads) {
    auto before = llvm::find_if(runs, [&](const RunOfLoads &run) { return follows(run.back(), load); });
    if (before == runs.end())
      before = &runs.emplace_back();
    before->push_back(load);
  }
  llvm::erase_if(runs, [](const RunOfLoads &run) { return run.size() < 2; });
  return runs;
}
