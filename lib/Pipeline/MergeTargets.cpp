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

static bool sameTensors(llvm::ArrayRef<TensorDescription> a, llvm::ArrayRef<TensorDescription> b) {
  return llvm::equal(a, b, sameTensor);
}

/// How many tensors callers see, which come before the prepared ones.
static size_t shownCount(const LibraryDescription &library) {
  return llvm::count_if(library.tensors, [](const TensorDescription &tensor) { return tensor.role != ATTUNE_RT_PREPARED; });
}

static bool sameRules(llvm::ArrayRef<SizeRule> a, llvm::ArrayRef<SizeRule> b) {
  return llvm::equal(a, b, [](const SizeRule &x, const SizeRule &y) { return x.kind == y.kind && x.symbol == y.symbol && x.value == y.value; });
}

/// What a caller sees differently of two libraries; empty: nothing.
static std::string differenceOf(const LibraryDescription &a, const LibraryDescription &b) {
  llvm::ArrayRef<TensorDescription> ofA = llvm::ArrayRef(a.tensors).take_front(shownCount(a)), ofB = llvm::ArrayRef(b.tensors).take_front(shownCount(b));
  for (auto [x, y] : llvm::zip(ofA, ofB))
    if (!sameTensor(x, y))
      return "tensor '" + x.name + "'";
  if (ofA.size() != ofB.size())
    return "number of tensors";
  if (!sameRules(a.sizeRules, b.sizeRules))
    return "conditions on sizes";
  return a.name == b.name && a.sizes == b.sizes && a.queriesEqualKeys == b.queriesEqualKeys ? "" : "sizes";
}

/// A caller sees one interface, whatever the device. Prepared tensors are the handle's own.
static llvm::Error joinInterface(const LibraryDescription &library, LibraryDescription &added, StringRef target) {
  if (std::string difference = differenceOf(library, added); !difference.empty())
    return llvm::createStringError("expected the same " + difference + " for every target, but " + target + " needs another; compile a library for each");
  llvm::ArrayRef<TensorDescription> prepared = llvm::ArrayRef(added.tensors).drop_front(shownCount(added));
  if (!sameTensors(llvm::ArrayRef(library.tensors).drop_front(shownCount(library)), prepared))
    for (VariantDescription &variant : added.variants)
      variant.prepared.emplace(prepared.begin(), prepared.end());
  return llvm::Error::success();
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
  if (llvm::Error error = joinInterface(library->description, added.description, target))
    return error;
  llvm::append_range(library->description.variants, added.description.variants);
  sharePtx(library->description.variants);
  return link(*library->module, *added.module);
}

llvm::Error attune::addBackward(LibraryModule &library, LibraryModule backward) {
  library.description.backward = std::make_shared<const LibraryDescription>(std::move(backward.description));
  return link(*library.module, *backward.module);
}
