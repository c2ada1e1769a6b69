//===- Rewrite.cpp - Turns device code into code for the host ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "PtxTranslate.h"
#include "Rewriter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ModuleSlotTracker.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

static bool isMemoryAccess(const llvm::Instruction &instruction) {
  return isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction);
}

/// Prints the instructions before any is changed, as the reader knows them. What comes from PTX has its text beside it.
static void printInstructions(const Module &module, DenseMap<const llvm::Instruction *, std::string> &texts) {
  ModuleSlotTracker slots(&module);
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    slots.incorporateFunction(function);
    for (const llvm::Instruction &instruction : instructions(function)) {
      if ((!isa<CallInst, FenceInst>(instruction) && !isMemoryAccess(instruction)) ||
          instruction.getMetadata(ptx::sourceMetadata))
        continue;
      std::string text;
      raw_string_ostream os(text);
      instruction.print(os, slots);
      StringRef trimmed = StringRef(text).trim();
      texts[&instruction] = trimmed.size() > 160 ? trimmed.take_front(157).str() + "..." : trimmed.str();
    }
  }
}

Site &Rewriter::addSite(const llvm::Instruction &instruction) {
  auto site = std::make_unique<Site>();
  site->function = instruction.getFunction()->getName().str();
  site->text = texts[&instruction];
  if (const DebugLoc &location = instruction.getDebugLoc())
    site->location = (location->getFilename() + ":" + Twine(location.getLine()) + ":" + Twine(location.getCol())).str();
  if (const MDNode *source = instruction.getMetadata(ptx::sourceMetadata)) {
    site->text = cast<MDString>(source->getOperand(0))->getString().str();
    site->location = cast<MDString>(source->getOperand(1))->getString().str();
  }
  site->bankUse.kernel = site->function;
  site->bankUse.instruction = site->text;
  site->bankUse.location = site->location;
  site->bankUse.inLoop = inLoops.contains(instruction.getParent());
  site->sectorUse.kernel = site->function;
  site->sectorUse.instruction = site->text;
  site->sectorUse.location = site->location;
  out->sites.push_back(std::move(site));
  return *out->sites.back();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static void collectLoops(Function &function, DenseSet<const BasicBlock *> &inLoops) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (const BasicBlock &block : function)
    if (loops.getLoopFor(&block))
      inLoops.insert(&block);
}

Error Rewriter::rewriteFunction(Function &function) {
  collectLoops(function, inLoops);
  function.setCallingConv(CallingConv::C);
  function.removeFnAttr("target-cpu");
  function.removeFnAttr("target-features");
  SmallVector<llvm::Instruction *> work;
  uint64_t stackBytes = 0;
  for (llvm::Instruction &instruction : instructions(function)) {
    if (isa<CallInst>(instruction) || (check && (isMemoryAccess(instruction) || isa<FenceInst>(instruction))))
      work.push_back(&instruction);
    if (auto *local = dyn_cast<AllocaInst>(&instruction))
      stackBytes +=
          local->getAllocationSize(layout).value_or(TypeSize::getFixed(FiberStacks::stackBytes)).getFixedValue();
  }
  if (stackBytes > FiberStacks::stackBytes / 2)
    return refusal("expected at most " + Twine(FiberStacks::stackBytes / 2) + " bytes of local memory a thread, but '" +
                function.getName() + "' has " + Twine(stackBytes));
  if (check)
    tagProducts(function);
  for (llvm::Instruction *instruction : work) {
    if (auto *fence = dyn_cast<FenceInst>(instruction)) {
      rewriteFence(*fence);
      continue;
    }
    auto *call = dyn_cast<CallInst>(instruction);
    if (Error error = call ? rewriteCall(*call) : guard(*instruction))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Globals and entries
//===----------------------------------------------------------------------===//

/// Static buffers first, then the dynamic ones, which all begin behind them.
Error Rewriter::placeGlobals(RewriteResult &result) {
  for (bool dynamic : {false, true})
    for (GlobalVariable &global : make_early_inc_range(module.globals())) {
      bool external = global.isDeclaration();
      if (global.getAddressSpace() != 3 || external != dynamic)
        continue;
      uint64_t bytes = dynamic ? 0 : layout.getTypeAllocSize(global.getValueType()).getFixedValue();
      uint64_t alignment = layout.getValueOrABITypeAlignment(global.getAlign(), global.getValueType()).value();
      if (shared.bytesUsed() + bytes + 4 * alignment + 4096 > shared.capacity())
        return refusal("expected at most 48 KiB of static shared memory, but '" + global.getName() + "' alone has " +
                    Twine(bytes) + " bytes");
      void *place = shared.place(global.getName().str(), bytes, alignment, dynamic);
      global.replaceAllUsesWith(
          ConstantExpr::getIntToPtr(ConstantInt::get(i64, uint64_t(uintptr_t(place))), global.getType()));
      global.eraseFromParent();
    }
  for (GlobalVariable &global : module.globals()) {
    if (global.getName().starts_with("llvm."))
      continue;
    if (global.isDeclaration())
      return refusal("global variable '" + global.getName() + "', which the module does not define");
    global.setLinkage(GlobalValue::ExternalLinkage);
    result.constants.push_back(global.getName().str());
  }
  return Error::success();
}

/// The three numbers that an attribute lists, 1 where it has fewer; zeros without it.
static std::array<uint64_t, 3> sizesOf(const Function &kernel, StringRef name) {
  Attribute attribute = kernel.getFnAttribute(name);
  if (!attribute.isValid())
    return {};
  std::array<uint64_t, 3> sizes = {1, 1, 1};
  unsigned i = 0;
  for (StringRef part : split(attribute.getValueAsString(), ','))
    if (uint64_t size = 0; i < 3 && !part.trim().getAsInteger(10, size))
      sizes[i++] = size;
  return sizes;
}

Error Rewriter::addEntry(Function &kernel, RewriteResult &result) {
  KernelInfo info{kernel.getName().str(), "attune_entry_" + kernel.getName().str(), unsigned(kernel.arg_size()),
                  1024, sizesOf(kernel, "nvvm.reqntid"), sizesOf(kernel, "nvvm.minctasm")[0]};
  if (auto [x, y, z] = sizesOf(kernel, "nvvm.maxntid"); x) // 11.4.2: all threads together count
    info.maxThreads = std::min<uint64_t>(1024, x * y * z);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, info.entry, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Type *slotType = argument.getType();
    if (!slotType->isSingleValueType() || slotType->isVectorTy() || argument.hasByValAttr() ||
        layout.getTypeStoreSize(slotType) > 8)
      return refusal("expected parameters of at most 8 bytes, but parameter " + Twine(argument.getArgNo()) + " of '" +
                  kernel.getName() + "' is an aggregate or wider");
    Value *slot = builder.CreateConstInBoundsGEP1_64(i64, entry->getArg(0), argument.getArgNo());
    arguments.push_back(builder.CreateLoad(slotType, slot));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  result.kernels.push_back(std::move(info));
  return Error::success();
}

Error Rewriter::run(RewriteResult &result) {
  out = &result;
  printInstructions(module, texts);
  SmallVector<Function *> kernels;
  for (Function &function : module)
    if (function.getCallingConv() == CallingConv::PTX_Kernel && !function.isDeclaration())
      kernels.push_back(&function);
  for (Function &function : module)
    if (!function.isDeclaration())
      if (Error error = rewriteFunction(function))
        return error;
  if (Error error = placeGlobals(result))
    return error;
  for (Function *kernel : kernels)
    if (Error error = addEntry(*kernel, result))
      return error;
  return Error::success();
}

Expected<RewriteResult> emulator::rewriteForHost(Module &module, SharedMemory &shared, Machine *machine, bool check) {
  RewriteResult result;
  if (Error error = Rewriter(module, shared, machine, check).run(result))
    return std::move(error);
  return std::move(result);
}
