//===- EmitEntryPoints.cpp - Adds the exported functions of a library -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitDescriptor.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace attune::target;
using namespace llvm;

namespace {

/// A runtime function and its parameters: p for a pointer, n for a size, i for a 32-bit
/// number. The wrapper takes the same, but for the
/// descriptor, which it adds in front where there is one.
struct EntryPoint {
  StringRef name;
  StringRef runtime;
  StringRef parameters;
  enum { Status, Nothing, Text } result = Status;
  bool addsDescriptor = false;
};

constexpr EntryPoint entryPoints[] = {
    {"create", "attune_rt_create", "pp", EntryPoint::Status, true},
    {"prepare", "attune_rt_prepare", "pp"},
    {"workspace", "attune_rt_workspace", "ppp"},
    {"plan", "attune_rt_plan_index", "ppp"},
    {"run", "attune_rt_run", "pppnp"},
    {"info", "attune_rt_info", "pp"},
    {"tensor", "attune_rt_tensor_info", "pip"},
    {"destroy", "attune_rt_destroy", "p", EntryPoint::Nothing},
    {"message", "attune_rt_message", "", EntryPoint::Text},
};

Type *resultType(const EntryPoint &entry, LLVMContext &context) {
  switch (entry.result) {
  case EntryPoint::Status:
    return Type::getInt32Ty(context);
  case EntryPoint::Nothing:
    return Type::getVoidTy(context);
  case EntryPoint::Text:
    return PointerType::getUnqual(context);
  }
  llvm_unreachable("every kind of result is listed");
}

Type *parameterType(char kind, LLVMContext &context) {
  if (kind == 'p')
    return PointerType::getUnqual(context);
  return kind == 'n' ? Type::getInt64Ty(context) : Type::getInt32Ty(context);
}

Error addEntryPoint(Module &module, StringRef library, const EntryPoint &entry, GlobalVariable &descriptor) {
  LLVMContext &context = module.getContext();
  std::string name = (library + "_" + entry.name).str();
  if (module.getNamedValue(name))
    return createStringError(inconvertibleErrorCode(), "expected the symbol '" + name +
                                                           "' to be free for the library's entry point, but the module "
                                                           "has one of that name");
  SmallVector<Type *> types;
  for (char kind : entry.parameters)
    types.push_back(parameterType(kind, context));
  auto *wrapperType = FunctionType::get(resultType(entry, context), types, /*isVarArg=*/false);
  if (entry.addsDescriptor)
    types.insert(types.begin(), PointerType::getUnqual(context));
  auto *calleeType = FunctionType::get(resultType(entry, context), types, /*isVarArg=*/false);

  FunctionCallee callee = module.getOrInsertFunction(entry.runtime, calleeType);
  auto *wrapper = Function::Create(wrapperType, GlobalValue::ExternalLinkage, name, module);
  wrapper->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", wrapper));
  SmallVector<Value *> arguments;
  if (entry.addsDescriptor)
    arguments.push_back(&descriptor);
  for (Argument &argument : wrapper->args())
    arguments.push_back(&argument);
  CallInst *call = builder.CreateCall(callee, arguments);
  call->setTailCall();
  if (entry.result == EntryPoint::Nothing)
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
  return Error::success();
}

/// The runtime is linked in: calls to it need no indirection.
void bindRuntimeFunctions(Module &module) {
  for (Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("attune_rt_")) {
      function.setVisibility(GlobalValue::HiddenVisibility);
      function.setDSOLocal(true);
    }
}

} // namespace

ArrayRef<StringRef> attune::target::entryPointNames() {
  static const auto names = [] {
    std::array<StringRef, std::size(entryPoints)> result;
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = entryPoints[i].name;
    return result;
  }();
  return names;
}

Error attune::target::addEntryPoints(Module &module, const LibraryDescription &description,
                                     GlobalVariable &descriptor) {
  for (const EntryPoint &entry : entryPoints)
    if (Error error = addEntryPoint(module, description.name, entry, descriptor))
      return error;
  bindRuntimeFunctions(module);
  return Error::success();
}
