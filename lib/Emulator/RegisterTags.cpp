//===- RegisterTags.cpp - Which product a register's number comes from --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegisterTags.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

/// Operations that only give registers other names.
bool RegisterTags::moves(const Value &value) const {
  return isa<ExtractValueInst, InsertValueInst, PHINode, SelectInst>(value);
}

/// The later of two.
Value *RegisterTags::join(Instruction &at, Value *first, Value *second) {
  IRBuilder<> builder(&at);
  return builder.CreateBinaryIntrinsic(Intrinsic::umax, first, second);
}

Value *RegisterTags::tagOf(Value *value) {
  Type *type = Type::getInt64Ty(value->getContext());
  Value *none = ConstantInt::get(type, 0);
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return none;
  if (auto known = tags.find(value); known != tags.end())
    return known->second;
  if (!is_contained(reached, instruction))
    return none;
  if (auto *phi = dyn_cast<PHINode>(instruction)) {
    PHINode *tag = PHINode::Create(type, phi->getNumIncomingValues(), "", phi->getIterator());
    tags[value] = tag; // before its operands: loops lead back here
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      tag->addIncoming(tagOf(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
    return tag;
  }
  Value *tag = none;
  if (auto *part = dyn_cast<ExtractValueInst>(instruction))
    tag = tagOf(part->getAggregateOperand());
  else if (auto *whole = dyn_cast<InsertValueInst>(instruction))
    tag = join(*whole, tagOf(whole->getAggregateOperand()), tagOf(whole->getInsertedValueOperand()));
  else if (auto *choice = dyn_cast<SelectInst>(instruction))
    tag = join(*choice, tagOf(choice->getTrueValue()), tagOf(choice->getFalseValue()));
  return tags[value] = tag;
}

void RegisterTags::checkUses(Instruction &value) {
  SetVector<Instruction *> users;
  for (User *user : value.users())
    if (auto *instruction = dyn_cast<Instruction>(user); instruction && !moves(*instruction))
      if (auto *call = dyn_cast<CallInst>(instruction); !call || !isProduct(*call))
        users.insert(instruction);
  for (Instruction *user : users) {
    auto *call = dyn_cast<CallInst>(user);
    IRBuilder<> builder(call && isWait(*call) ? user->getNextNode() : user);
    makeCheck(builder, *user, tagOf(&value));
  }
}

void RegisterTags::run(Function &function) {
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction); call && isProduct(*call))
      reached.push_back(call);
  for (Instruction *product : reached) {
    IRBuilder<> builder(product->getNextNode());
    tags[product] = makeTag(builder);
  }
  SetVector<Instruction *> values(reached.begin(), reached.end());
  for (size_t i = 0; i < values.size(); ++i)
    for (User *user : values[i]->users())
      if (moves(*user))
        values.insert(cast<Instruction>(user));
  reached.assign(values.begin(), values.end());
  for (Instruction *value : SmallVector<Instruction *>(reached))
    checkUses(*value);
}
