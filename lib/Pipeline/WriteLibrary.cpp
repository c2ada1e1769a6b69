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

#include <thread>

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

/// One interface for all: functions leave for gradients what the code for the first device does.
static LogicalResult agreeOnLeft(ArrayRef<Compilation *> targets) {
  if (failed(targets.front()->advance(Stage::Graph)))
    return failure();
  for (Compilation *other : targets.drop_front())
    if (const auto &left = targets.front()->left())
      other->leave(*left);
  return success();
}

/// The code of all targets; nothing, with diagnostics, if one of them fails.
static std::optional<LibraryModule> compileForTargets(ArrayRef<Compilation *> targets) {
  if (targets.size() == 1)
    return compileForTarget(*targets.front());
  if (failed(agreeOnLeft(targets)))
    return std::nullopt;
  std::optional<LibraryModule> library;
  for (Compilation *compilation : targets) {
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

/// The same with the code of the gradients that the compilations ask for, if any do. It is made beside the other, from contexts of its own.
static std::optional<LibraryModule> compileWithGradients(ArrayRef<Compilation *> targets) {
  if (!targets.front()->hasGradients())
    return compileForTargets(targets);
  if (failed(agreeOnLeft(targets)))
    return std::nullopt;
  std::string said; // two do not print to one stream at a time
  llvm::raw_string_ostream messages(said);
  std::optional<LibraryModule> backward;
  std::thread beside([&] {
    std::vector<std::unique_ptr<Compilation>> made;
    SmallVector<Compilation *> all;
    for (Compilation *each : targets) {
      made.push_back(each->backward(&messages));
      if (!made.back())
        return;
      all.push_back(made.back().get());
    }
    backward = compileForTargets(all);
  });
  std::optional<LibraryModule> library = compileForTargets(targets);
  beside.join();
  targets.front()->messages() << said;
  if (!library || !backward)
    return std::nullopt;
  if (llvm::Error error = addBackward(*library, std::move(*backward))) {
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
  return write(compileWithGradients(&compilation), compilation, libraryPath, headerPath);
}

LogicalResult attune::writeLibrary(ArrayRef<std::unique_ptr<Compilation>> targets, StringRef libraryPath,
                                   StringRef headerPath) {
  SmallVector<Compilation *> all;
  for (const std::unique_ptr<Compilation> &each : targets)
    all.push_back(each.get());
  return write(compileWithGradients(all), *targets.front(), libraryPath, headerPath);
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
