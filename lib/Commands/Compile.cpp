//===- Compile.cpp - attnc compile ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Support/UniqueFile.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;
using llvm::StringRef;

/// Writes to -o, or to standard output.
template <typename Print> static int writeText(const Arguments &arguments, Print print) {
  llvm::Error error = writeFile(arguments.output.empty() ? "-" : arguments.output, print);
  return error ? fail(std::move(error), Wrong) : static_cast<int>(Done);
}

static int emitCpuStage(const Arguments &arguments, Compilation &compilation) {
  std::optional<LibraryModule> code = compileForCpu(compilation);
  if (!code)
    return Failed;
  if (arguments.emit == "llvm")
    return writeText(arguments, [&](llvm::raw_ostream &os) { code->module->print(os, nullptr); });
  if (llvm::Error error = target::completeModule(*code->module, code->description))
    return fail(std::move(error));
  if (arguments.emit == "asm") {
    llvm::Expected<std::string> text = target::emitAssembly(*code->module);
    return text ? writeText(arguments, [&](llvm::raw_ostream &os) { os << *text; }) : fail(text.takeError());
  }
  auto object = target::emitObject(*code->module);
  if (!object)
    return fail(object.takeError());
  return writeText(arguments, [&](llvm::raw_ostream &os) { os.write(object->data(), object->size()); });
}

static int emitGpuStage(const Arguments &arguments, Compilation &compilation) {
  std::optional<DeviceCode> code = compileForGpu(compilation);
  if (!code)
    return Failed;
  if (arguments.emit == "llvm")
    return writeText(arguments, [&](llvm::raw_ostream &os) { code->device->print(os); });
  if (arguments.emit == "cubin" && !findPtxas())
    return fail("expected ptxas for --emit cubin, but found none in CUDA_HOME, CUDA_ROOT or PATH: install the CUDA "
                "toolkit, or run utils/setup");
  if (failed(arguments.emit == "ptx" ? addPtx(compilation, *code) : addImages(compilation, *code)))
    return Failed;
  if (arguments.emit == "cubin" && code->host.description.variants.front().cubin.empty())
    return fail("expected a ptxas that knows the code for --emit cubin, but got the one above");
  const target::VariantDescription &variant = code->host.description.variants.front();
  if (arguments.emit == "ptx")
    return writeText(arguments, [&](llvm::raw_ostream &os) { os << variant.ptx; });
  if (arguments.emit == "cubin")
    return writeText(arguments, [&](llvm::raw_ostream &os) { os << variant.cubin; });
  return fail("expected --emit attn, graph, tile, llvm, ptx or cubin for a GPU target, but got " + arguments.emit,
              Wrong);
}

static int emitStage(const Arguments &arguments, Compilation &compilation) {
  for (Stage stage : {Stage::Attn, Stage::Graph, Stage::Tile}) {
    if (arguments.emit != nameOf(stage))
      continue;
    if (compilation.stage() > stage)
      return fail("expected --emit " + nameOf(compilation.stage()) + " or a later stage for a file of kernels, but got " +
                      arguments.emit,
                  Wrong);
    if (failed(compilation.advance(stage)))
      return Failed;
    return writeText(arguments, [&](llvm::raw_ostream &os) { compilation.module().print(os); });
  }
  return compilation.isGpu() ? emitGpuStage(arguments, compilation) : emitCpuStage(arguments, compilation);
}

/// `-o` names the library, or the folder that gets it; the header goes beside it.
static std::string libraryPath(const Arguments &arguments, StringRef name) {
  std::string file = ("lib" + name + ".so").str();
  if (arguments.output.empty())
    return file;
  bool folder = StringRef(arguments.output).ends_with("/") || llvm::sys::fs::is_directory(arguments.output);
  if (!folder)
    return arguments.output;
  llvm::SmallString<128> path(arguments.output);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

/// One compilation a target. Several dump into folders of their own.
static int openTargets(const Arguments &arguments, std::vector<std::unique_ptr<Compilation>> &compilations) {
  std::vector<std::string> targets = arguments.targets.empty() ? std::vector{arguments.target} : arguments.targets;
  for (const std::string &target : targets) {
    int status = Failed;
    auto compilation = Compilation::open(arguments.specs.front(), target, status);
    if (!compilation)
      return status;
    if (!arguments.device.empty())
      compilation->priceFor(arguments.device);
    compilation->planFor(pricedThreads(arguments)), compilation->takePlan(arguments.plan);
    compilation->multiplyBy(arguments.products), compilation->limitTo(arguments.isa);
    bool apart = targets.size() > 1 && !arguments.dump.empty();
    compilation->dumpTo(apart ? arguments.dump + "/" + target : arguments.dump);
    compilations.push_back(std::move(compilation));
  }
  return Done;
}

int attune::attnc::compile(const Arguments &arguments) {
  std::vector<std::unique_ptr<Compilation>> compilations;
  if (int status = openTargets(arguments, compilations))
    return status;
  if (!arguments.emit.empty())
    return emitStage(arguments, *compilations.front());
  StringRef name = compilations.front()->name();
  if (llvm::Error error = target::checkLibraryName(name)) // it becomes a part of paths
    return fail(std::move(error), Wrong);
  std::string library = libraryPath(arguments, name);
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(library));
  if (std::error_code code = folder.empty() ? std::error_code() : llvm::sys::fs::create_directories(folder))
    return fail("expected to make the folder " + folder.str() + ", but got: " + code.message(), Wrong);
  llvm::SmallString<128> header(folder);
  llvm::sys::path::append(header, name + ".h");
  if (failed(writeLibrary(compilations, library, header)))
    return Failed;
  llvm::outs() << library << "\n" << header << "\n";
  return Done;
}
