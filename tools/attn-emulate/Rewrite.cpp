//===- Rewrite.cpp - Turns device code into code for the host -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Rewrite.h"
#include "Instructions.h"
#include "Machine.h"
#include "RegisterTags.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

//===----------------------------------------------------------------------===//
// What the rewritten code calls
//===----------------------------------------------------------------------===//

static void *checkAccess(Machine *machine, Site *site, void *address) { return machine->access(*site, address); }
static void performCall(Machine *machine, Site *site, char *result, const char *arguments) {
  machine->call(*site, result, arguments);
}
static void orderAccess(Machine *machine, Site *site, void *address, bool stores) {
  machine->orderAccess(*site, address, stores);
}
static void orderFence(Machine *machine, Site *site) { machine->orderFence(site->ordering); }
static uint64_t lastProduct(Machine *machine) { return machine->current().productTag; }
static void checkProduct(Machine *machine, Site *site, uint64_t tag) { machine->checkProduct(*site, tag); }

static Error fail(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

namespace {

class Rewriter {
public:
  Rewriter(Module &module, SharedMemory &shared, Machine *machine, bool check)
      : module(module), shared(shared), machine(machine), check(check), layout(module.getDataLayout()),
        context(module.getContext()), pointer(PointerType::get(context, 0)), i64(Type::getInt64Ty(context)) {}

  Error run(RewriteResult &result);

private:
  Error rewriteFunction(Function &function);
  void tagProducts(Function &function);
  Error rewriteCall(CallInst &call);
  Expected<DeviceInstruction> instructionOf(const CallInst &call);
  void replaceByPureCall(CallInst &call, void *target);
  void replaceByMachineCall(CallInst &call, Site &site);
  Error guard(llvm::Instruction &instruction);
  Ordering orderingOf(AtomicOrdering order, SyncScope::ID scope) const;
  Ordering orderingOf(const llvm::Instruction &instruction) const;
  void orderAfter(llvm::Instruction &instruction, Site &site, Value *target);
  void rewriteFence(FenceInst &fence);
  Error placeGlobals(RewriteResult &result);
  Error addEntry(Function &kernel, RewriteResult &result);
  Site &addSite(const llvm::Instruction &instruction);
  Value *address(const void *object) {
    return ConstantExpr::getIntToPtr(ConstantInt::get(i64, uint64_t(uintptr_t(object))), pointer);
  }
  AllocaInst *scratch(Function &function, Type *type);

  Module &module;
  SharedMemory &shared;
  Machine *machine;
  bool check;
  const DataLayout &layout;
  LLVMContext &context;
  PointerType *pointer;
  Type *i64;
  RewriteResult *out = nullptr;
  DenseMap<const llvm::Instruction *, std::string> texts;
  DenseMap<std::pair<Function *, Type *>, AllocaInst *> scratches;
  DenseSet<const BasicBlock *> inLoops;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

static bool isMemoryAccess(const llvm::Instruction &instruction) {
  return isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction);
}

/// Prints the instructions before any is changed, as the reader knows them.
static void printInstructions(const Module &module, DenseMap<const llvm::Instruction *, std::string> &texts) {
  ModuleSlotTracker slots(&module);
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    slots.incorporateFunction(function);
    for (const llvm::Instruction &instruction : instructions(function)) {
      if (!isa<CallInst, FenceInst>(instruction) && !isMemoryAccess(instruction))
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
// Loads and stores
//===----------------------------------------------------------------------===//

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
    return fail("expected an access of at most 1024 bytes, but got " + Twine(bytes) + " at " + texts[&instruction]);
  Site &site = addSite(instruction);
  site.space = space;
  site.load = !isa<StoreInst>(instruction);
  site.store = !isa<LoadInst>(instruction);
  site.bytes = uint32_t(bytes);
  site.alignment = uint32_t(alignment.value());
  site.ordering = orderingOf(instruction);

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

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Intrinsics that the host could compute but the device's backend cannot select.
static bool lacksDeviceCode(StringRef name) {
  for (StringRef stem : {"exp", "exp10", "log", "log10", "pow", "powi", "tan", "tanh", "asin", "acos", "atan", "atan2",
                         "sinh", "cosh", "sincos", "frexp", "modf"})
    if (name.starts_with(("llvm." + stem + ".").str()))
      return true;
  return false;
}

static StringRef withoutClobbers(StringRef constraints) {
  size_t clobber = constraints.find("~{");
  return clobber == StringRef::npos ? constraints : constraints.take_front(clobber).rtrim(',');
}

Expected<DeviceInstruction> Rewriter::instructionOf(const CallInst &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
    if (auto product = findWgmmaAsm(assembly->getAsmString(), withoutClobbers(assembly->getConstraintString())))
      return warpgroupProduct(*product);
    const EmulatedAsm *entry = findEmulatedAsm(assembly->getAsmString());
    if (!entry || entry->constraints != withoutClobbers(assembly->getConstraintString()))
      return fail("inline assembly that the emulator does not model: \"" + assembly->getAsmString() + "\", \"" +
                  assembly->getConstraintString() + "\"");
    return *findInstruction(entry->instruction);
  }
  StringRef name = call.getCalledFunction()->getName();
  if (std::optional<DeviceInstruction> instruction = findInstruction(name))
    return *instruction;
  return fail("intrinsic that the emulator does not model: '" + name + "'");
}

AllocaInst *Rewriter::scratch(Function &function, Type *type) {
  AllocaInst *&slot = scratches[{&function, type}];
  if (!slot) {
    IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
    slot = builder.CreateAlloca(type);
  }
  return slot;
}

/// A pure function of the host: the same operands give the same result, so the optimiser may merge the calls.
void Rewriter::replaceByPureCall(CallInst &call, void *target) {
  IRBuilder<> builder(&call);
  SmallVector<Value *> arguments(call.args());
  CallInst *replacement = builder.CreateCall(call.getFunctionType(), address(target), arguments);
  replacement->setMemoryEffects(MemoryEffects::none());
  replacement->setDoesNotThrow();
  replacement->addFnAttr(Attribute::WillReturn);
  call.replaceAllUsesWith(replacement);
  call.eraseFromParent();
}

/// Offsets of the parts of a value in memory: of a struct its fields, else the value itself.
static std::vector<uint32_t> partOffsets(Type *type, const DataLayout &layout) {
  auto *record = dyn_cast<StructType>(type);
  if (!record)
    return {0};
  std::vector<uint32_t> offsets;
  for (unsigned i = 0; i < record->getNumElements(); ++i)
    offsets.push_back(uint32_t(layout.getStructLayout(record)->getElementOffset(i).getFixedValue()));
  return offsets;
}

void Rewriter::replaceByMachineCall(CallInst &call, Site &site) {
  Function &function = *call.getFunction();
  IRBuilder<> builder(&call);
  Value *arguments = ConstantPointerNull::get(pointer), *result = arguments;
  if (!call.arg_empty()) {
    SmallVector<Type *> types;
    for (Value *argument : call.args())
      types.push_back(argument->getType());
    auto *record = StructType::get(context, types);
    site.argumentOffsets = partOffsets(record, layout);
    arguments = scratch(function, record);
    for (unsigned i = 0; i < types.size(); ++i)
      builder.CreateStore(call.getArgOperand(i), builder.CreateStructGEP(record, arguments, i));
  }
  if (!call.getType()->isVoidTy()) {
    site.resultOffsets = partOffsets(call.getType(), layout);
    result = scratch(function, call.getType());
  }
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer, pointer, pointer}, false);
  CallInst *performed = builder.CreateCall(type, address(reinterpret_cast<void *>(performCall)),
                                           {address(machine), address(&site), result, arguments});
  performed->setConvergent();
  performed->setDoesNotThrow();
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(builder.CreateLoad(call.getType(), result));
  call.eraseFromParent();
}

Error Rewriter::rewriteCall(CallInst &call) {
  Function *callee = call.getCalledFunction();
  if (!call.isInlineAsm()) {
    if (!callee)
      return fail("indirect call that the emulator does not model: " + texts[&call]);
    StringRef name = callee->getName();
    if (!callee->isDeclaration()) {
      call.setCallingConv(CallingConv::C);
      return Error::success();
    }
    if (!callee->isIntrinsic())
      return fail("call of '" + name + "', which is not defined in the module; library functions must be lowered to " +
                  "instructions first");
    if (lacksDeviceCode(name))
      return fail("intrinsic that the device has no instruction for: '" + name + "'");
    bool ofDevice = name.starts_with("llvm.nvvm.") || name == "llvm.trap";
    if (!ofDevice && (callee->doesNotAccessMemory() || isAssumeLikeIntrinsic(&call)))
      return Error::success();
  }
  Expected<DeviceInstruction> instruction = instructionOf(call);
  if (!instruction)
    return instruction.takeError();
  if (instruction->pureFunction) {
    replaceByPureCall(call, instruction->pureFunction);
    return Error::success();
  }
  Site &site = addSite(call);
  site.instruction = std::move(*instruction);
  replaceByMachineCall(call, site);
  return Error::success();
}

/// Checks at the uses of what wgmma gives.
void Rewriter::tagProducts(Function &function) {
  auto *tagType = FunctionType::get(i64, {pointer}, false);
  auto *useType = FunctionType::get(Type::getVoidTy(context), {pointer, pointer, i64}, false);
  RegisterTags tags(
      [](const CallInst &call) {
        auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
        return assembly && findWgmmaAsm(assembly->getAsmString(), withoutClobbers(assembly->getConstraintString()));
      },
      [&](IRBuilder<> &builder) -> Value * {
        return builder.CreateCall(tagType, address(reinterpret_cast<void *>(lastProduct)), {address(machine)});
      },
      [&](IRBuilder<> &builder, llvm::Instruction &user, Value *tag) {
        builder.CreateCall(useType, address(reinterpret_cast<void *>(checkProduct)),
                           {address(machine), address(&addSite(user)), tag});
      });
  tags.run(function);
}

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
    return fail("expected at most " + Twine(FiberStacks::stackBytes / 2) + " bytes of local memory a thread, but '" +
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
        return fail("expected at most 48 KiB of static shared memory, but '" + global.getName() + "' alone has " +
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
      return fail("global variable '" + global.getName() + "', which the module does not define");
    global.setLinkage(GlobalValue::ExternalLinkage);
    result.constants.push_back(global.getName().str());
  }
  return Error::success();
}

/// The block size that the attributes allow.
static uint64_t maxThreads(const Function &kernel) {
  uint64_t most = 1024;
  for (StringRef name : {"nvvm.maxntid", "nvvm.reqntid"}) {
    Attribute attribute = kernel.getFnAttribute(name);
    if (!attribute.isValid())
      continue;
    uint64_t product = 1, size = 0;
    for (StringRef part : split(attribute.getValueAsString(), ','))
      product *= part.trim().getAsInteger(10, size) ? 1 : size;
    most = std::min(most, product);
  }
  return most;
}

Error Rewriter::addEntry(Function &kernel, RewriteResult &result) {
  KernelInfo info{kernel.getName().str(), "attune_entry_" + kernel.getName().str(), unsigned(kernel.arg_size()),
                  maxThreads(kernel)};
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, info.entry, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Type *slotType = argument.getType();
    if (!slotType->isSingleValueType() || slotType->isVectorTy() || argument.hasByValAttr() ||
        layout.getTypeStoreSize(slotType) > 8)
      return fail("expected parameters of at most 8 bytes, but parameter " + Twine(argument.getArgNo()) + " of '" +
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
