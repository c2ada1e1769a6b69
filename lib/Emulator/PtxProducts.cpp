//===- PtxProducts.cpp - Registers of products of warpgroups, 9.7.15 -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside each register that a product reads or fills go notes, variables of their own that promotion turns into values:
//
//   FilledBy, ReadBy  the number of the last product that fills it, or reads it as A: nobody may touch it before that
//                     product's group has been waited for, but products may add to the sums of one another where shape
//                     and place are the same, and read one A
//   FilledAs          that shape and place, as one number
//   UsedBefore        how many wgmma.fence there had been when another instruction last touched it: a product needs one
//                     behind that
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

using namespace attune::ptx;
using namespace llvm;
using Instruction = attune::ptx::Instruction;

AllocaInst *Emitter::note(unsigned number, Note kind) { return variable(notes, 4 * number + unsigned(kind), 64, 0); }

/// Behind the notes of all registers there may be.
AllocaInst *Emitter::fenceCount() { return variable(notes, 1u << 24, 64, 0); }

void Emitter::ownRegisters(const Instruction &product) {
  for (const Operand &operand : product.operands)
    if (operand.kind == Operand::Vector)
      for (const Operand &part : operand.parts)
        if (part.kind == Operand::Register)
          owned.insert(part.number);
}

void Emitter::useRegister(unsigned number) {
  if (!owned.contains(number) || current->opcode == "wgmma")
    return;
  Value *filled = load(note(number, Note::FilledBy)), *read = load(note(number, Note::ReadBy));
  Value *last = builder.CreateBinaryIntrinsic(Intrinsic::umax, filled, read);
  device("attune.wgmma.check", Type::getVoidTy(context), {last});
  store(load(fenceCount()), note(number, Note::UsedBefore));
}

void Emitter::writeRegister(unsigned number) {
  if (owned.contains(number) && current->opcode != "wgmma")
    for (Note kind : {Note::FilledBy, Note::ReadBy, Note::FilledAs})
      store(this->number(64, 0), note(number, kind));
}

void Emitter::fenceRegisters() { store(builder.CreateAdd(load(fenceCount()), number(64, 1)), fenceCount()); }

static uint64_t roleOf(unsigned shape, size_t place) { return uint64_t(shape) << 8 | place; }

/// One check for all registers of a product: the latest of the products, and of the uses, that matter to it.
void Emitter::beginProduct(unsigned shape) {
  Value *none = number(64, 0), *product = none, *used = none;
  auto join = [&](Value *&latest, Value *next) {
    latest = builder.CreateBinaryIntrinsic(Intrinsic::umax, latest, next);
  };
  for (auto [place, part] : enumerate(operand(0).parts)) {
    if (part.kind != Operand::Register)
      continue;
    Value *same = builder.CreateICmpEQ(load(note(part.number, Note::FilledAs)), number(64, roleOf(shape, place)));
    join(product, builder.CreateSelect(same, none, load(note(part.number, Note::FilledBy))));
    join(product, load(note(part.number, Note::ReadBy)));
    join(used, load(note(part.number, Note::UsedBefore)));
  }
  for (const Operand &part : operand(1).parts)
    if (part.kind == Operand::Register) {
      join(product, load(note(part.number, Note::FilledBy)));
      join(used, load(note(part.number, Note::UsedBefore)));
    }
  device("attune.wgmma.check", Type::getVoidTy(context), {product});
  device("attune.wgmma.fenced", Type::getVoidTy(context), {builder.CreateICmpULT(used, load(fenceCount()))});
}

void Emitter::endProduct(unsigned shape, Value *tag) {
  for (auto [place, part] : enumerate(operand(0).parts))
    if (part.kind == Operand::Register) {
      store(tag, note(part.number, Note::FilledBy));
      store(number(64, 0), note(part.number, Note::ReadBy));
      store(number(64, roleOf(shape, place)), note(part.number, Note::FilledAs));
    }
  for (const Operand &part : operand(1).parts)
    if (part.kind == Operand::Register)
      store(tag, note(part.number, Note::ReadBy));
}
