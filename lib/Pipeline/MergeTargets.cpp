//===- MergeTargets.cpp - The code of several targets in one library ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MergeTargets.h"

#include "SharePtx.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::target;
using llvm::StringRef;

static bool sameTensor(const TensorDescription &a, const TensorDescription &b) {
  return a.name == b.name && a.role == b.role && a.dtype == b.dtype && a.dims == b.dims &&
         a.keyLengths == b.keyLengths && a.offsets == b.offsets && a.keyOffsets == b.keyOffsets && a.signs == b.signs &&
         a.indexBound == b.indexBound && a.mostPosition == b.mostPosition && a.inPlaceOf == b.inPlaceOf && a.ifEmpty == b.ifEmpty;
}

/// A caller sees one interface, whatever the device.
static llvm::Error checkSameInterface(const LibraryDescription &a, const LibraryDescription &b, StringRef target) {
  bool same = a.name == b.name && a.sizes == b.sizes && a.queriesEqualKeys == b.queriesEqualKeys &&
              a.tensors.size() == b.tensors.size() && a.sizeRules.size() == b.sizeRules.size();
  for (size_t i = 0; same && i < a.tensors.size(); ++i)
    same = sameTensor(a.tensors[i], b.tensors[i]);
  if (same)
    return llvm::Error::success();
  return llvm::createStringError("expected the same tensors and sizes for every target, but " + target +
                                 " needs others; compile a library for each");
}

/// Two targets have plans of one name.
static void nameAfterTarget(LibraryModule &library, StringRef target) {
  auto renamed = [&](StringRef name) { return (name + "." + target).str(); };
  for (llvm::GlobalValue &value : library.module->global_values())
    if (!value.isDeclaration() && value.hasName())
      value.setName(renamed(value.getName()));
  auto rename = [&](PlanDescription &plan) {
    for (std::string *name : {&plan.planFunction, &plan.workspaceFunction})
      if (!name->empty())
        *name = renamed(*name);
  };
  for (VariantDescription &variant : library.description.variants) {
    llvm::for_each(variant.plans, rename);
    if (variant.prepare)
      rename(*variant.prepare);
  }
}

/// Moves a module into the context of another one, as bitcode, and links it in.
static llvm::Error link(llvm::Module &into, const llvm::Module &from) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(from, stream);
  auto moved = llvm::parseBitcodeFile({StringRef(bitcode.data(), bitcode.size()), "target"}, into.getContext());
  if (!moved)
    return moved.takeError();
  if (llvm::Linker::linkModules(into, std::move(*moved)))
    return llvm::createStringError("expected modules that link, but got two that do not");
  return llvm::Error::success();
}

llvm::Error attune::mergeTargets(std::optional<LibraryModule> &library, LibraryModule added, StringRef target) {
  nameAfterTarget(added, target);
  if (!library) {
    library = std::move(added);
    return llvm::Error::success();
  }
  if (llvm::Error error = checkSameInterface(library->description, added.description, target))
    return error;
  llvm::append_range(library->description.variants, added.description.variants);
  sharePtx(library->description.variants);
  return link(*library->module, *added.module);
}

llvm::Error attune::addBackward(LibraryModule &library, LibraryModule backward) {
  library.description.backward = std::make_shared<const LibraryDescription>(std::move(backward.description));
  return link(*library.module, *backward.module);
}
