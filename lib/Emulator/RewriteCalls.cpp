//===- RewriteCalls.cpp - Device instructions as calls into the machine ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "PtxTranslate.h"
#include "RegisterTags.h"
#include "Rewriter.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static void performCall(Machine *machine, Site *site, char *result, const char *arguments) {
  machine->call(*site, result, arguments);
}
static uint64_t lastProduct(Machine *machine) { return machine->current().productTag; }
static void checkProduct(Machine *machine, Site *site, uint64_t tag) { machine->checkProduct(*site, tag); }

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
    if (auto order = findWgmmaOrderAsm(assembly->getAsmString(), withoutClobbers(assembly->getConstraintString())))
      return warpgroupOrder(*order);
    const EmulatedAsm *entry = findEmulatedAsm(assembly->getAsmString());
    if (!entry || entry->constraints != withoutClobbers(assembly->getConstraintString()))
      return refusal("inline assembly that the emulator does not model: \"" + assembly->getAsmString() + "\", \"" +
                  assembly->getConstraintString() + "\"");
    return *findInstruction(entry->instruction);
  }
  StringRef name = call.getCalledFunction()->getName();
  name.consume_front(ptx::devicePrefix);
  if (std::optional<DeviceInstruction> instruction = findInstruction(name))
    return *instruction;
  return refusal("intrinsic that the emulator does not model: '" + name + "'");
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
      return refusal("indirect call that the emulator does not model: " + texts[&call]);
    StringRef name = callee->getName();
    if (!callee->isDeclaration()) {
      call.setCallingConv(CallingConv::C);
      return Error::success();
    }
    bool ofPtx = name.starts_with(ptx::devicePrefix);
    if (!callee->isIntrinsic() && !ofPtx)
      return refusal("call of '" + name + "', which is not defined in the module; library functions must be lowered to " +
                  "instructions first");
    if (lacksDeviceCode(name))
      return refusal("intrinsic that the device has no instruction for: '" + name + "'");
    bool ofDevice = ofPtx || name.starts_with("llvm.nvvm.") || name == "llvm.trap";
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
      [](const CallInst &call) {
        auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
        auto order = assembly ? findWgmmaOrderAsm(assembly->getAsmString(),
                                                  withoutClobbers(assembly->getConstraintString()))
                              : std::nullopt;
        return order && order->wait;
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
