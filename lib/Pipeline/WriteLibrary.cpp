//===- WriteLibrary.cpp - A compilation to a library and its header ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Compilation.h"

#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Target/EmitHeader.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace attune;

/// The host part of a library for a GPU, the device code inside its description.
static std::optional<LibraryModule> compileWithImages(Compilation &compilation) {
  std::optional<DeviceCode> code = compileForGpu(compilation);
  if (!code || failed(addImages(compilation, *code)))
    return std::nullopt;
  return std::move(code->host);
}

LogicalResult attune::writeLibrary(Compilation &compilation, StringRef libraryPath, StringRef headerPath) {
  std::optional<LibraryModule> code = compilation.isGpu() ? compileWithImages(compilation) : compileForCpu(compilation);
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

llvm::Expected<std::unique_ptr<LoadedLibrary>> attune::compileAndLoad(Compilation &compilation) {
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("attune", "so", path))
    return llvm::createStringError("expected to write a temporary file, but got: " + code.message());
  llvm::FileRemover remover(path);
  if (failed(writeLibrary(compilation, path, /*headerPath=*/"")))
    return llvm::createStringError("the spec could not be compiled");
  return LoadedLibrary::open(path, compilation.name());
}
