//===- PtxAssignment.cpp - Registers that are read before they are written ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a register holds that nothing has written is undefined, and a run shows it by chance. So a text is refused if there
// is a way from the begin of an entry to an instruction that reads a register, with no instruction that writes it; whether
// that way is ever gone is not asked.
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace attune::ptx;
using namespace llvm;

using Slots = DenseMap<const Value *, unsigned>;

/// Goes through a block with the registers that are written at its begin; `read` sees each register that is not.
template <typename ReadIt> static void pass(const BasicBlock &block, const Slots &slots, BitVector &written, ReadIt read) {
  for (const llvm::Instruction &instruction : block) {
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      auto slot = slots.find(load->getPointerOperand());
      if (slot != slots.end() && !written.test(slot->second))
        read(instruction);
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (auto slot = slots.find(store->getPointerOperand()); slot != slots.end())
        written.set(slot->second);
    }
  }
}

llvm::Error Emitter::checkAssignments() const {
  Slots slots;
  for (auto [number, slot] : registers)
    slots.try_emplace(slot, unsigned(slots.size()));
  BitVector all(unsigned(slots.size()), true);
  DenseMap<const BasicBlock *, BitVector> atEnd;
  ReversePostOrderTraversal<const Function *> order(function);
  auto atBegin = [&](const BasicBlock *block) {
    BitVector written = all;
    for (const BasicBlock *before : predecessors(block))
      if (auto end = atEnd.find(before); end != atEnd.end())
        written &= end->second;
    return written;
  };
  atEnd[head] = BitVector(unsigned(slots.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock *block : drop_begin(order)) {
      BitVector written = atBegin(block);
      pass(*block, slots, written, [](const llvm::Instruction &) {});
      auto [end, isNew] = atEnd.try_emplace(block, written);
      changed |= isNew || end->second != written;
      end->second = std::move(written);
    }
  }
  std::pair<const Instruction *, StringRef> first{nullptr, ""};
  for (const BasicBlock *block : drop_begin(order)) {
    BitVector written = atBegin(block);
    pass(*block, slots, written, [&](const llvm::Instruction &load) {
      auto reader = readers.lookup(&load);
      if (reader.first && (!first.first || reader.first->line < first.first->line))
        first = reader;
    });
  }
  if (!first.first)
    return llvm::Error::success();
  return errorAt(first.first->line, "expected a register that is written on each way here, but got '" + first.second +
                                        "', in '" + StringRef(first.first->text).take_front(120) + "'");
}
