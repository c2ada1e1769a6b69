//===- EmitParts.cpp - Object code of each variant, side by side ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearly all the time of a compilation goes into the kernels, of which instruction sets have their own. So the module is cut: a part for each variant, with the
// plan and workspace functions that it names, and one with the descriptor and the entry points. What several variants run is in the first one's part. Each part
// is made from bitcode in a context of its own, on a thread of its own.
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitParts.h"

#include "attune/Lowering/CPU/Pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace attune::target;
using namespace llvm;

namespace {

/// Adds to a part the functions that variants may share and that those of the part need, but for what is in another part already.
void takeShared(Module &module, StringSet<> &part, StringSet<> &seen) {
  SmallVector<User *> named;
  for (const auto &entry : part)
    if (Function *function = module.getFunction(entry.getKey()))
      named.push_back(function);
  SmallPtrSet<Value *, 32> visited(named.begin(), named.end());
  auto nameAll = [&](User &user) {
    for (Value *operand : user.operands()) {
      auto *next = dyn_cast<Constant>(operand);
      auto *function = dyn_cast_or_null<Function>(next);
      bool isShared = function && !function->isDeclaration() && function->hasFnAttribute(attune::cpu::sharedAttr);
      if (!next || !visited.insert(next).second || (isShared && !seen.insert(function->getName()).second))
        continue;
      if (isShared)
        part.insert(function->getName());
      named.push_back(next);
    }
  };
  while (!named.empty()) {
    User *user = named.pop_back_val();
    nameAll(*user);
    if (auto *function = dyn_cast<Function>(user))
      for (Instruction &instruction : instructions(*function))
        nameAll(instruction);
  }
}

/// The functions that each variant's part defines for other parts. One that several variants name goes with the first.
SmallVector<StringSet<>> functionsOfVariants(Module &module, const LibraryDescription &description) {
  SmallVector<StringSet<>> parts;
  StringSet<> seen;
  SmallVector<const VariantDescription *> variants;
  for (const LibraryDescription *each : {&description, description.backward.get()})
    if (each)
      llvm::append_range(variants, llvm::make_pointer_range(each->variants));
  for (const VariantDescription *variant : variants) {
    StringSet<> &part = parts.emplace_back();
    auto take = [&](const PlanDescription &plan) {
      for (StringRef name : {StringRef(plan.planFunction), StringRef(plan.workspaceFunction)})
        if (!name.empty() && seen.insert(name).second)
          part.insert(name);
    };
    llvm::for_each(variant->plans, take);
    if (variant->prepare)
      take(*variant->prepare);
    takeShared(module, part, seen);
  }
  return parts;
}

void showToOtherParts(Function &function) {
  function.setLinkage(GlobalValue::ExternalLinkage);
  function.setVisibility(GlobalValue::HiddenVisibility);
  function.setDSOLocal(true);
}

/// Leaves the functions named to the other parts and makes the rest private, to be dropped if nothing kept needs it. Shared functions of others are declared.
void keepOnly(Module &module, const StringSet<> &kept) {
  for (GlobalObject &object : module.global_objects()) {
    if (object.isDeclaration())
      continue;
    object.setLinkage(GlobalValue::InternalLinkage);
    auto *function = dyn_cast<Function>(&object);
    bool isKept = function && kept.contains(function->getName());
    if (function && !isKept && function->hasFnAttribute(attune::cpu::sharedAttr))
      function->deleteBody();
    if (isKept || (function && function->isDeclaration()))
      showToOtherParts(*function);
  }
}

/// Turns the functions of all other parts into declarations.
void leaveOut(Module &module, ArrayRef<StringSet<>> parts) {
  for (const StringSet<> &part : parts)
    for (const auto &entry : part)
      if (Function *function = module.getFunction(entry.getKey())) {
        function->deleteBody();
        showToOtherParts(*function);
      }
}

/// Reads the bodies of functions that others see, and of those that these name; what nobody names is left as a declaration.
Error readNeeded(Module &module) {
  SmallVector<Value *> named;
  for (GlobalObject &object : module.global_objects())
    if (!object.isDeclaration() && !object.hasLocalLinkage())
      named.push_back(&object);
  SmallPtrSet<Value *, 32> seen(named.begin(), named.end());
  auto nameAll = [&](User &user) {
    for (Value *operand : user.operands())
      if (isa<Constant>(operand) && seen.insert(operand).second)
        named.push_back(operand);
  };
  while (!named.empty()) {
    auto *user = cast<User>(named.pop_back_val());
    nameAll(*user); // of a constant, or of a variable: its initial value
    if (auto *function = dyn_cast<Function>(user)) {
      if (Error error = function->materialize())
        return error;
      for (Instruction &instruction : instructions(*function))
        nameAll(instruction);
    }
  }
  for (Function &function : module)
    if (function.isMaterializable())
      function.deleteBody();
  return Error::success();
}

using Object = SmallVector<char, 0>;

/// One part: index of a variant, or the number of variants for the part with the descriptor.
Expected<Object> emitPart(StringRef bitcode, ArrayRef<StringSet<>> variants, size_t index,
                          const ObjectOptions &options) {
  LLVMContext context;
  // Most of the module is other parts'.
  Expected<std::unique_ptr<Module>> module = getLazyBitcodeModule(MemoryBufferRef(bitcode, "library"), context);
  if (!module)
    return module.takeError();
  if (index < variants.size())
    keepOnly(**module, variants[index]);
  else
    leaveOut(**module, variants);
  if (Error error = readNeeded(**module))
    return std::move(error);
  return emitObject(**module, options);
}

} // namespace

Expected<SmallVector<Object>> attune::target::emitParts(Module &module, const LibraryDescription &description,
                                                        const ObjectOptions &options) {
  SmallVector<StringSet<>> variants = functionsOfVariants(module, description);
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);

  size_t count = variants.size() + 1;
  std::vector<std::optional<Expected<Object>>> results(count);
  auto emit = [&](size_t index) {
    results[index].emplace(emitPart(StringRef(bitcode.data(), bitcode.size()), variants, index, options));
  };
  std::vector<std::thread> threads;
  for (size_t index = 1; index < count; ++index)
    threads.emplace_back(emit, index);
  emit(0);
  for (std::thread &thread : threads)
    thread.join();

  SmallVector<Object> objects;
  Error errors = Error::success();
  for (std::optional<Expected<Object>> &result : results) {
    if (*result)
      objects.push_back(std::move(**result));
    else
      errors = joinErrors(std::move(errors), result->takeError());
  }
  if (errors)
    return errors;
  return objects;
}
