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

Error attune::target::completeModule(Module &module, const LibraryDescription &description) {
  Expected<GlobalVariable *> descriptor = addDescriptor(module, description);
  if (!descriptor)
    return descriptor.takeError();
  return addEntryPoints(module, description, **descriptor);
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
