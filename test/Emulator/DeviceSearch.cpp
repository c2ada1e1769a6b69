//===- DeviceSearch.cpp - Finding places in the code of a thread ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceSearch.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

bool test::inLoop(Block *block) {
  llvm::SetVector<Block *> reached(block->succ_begin(), block->succ_end());
  for (size_t i = 0; i < reached.size(); ++i)
    reached.insert(reached[i]->succ_begin(), reached[i]->succ_end());
  return reached.contains(block);
}

LLVM::CondBrOp test::guardOf(Block *block) {
  Block *before = block->getSinglePredecessor();
  return before ? dyn_cast<LLVM::CondBrOp>(before->getTerminator()) : LLVM::CondBrOp();
}

Change test::setConstant(OpOperand &operand, int64_t value) {
  OpBuilder builder(operand.getOwner());
  Type type = operand.get().getType();
  operand.set(
      LLVM::ConstantOp::create(builder, operand.getOwner()->getLoc(), type, builder.getIntegerAttr(type, value)));
  return {0, 1, 1};
}

SmallVector<NVVM::CpAsyncWaitGroupOp> test::waitsInLoops(DeviceCode &code) {
  SmallVector<NVVM::CpAsyncWaitGroupOp> waits = all<NVVM::CpAsyncWaitGroupOp>(code);
  llvm::erase_if(waits, [](Operation *wait) { return !inLoop(wait); });
  return waits;
}

BlockArgument test::stageOf(Block *wait) {
  Block *header = wait->getSinglePredecessor();
  if (!header)
    return {};
  for (BlockArgument argument : header->getArguments())
    if (argument.getType().isInteger(32))
      return argument;
  return {};
}
