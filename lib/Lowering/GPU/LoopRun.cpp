//===- LoopRun.cpp - Loops of one body, one after another ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LoopRun.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// The loop that takes all that `loop` carries, and only it does; null if there is none, or if more than scalars are computed
/// in between.
static tile::LoopOp successor(tile::LoopOp loop) {
  if (loop->getNumResults() == 0)
    return nullptr;
  Operation *op = loop->getNextNode();
  while (op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }))
    op = op->getNextNode();
  auto next = dyn_cast_or_null<tile::LoopOp>(op);
  if (!next || !llvm::equal(loop.getResults(), next.getInitArgs()))
    return nullptr;
  bool isOnly = llvm::all_of(loop.getResults(), [](Value result) { return result.hasOneUse(); });
  return isOnly ? next : nullptr;
}

/// Does one of the values stand for itself somewhere, and for another one elsewhere? Comparing bodies asks about different
/// values alone.
static bool isAlsoItself(tile::LoopOp one, tile::LoopOp other, const llvm::MapVector<Value, Value> &differing) {
  auto operandsOf = [](tile::LoopOp loop) {
    SmallVector<Value> operands;
    loop.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { llvm::append_range(operands, op->getOperands()); });
    return operands;
  };
  return llvm::any_of(llvm::zip_equal(operandsOf(one), operandsOf(other)), [&](auto both) {
    return std::get<0>(both) == std::get<1>(both) && differing.contains(std::get<0>(both));
  });
}

/// Two bodies that are the same, but for scalars from outside: those of the second, by those of the first.
static std::optional<llvm::MapVector<Value, Value>> compareBodies(tile::LoopOp one, tile::LoopOp other) {
  llvm::DenseMap<Value, Value> inside;
  llvm::MapVector<Value, Value> outside;
  auto isSame = [&](Value a, Value b) {
    if (Value partner = inside.lookup(a))
      return success(partner == b);
    bool isOutside = !one.getBody().isAncestor(a.getParentRegion()) && !other.getBody().isAncestor(b.getParentRegion());
    if (!isOutside || (a != b && !a.getType().isIntOrIndexOrFloat()))
      return failure();
    // Two values may stand where the first body has one: then it is not the same body.
    return success(outside.try_emplace(a, b).first->second == b);
  };
  auto pair = [&](Value a, Value b) { inside[a] = b; };
  if (one.getCarry() != other.getCarry() || one.getStep() != other.getStep() || one.getReverse() != other.getReverse() ||
      !OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(), isSame, pair,
                                                  OperationEquivalence::IgnoreLocations))
    return std::nullopt;
  outside.remove_if([](auto &entry) { return entry.first == entry.second; });
  return isAlsoItself(one, other, outside) ? std::nullopt : std::optional(std::move(outside));
}

bool LoopRun::append(tile::LoopOp next) {
  std::optional<llvm::MapVector<Value, Value>> others = compareBodies(loops.front(), next);
  if (!others)
    return false;
  for (auto [mine, theirs] : *others)
    differing.try_emplace(mine, llvm::SmallVector<Value>(loops.size(), mine));
  for (auto &[mine, values] : differing) {
    auto *found = others->find(mine);
    values.push_back(found == others->end() ? mine : found->second);
  }
  loops.push_back(next);
  return true;
}

LoopRun::LoopRun(tile::LoopOp first) : loops{first} {
  for (tile::LoopOp next = successor(first); next && append(next); next = successor(next))
    ;
}
