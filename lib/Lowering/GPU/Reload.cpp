//===- Reload.cpp - Operands that do not stay in shared memory -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand that every step of a loop reads (omega of a feature map) is loaded once, before the loop, and keeps its place
// throughout. With no stages in the schedule it is loaded again for each product: more traffic with the L2 cache, but the
// place is free for what is computed from the product.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// Does an operation only say how a product reads a tile that lies in shared memory?
static bool isReading(Operation *op) {
  if (!isa<tile::ConvertLayoutOp, arith::ExtFOp>(op))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto fragment = dyn_cast_or_null<tile::FragmentAttr>(type.getEncoding());
  return fragment && fragment.getRole() == tile::FragmentRole::B;
}

/// The operands that a tile becomes.
static void findEnds(Value tile, SmallVectorImpl<OpOperand *> &ends) {
  for (OpOperand &use : tile.getUses())
    if (isReading(use.getOwner()))
      findEnds(use.getOwner()->getResult(0), ends);
    else
      ends.push_back(&use);
}

/// The load behind a tile once more, and how it is read.
static Value loadAgain(OpBuilder &builder, Value tile) {
  Operation *op = tile.getDefiningOp();
  IRMapping mapping;
  if (isReading(op))
    mapping.map(op->getOperand(0), loadAgain(builder, op->getOperand(0)));
  return builder.clone(*op, mapping)->getResult(0);
}

static void eraseUnused(Value tile) {
  for (Operation *user : llvm::make_early_inc_range(tile.getUsers()))
    eraseUnused(user->getResult(0));
  if (tile.use_empty())
    tile.getDefiningOp()->erase();
}

static bool isWritten(tile::KernelOp kernel, Value memory) {
  Value root = KernelState::rootOf(memory);
  return kernel
      .walk([&](tile::StoreOp store) {
        return KernelState::rootOf(store.getTarget()) == root ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void device::reloadOperands(tile::KernelOp kernel) {
  for (auto load : llvm::make_early_inc_range(kernel.getBody().front().getOps<tile::LoadOp>())) {
    SmallVector<OpOperand *> ends;
    findEnds(load.getResult(), ends);
    auto inLoop = [&](OpOperand *end) { return end->getOwner()->getBlock() != load->getBlock(); };
    if (!KernelState::isShared(load.getResult()) || llvm::none_of(ends, inLoop) || isWritten(kernel, load.getSource()))
      continue;
    for (OpOperand *end : ends) {
      OpBuilder builder(end->getOwner());
      end->set(loadAgain(builder, end->get()));
    }
    eraseUnused(load.getResult());
  }
}
