//===- WriteLibrary.cpp - A compilation to a library and its header ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Compilation.h"

#include "MergeTargets.h"

#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Support/UniqueFile.h"
#include "attune/Target/EmitHeader.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace attune;

/// The host part of a library for a GPU, the device code inside its description.
static std::optional<LibraryModule> compileWithImages(Compilation &compilation) {
  std::optional<DeviceCode> code = compileForGpu(compilation);
  if (!code || failed(addImages(compilation, *code)))
    return std::nullopt;
  return std::move(code->host);
}

static std::optional<LibraryModule> compileForTarget(Compilation &compilation) {
  return compilation.isGpu() ? compileWithImages(compilation) : compileForCpu(compilation);
}

/// The code of all targets; nothing, with diagnostics, if one of them fails.
static std::optional<LibraryModule> compileForTargets(ArrayRef<std::unique_ptr<Compilation>> compilations) {
  if (compilations.size() == 1)
    return compileForTarget(*compilations.front());
  // One interface for all: what the code for the first device leaves for gradients.
  if (failed(compilations.front()->advance(Stage::Graph)))
    return std::nullopt;
  for (const std::unique_ptr<Compilation> &other : compilations.drop_front())
    if (const auto &left = compilations.front()->left())
      other->leave(*left);
  std::optional<LibraryModule> library;
  for (const std::unique_ptr<Compilation> &compilation : compilations) {
    std::optional<LibraryModule> code = compileForTarget(*compilation);
    if (!code)
      return std::nullopt;
    if (llvm::Error error = mergeTargets(library, std::move(*code), compilation->target())) {
      compilation->module().emitError() << llvm::toString(std::move(error));
      return std::nullopt;
    }
  }
  return library;
}

/// Adds the code of the gradients that the compilations ask for, if any do.
static std::optional<LibraryModule> withGradients(std::optional<LibraryModule> library, ArrayRef<Compilation *> targets) {
  if (!library || !targets.front()->hasGradients())
    return library;
  std::vector<std::unique_ptr<Compilation>> backward;
  for (Compilation *each : targets) {
    backward.push_back(each->backward());
    if (!backward.back())
      return std::nullopt;
  }
  std::optional<LibraryModule> code = compileForTargets(backward);
  if (!code)
    return std::nullopt;
  if (llvm::Error error = addBackward(*library, std::move(*code))) {
    targets.front()->module().emitError() << llvm::toString(std::move(error));
    return std::nullopt;
  }
  return library;
}

static LogicalResult write(std::optional<LibraryModule> code, Compilation &compilation, StringRef libraryPath,
                           StringRef headerPath) {
  if (!code)
    return failure();
  target::LibraryOptions options;
  options.object.optimize = compilation.isOptimized();
  llvm::Error error = target::emitLibrary(std::move(code->module), code->description, libraryPath, options);
  if (!error && !headerPath.empty())
    error = target::writeHeader(code->description, headerPath);
  if (error)
    return compilation.module().emitError() << llvm::toString(std::move(error));
  return success();
}

LogicalResult attune::writeLibrary(Compilation &compilation, StringRef libraryPath, StringRef headerPath) {
  return write(withGradients(compileForTarget(compilation), &compilation), compilation, libraryPath, headerPath);
}

LogicalResult attune::writeLibrary(ArrayRef<std::unique_ptr<Compilation>> targets, StringRef libraryPath,
                                   StringRef headerPath) {
  SmallVector<Compilation *> all;
  for (const std::unique_ptr<Compilation> &each : targets)
    all.push_back(each.get());
  return write(withGradients(compileForTargets(targets), all), *targets.front(), libraryPath, headerPath);
}

llvm::Expected<std::unique_ptr<LoadedLibrary>> attune::compileAndLoad(Compilation &compilation) {
  // Nobody else can write what is loaded.
  llvm::Expected<UniqueFolder> folder = UniqueFolder::temporary();
  if (!folder)
    return folder.takeError();
  compilation.limitTo("native"); // no other machine sees it
  // Of one function: gradients that the spec asks for are another compilation's.
  if (failed(write(compileForTarget(compilation), compilation, folder->file(), /*headerPath=*/"")))
    return llvm::createStringError("the spec could not be compiled");
  return LoadedLibrary::open(folder->file(), compilation.name());
}
