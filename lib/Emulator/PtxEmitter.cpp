//===- PtxEmitter.cpp - Emits the IR of one PTX instruction after another -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"
#include "PtxTranslate.h"
#include "Site.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace attune::ptx;
using namespace llvm;
using Instruction = attune::ptx::Instruction;

Emitter::Emitter(const Module &source, llvm::Module &module, uint64_t sharedBase)
    : source(source), module(module), context(module.getContext()), sharedBase(sharedBase),
      builder(context, ConstantFolder(),
              IRBuilderCallbackInserter([this](llvm::Instruction *instruction) { addSource(*instruction); })) {}

//===----------------------------------------------------------------------===//
// Where IR comes from
//===----------------------------------------------------------------------===//

/// One line of at most 160 characters.
static std::string shortText(StringRef text) {
  std::string line;
  for (StringRef word : split(text, ' '))
    for (StringRef part : split(word, '\t'))
      for (StringRef piece : split(part, '\n'))
        if (StringRef trimmed = piece.trim(); !trimmed.empty() && line.size() <= 160)
          line += (line.empty() ? "" : " ") + trimmed.str();
  return line.size() > 160 ? line.substr(0, 157) + "..." : line;
}

/// Calls and accesses to memory may show in findings, and name the PTX that they come from.
void Emitter::addSource(llvm::Instruction &instruction) {
  if (!isa<CallInst, LoadInst, StoreInst, FenceInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction) || !current)
    return;
  if (!here)
    here = MDNode::get(context, {MDString::get(context, shortText(current->text)),
                                 MDString::get(context, ("ptx:" + Twine(current->line)).str())});
  instruction.setMetadata(sourceMetadata, here);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

AllocaInst *Emitter::variable(DenseMap<unsigned, AllocaInst *> &table, unsigned number, unsigned width,
                              uint64_t initial) {
  AllocaInst *&slot = table[number];
  if (!slot) {
    slot = new AllocaInst(bits(width), 0, "", head);
    new StoreInst(ConstantInt::get(context, APInt(64, initial).trunc(width)), slot, head);
  }
  return slot;
}

/// What nothing has written is read by nobody (PtxAssignment.cpp), but by products whose sums begin with zero: to others
/// it is NaN.
AllocaInst *Emitter::registerOf(const Operand &operand) {
  return variable(registers, operand.number, operand.type.bits, 0x7fff7fff7fff7fff);
}

/// Without the builder, which would note their source: they do not last.
Value *Emitter::load(AllocaInst *slot) {
  return new LoadInst(slot->getAllocatedType(), slot, "", builder.GetInsertBlock());
}
void Emitter::store(Value *value, AllocaInst *slot) { new StoreInst(value, slot, builder.GetInsertBlock()); }

void Emitter::promote() {
  SmallVector<AllocaInst *> slots;
  for (auto *table : {&registers, &notes})
    for (auto [number, slot] : *table)
      slots.push_back(slot);
  DominatorTree dominators(*function);
  PromoteMemToReg(slots, dominators);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

CallInst *Emitter::device(StringRef name, Type *result, ArrayRef<Value *> arguments) {
  if (!emulator::findInstruction(name))
    fail("operation that is not modelled: '" + name + "'");
  SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  auto *type = FunctionType::get(result, types, false);
  std::string symbol = (devicePrefix + name).str();
  // Calls of one name may differ in their types: a call says its own.
  FunctionCallee callee = module.getOrInsertFunction(symbol, type);
  return builder.CreateCall(type, callee.getCallee(), arguments);
}

Type *Emitter::words(unsigned count) {
  return count == 1 ? bits(32) : StructType::get(context, SmallVector<Type *>(count, bits(32)));
}
