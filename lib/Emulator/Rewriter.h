//===- Rewriter.h - Device code on its way to the host -*- C++ -*- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_REWRITER_H
#define ATTUNE_EMULATOR_REWRITER_H

#include "Instructions.h"
#include "Rewrite.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace attune::emulator {

/// One module on its way to the host: sites, functions and entries (Rewrite.cpp), memory accesses (RewriteMemory.cpp) and
/// calls (RewriteCalls.cpp).
class Rewriter {
public:
  Rewriter(llvm::Module &module, SharedMemory &shared, Machine *machine, bool check)
      : module(module), shared(shared), machine(machine), check(check), layout(module.getDataLayout()),
        context(module.getContext()), pointer(llvm::PointerType::get(context, 0)), i64(llvm::Type::getInt64Ty(context)) {}

  llvm::Error run(RewriteResult &result);

private:
  llvm::Error rewriteFunction(llvm::Function &function);
  void tagProducts(llvm::Function &function);
  llvm::Error rewriteCall(llvm::CallInst &call);
  llvm::Expected<DeviceInstruction> instructionOf(const llvm::CallInst &call);
  void replaceByPureCall(llvm::CallInst &call, void *target);
  void replaceByMachineCall(llvm::CallInst &call, Site &site);
  llvm::Error guard(llvm::Instruction &instruction);
  Ordering orderingOf(llvm::AtomicOrdering order, llvm::SyncScope::ID scope) const;
  Ordering orderingOf(const llvm::Instruction &instruction) const;
  void orderAfter(llvm::Instruction &instruction, Site &site, llvm::Value *target);
  void rewriteFence(llvm::FenceInst &fence);
  llvm::Error placeGlobals(RewriteResult &result);
  llvm::Error addEntry(llvm::Function &kernel, RewriteResult &result);
  Site &addSite(const llvm::Instruction &instruction);
  llvm::Value *address(const void *object) {
    return llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::get(i64, uint64_t(uintptr_t(object))), pointer);
  }
  llvm::AllocaInst *scratch(llvm::Function &function, llvm::Type *type);

  llvm::Module &module;
  SharedMemory &shared;
  Machine *machine;
  bool check;
  const llvm::DataLayout &layout;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  llvm::Type *i64;
  RewriteResult *out = nullptr;
  llvm::DenseMap<const llvm::Instruction *, std::string> texts;
  llvm::DenseMap<std::pair<llvm::Function *, llvm::Type *>, llvm::AllocaInst *> scratches;
  llvm::DenseSet<const llvm::BasicBlock *> inLoops;
};

inline llvm::Error refusal(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_REWRITER_H
