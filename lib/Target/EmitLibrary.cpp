//===- EmitLibrary.cpp - LLVM IR to a shared library, the whole way -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitLibrary.h"

#include "attune/Target/EmitDescriptor.h"
#include "attune/Target/EmitParts.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::target;
using namespace llvm;

/// Nothing of the compiled code is the library's interface.
static void hideAll(Module &module) {
  for (GlobalObject &object : module.global_objects())
    if (!object.isDeclaration()) {
      object.setLinkage(GlobalValue::InternalLinkage);
      object.setVisibility(GlobalValue::DefaultVisibility);
    }
}

Error attune::target::completeModule(Module &module, const LibraryDescription &description) {
  hideAll(module); // before there are entry points, which are not hidden
  Expected<GlobalVariable *> descriptor = addDescriptor(module, description);
  if (!descriptor)
    return descriptor.takeError();
  GlobalVariable *backward = nullptr;
  if (description.backward) {
    Expected<GlobalVariable *> added = addDescriptor(module, *description.backward);
    if (!added)
      return added.takeError();
    backward = *added;
  }
  if (Error error = addEntryPoints(module, description, **descriptor))
    return error;
  return backward ? addEntryPoints(module, *description.backward, *backward) : Error::success();
}

Error attune::target::emitLibrary(std::unique_ptr<Module> module, const LibraryDescription &description, StringRef path,
                                  const LibraryOptions &options) {
  if (Error error = completeModule(*module, description))
    return error;
  std::string broken;
  raw_string_ostream reasons(broken);
  if (verifyModule(*module, &reasons))
    return createStringError(inconvertibleErrorCode(),
                             "library '" + description.name + "': expected valid LLVM IR, but got: " + broken);
  Expected<SmallVector<SmallVector<char, 0>>> objects = emitParts(*module, description, options.object);
  if (!objects)
    return objects.takeError();
  return linkLibrary(*objects, "lib" + description.name + ".so", path, options.link);
}
