//===- DeviceSearch.h - Finding places in the code of a thread --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places are found by what they are, not by number, so that faults stay planted when kernels change.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_DEVICESEARCH_H
#define ATTUNE_TEST_EMULATOR_DEVICESEARCH_H

#include "Fault.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace attune::test {

/// The operations of one kind, in the order of the code.
template <typename Op> llvm::SmallVector<Op> all(DeviceCode &code) {
  llvm::SmallVector<Op> found;
  code.device->walk([&](Op op) { found.push_back(op); });
  return found;
}

/// Can the block be reached from itself?
bool inLoop(mlir::Block *block);
inline bool inLoop(mlir::Operation *op) { return inLoop(op->getBlock()); }

/// The next operation of one kind in the same block.
template <typename Op> Op nextOf(mlir::Operation *op) {
  for (op = op->getNextNode(); op; op = op->getNextNode())
    if (auto found = llvm::dyn_cast<Op>(op))
      return found;
  return {};
}

/// The nearest operation of one kind that `value` is computed from, by addition, multiplication, addresses and choices.
template <typename Op> Op behind(mlir::Value value) {
  llvm::SetVector<mlir::Value> queue;
  queue.insert(value);
  for (size_t i = 0; i < queue.size() && i < 64; ++i) {
    mlir::Operation *op = queue[i].getDefiningOp();
    if (auto found = llvm::dyn_cast_or_null<Op>(op))
      return found;
    if (op)
      queue.insert(op->operand_begin(), op->operand_end());
  }
  return {};
}

/// The branch that leads to a block from its only predecessor; null if it does not depend on anything.
mlir::LLVM::CondBrOp guardOf(mlir::Block *block);

/// Sets an operand to a new constant.
Change setConstant(mlir::OpOperand &operand, int64_t value);
template <typename Op> Change erase(Op op) {
  op->erase();
  return {1, 0, 0};
}
/// The first operation of its kind in a loop.
template <typename Op> std::optional<Change> noneInLoop(DeviceCode &code) {
  for (auto op : all<Op>(code))
    if (inLoop(op))
      return erase(op);
  return std::nullopt;
}

/// The wait at the begin of an iteration of a loop whose copies run ahead.
llvm::SmallVector<mlir::NVVM::CpAsyncWaitGroupOp> waitsInLoops(DeviceCode &code);
/// The number of the stage in a loop whose copies run ahead, by the block with the wait.
mlir::BlockArgument stageOf(mlir::Block *wait);

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_DEVICESEARCH_H
