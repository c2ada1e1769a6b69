//===- RewriteMemory.cpp - Loads, stores and fences through the machine ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "Rewriter.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static void *checkAccess(Machine *machine, Site *site, void *address) { return machine->access(*site, address); }
static void orderAccess(Machine *machine, Site *site, void *address, bool stores) {
  machine->orderAccess(*site, address, stores);
}
static void orderFence(Machine *machine, Site *site) { machine->orderFence(site->ordering); }

static unsigned pointerOperand(const llvm::Instruction &instruction) {
  if (isa<StoreInst>(instruction))
    return StoreInst::getPointerOperandIndex();
  if (isa<LoadInst>(instruction))
    return LoadInst::getPointerOperandIndex();
  return isa<AtomicRMWInst>(instruction) ? AtomicRMWInst::getPointerOperandIndex()
                                         : AtomicCmpXchgInst::getPointerOperandIndex();
}

static MemorySpace spaceOf(unsigned addressSpace) {
  switch (addressSpace) {
  case 1:
  case 4:
    return MemorySpace::Global;
  case 3:
    return MemorySpace::Shared;
  case 5:
    return MemorySpace::Local;
  default:
    return MemorySpace::Generic;
  }
}

static std::pair<Type *, Align> accessOf(const llvm::Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return {load->getType(), load->getAlign()};
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return {store->getValueOperand()->getType(), store->getAlign()};
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return {update->getType(), update->getAlign()};
  auto &exchange = cast<AtomicCmpXchgInst>(instruction);
  return {exchange.getNewValOperand()->getType(), exchange.getAlign()};
}

/// Of a scope below the device nothing is known beyond what barriers order.
Ordering Rewriter::orderingOf(AtomicOrdering order, SyncScope::ID scope) const {
  SmallVector<StringRef> scopes;
  context.getSyncScopeNames(scopes);
  if (order == AtomicOrdering::NotAtomic || (scope != SyncScope::System && scopes[scope] != "device"))
    return {};
  return {true, isAcquireOrStronger(order), isReleaseOrStronger(order)};
}

Ordering Rewriter::orderingOf(const llvm::Instruction &instruction) const {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return orderingOf(load->getOrdering(), load->getSyncScopeID());
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return orderingOf(store->getOrdering(), store->getSyncScopeID());
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return orderingOf(update->getOrdering(), update->getSyncScopeID());
  auto &exchange = cast<AtomicCmpXchgInst>(instruction);
  return orderingOf(exchange.getSuccessOrdering(), exchange.getSyncScopeID());
}

/// Tells the machine of an atomic access once it is done: an exchange that fails writes nothing.
void Rewriter::orderAfter(llvm::Instruction &instruction, Site &site, Value *target) {
  IRBuilder<> builder(instruction.getNextNode());
  Type *i1 = Type::getInt1Ty(context);
  Value *stores = ConstantInt::getBool(context, site.store);
  if (isa<AtomicCmpXchgInst>(instruction))
    stores = builder.CreateExtractValue(&instruction, 1);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer, pointer, i1}, false);
  builder.CreateCall(type, address(reinterpret_cast<void *>(orderAccess)),
                     {address(machine), address(&site), target, stores});
}

void Rewriter::rewriteFence(FenceInst &fence) {
  Ordering ordering = orderingOf(fence.getOrdering(), fence.getSyncScopeID());
  if (ordering.atomic) {
    Site &site = addSite(fence);
    site.ordering = ordering;
    auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
    IRBuilder<>(&fence).CreateCall(type, address(reinterpret_cast<void *>(orderFence)),
                                   {address(machine), address(&site)});
  }
  fence.eraseFromParent();
}

Error Rewriter::guard(llvm::Instruction &instruction) {
  unsigned operand = pointerOperand(instruction);
  Value *target = instruction.getOperand(operand);
  MemorySpace space = spaceOf(target->getType()->getPointerAddressSpace());
  if (space == MemorySpace::Local || isa<AllocaInst>(getUnderlyingObject(target)))
    return Error::success();
  auto [type, alignment] = accessOf(instruction);
  uint64_t bytes = layout.getTypeStoreSize(type);
  if (bytes > 1024)
    return refusal("expected an access of at most 1024 bytes, but got " + Twine(bytes) + " at " + texts[&instruction]);
  Site &site = addSite(instruction);
  site.space = space;
  site.load = !isa<StoreInst>(instruction);
  site.store = !isa<LoadInst>(instruction);
  site.bytes = uint32_t(bytes);
  site.alignment = uint32_t(alignment.value());
  site.ordering = orderingOf(instruction);
  site.ofConstants = target->getType()->getPointerAddressSpace() == 4;
  site.readsConstant = space == MemorySpace::Global && instruction.hasMetadata(LLVMContext::MD_invariant_load);
  instruction.setMetadata(LLVMContext::MD_invariant_load, nullptr); // the host compiler must not rely on it

  IRBuilder<> builder(&instruction);
  Value *generic = builder.CreateAddrSpaceCast(target, pointer);
  auto *type3 = FunctionType::get(pointer, {pointer, pointer, pointer}, false);
  Value *usable = builder.CreateCall(type3, address(reinterpret_cast<void *>(checkAccess)),
                                     {address(machine), address(&site), generic});
  instruction.setOperand(operand, builder.CreateAddrSpaceCast(usable, target->getType()));
  if (site.ordering.atomic && space != MemorySpace::Shared)
    orderAfter(instruction, site, generic);
  return Error::success();
}
