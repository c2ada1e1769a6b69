//===- ReadBack.cpp - States that wait in shared memory -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk of FAVOR multiplies queries with the state before it, and at its end the state by a factor:
//
//     a S          products read S from shared memory, where it is copied to at the begin of the chunk
//     factor S     elementwise, in registers
//
// Between lies most of the chunk, and what holds the most registers of it. So the second takes S from the copy, too:
// the registers of S (64 a thread with 256 features) are free in between, for one more read of the copy a chunk. The
// accumulator of a product, which is what other chunks make of S, stays where it is: those hold less beside it.
//
//===----------------------------------------------------------------------===//
#include "ReadBack.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

/// The copy of a carried tile that products of the loop's body read; null if there is none.
static ConvertLayoutOp copyOf(BlockArgument carried) {
  for (Operation *user : carried.getUsers()) {
    auto copy = dyn_cast<ConvertLayoutOp>(user);
    if (copy && copy->getBlock() == carried.getOwner() &&
        isa<SharedAttr>(cast<RankedTensorType>(copy.getType()).getEncoding()))
      return copy;
  }
  return {};
}

static int64_t readBack(BlockArgument carried) {
  ConvertLayoutOp copy = copyOf(carried);
  if (!copy)
    return 0;
  int64_t reads = 0;
  for (OpOperand &use : llvm::make_early_inc_range(carried.getUses())) {
    Operation *user = use.getOwner();
    if (isa<ConvertLayoutOp, DotOp, YieldOp>(user) || user->getBlock() != copy->getBlock() ||
        user->isBeforeInBlock(copy))
      continue;
    OpBuilder builder(user);
    use.set(ConvertLayoutOp::create(builder, user->getLoc(), carried.getType(), copy.getResult()));
    ++reads;
  }
  return reads;
}

int64_t device::readBackStates(KernelOp kernel) {
  int64_t reads = 0;
  kernel.walk([&](LoopOp loop) {
    for (BlockArgument carried : loop.getCarried())
      reads += isa<RankedTensorType>(carried.getType()) ? readBack(carried) : 0;
  });
  return reads;
}
