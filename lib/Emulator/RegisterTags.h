//===- RegisterTags.h - Which product a register's number comes from --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of an asynchronous product are names of registers that are filled later. Beside each value that may be
// such a result goes a tag, the product's number, through the same extractions, phis and choices; where the value is
// used for anything but another product, the tag is checked. At a wait that the value goes through it is checked behind:
// what comes out must have been waited for.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_REGISTERTAGS_H
#define ATTUNE_EMULATOR_REGISTERTAGS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <functional>

namespace attune::emulator {

class RegisterTags {
public:
  /// Is a call such a product, or a wait with registers?
  using IsProduct = std::function<bool(const llvm::CallInst &)>;
  using MakeTag = std::function<llvm::Value *(llvm::IRBuilder<> &)>;
  using MakeCheck = std::function<void(llvm::IRBuilder<> &, llvm::Instruction &user, llvm::Value *tag)>;

  RegisterTags(IsProduct isProduct, IsProduct isWait, MakeTag makeTag, MakeCheck makeCheck)
      : isProduct(std::move(isProduct)), isWait(std::move(isWait)), makeTag(std::move(makeTag)), makeCheck(std::move(makeCheck)) {}

  void run(llvm::Function &function);

private:
  bool moves(const llvm::Value &value) const;
  llvm::Value *tagOf(llvm::Value *value);
  llvm::Value *join(llvm::Instruction &at, llvm::Value *first, llvm::Value *second);
  void checkUses(llvm::Instruction &value);

  IsProduct isProduct, isWait;
  MakeTag makeTag;
  MakeCheck makeCheck;
  llvm::DenseMap<llvm::Value *, llvm::Value *> tags;
  llvm::SmallVector<llvm::Instruction *> reached; ///< values that may hold a result
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_REGISTERTAGS_H
