//===- Compilation.cpp - One spec on its way to a library ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Compilation.h"

#include "attune/Attn/Attn.h"
#include "attune/Attn/Backward.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/CountedKernels.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Graph/KeepForBackward.h"
#include "attune/Graph/SplitGradients.h"
#include "attune/InitAll.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Pipeline/BytecodeToText.h"
#include "attune/Pipeline/Describe.h"
#include "attune/Pipeline/Pipelines.h"
#include "attune/Support/RunProgram.h"
#include "attune/Support/SourceFile.h"
#include "attune/Support/UniqueFile.h"
#include "attune/Tile/Tile.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;
using namespace attune;

/// The instruction sets that multiply pairs of bf16 numbers, and tiles of them.
static constexpr llvm::StringLiteral pairsIsa = "avx512_bf16", tilesIsa = "amx";

mlir::DialectRegistry Compilation::registry() {
  mlir::DialectRegistry dialects;
  attune::registerAllDialects(dialects);
  dialects.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect>();
  return dialects;
}

Compilation::Compilation(StringRef path, StringRef target, llvm::raw_ostream &errors)
    : errors(errors), sourcePath(path), targetName(target), deviceName(target),
      mlirContext(registry(), MLIRContext::Threading::DISABLED) {
  mlirContext.printOpOnDiagnostic(false);
  handler = std::make_unique<SourceMgrDiagnosticHandler>(sources, &mlirContext, errors);
}

Compilation::~Compilation() = default;

llvm::StringRef attune::nameOf(Stage stage) {
  switch (stage) {
  case Stage::Attn:
    return "attn";
  case Stage::Graph:
    return "graph";
  case Stage::Tile:
    return "tile";
  case Stage::Llvm:
    return "llvm";
  }
  llvm_unreachable("every stage is above");
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

bool Compilation::useSpec(Spec spec, int &status) {
  libraryName = spec.name;
  root = specToAttn(spec, sourcePath, mlirContext);
  parsed = std::move(spec);
  status = 1;
  return static_cast<bool>(root);
}

bool Compilation::openSpec(int &status) {
  Spec spec;
  SpecStatus good = loadSpec(sourcePath, spec, errors);
  if (good != SpecStatus::Good)
    return status = exitStatus(good), false;
  return useSpec(std::move(spec), status);
}

/// The only function with attention of a module; null with a message if there is none or more.
static func::FuncOp findFunction(ModuleOp module, StringRef path) {
  func::FuncOp found;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    bool attention = llvm::any_of(function.getOps(), [](Operation &op) { return isa_and_nonnull<attn::AttnDialect>(op.getDialect()); });
    if (!attention)
      continue;
    if (found)
      return function.emitError() << "expected one function with attention, but got @" << found.getName() << " and @"
                                  << function.getName(), nullptr;
    found = function;
  }
  if (!found)
    emitError(FileLineColLoc::get(module.getContext(), path, 1, 1)) << "expected a function with ops of the attn dialect, but got none";
  return found;
}

/// Weights of any layer as text; what is larger may have no end, as a device.
static constexpr size_t largestModule = size_t(256) << 20;

/// What is to be parsed: bytecode as text, and text as it is; null after a message.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readText(llvm::MemoryBufferRef text, llvm::raw_ostream &errors) {
  if (!isBytecode(text))
    return llvm::MemoryBuffer::getMemBufferCopy(text.getBuffer(), text.getBufferIdentifier());
  llvm::Expected<unsigned> seconds = toolSeconds();
  return seconds ? bytecodeToText(text, *seconds, errors) : seconds.takeError();
}

bool Compilation::openModule(int &status) {
  status = 2;
  llvm::Expected<SourceFile> file = SourceFile::read(sourcePath, largestModule);
  if (!file)
    return errors << sourcePath << ":1:1: error: " << llvm::toString(file.takeError()) << "\n", false;
  return useModule({file->text(), sourcePath}, status);
}

bool Compilation::useModule(llvm::MemoryBufferRef bytes, int &status) {
  status = 2;
  auto text = readText(bytes, errors);
  if (!text)
    return errors << sourcePath << ":1:1: error: " << llvm::toString(text.takeError()) << "\n", false;
  if (!*text)
    return false;
  sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  root = parseSourceFile<ModuleOp>(sources, &mlirContext);
  if (!root)
    return false;
  if (SmallVector<func::FuncOp> plans = planFunctions(*root); !plans.empty() && plans.front().getNumArguments() > 0 &&
                                                             plans.front().getArgAttr(0, kernel::argumentNameAttr)) {
    libraryName = plans.front().getName().str();
    at = Stage::Tile;
    return succeeded(describe());
  }
  func::FuncOp function = findFunction(*root, sourcePath);
  if (!function)
    return false;
  libraryName = function.getName().str();
  if (function->hasAttr(graph::gradientsAttr)) // of which another function is made
    llvm::raw_string_ostream(moduleText) << *root;
  return true;
}

std::unique_ptr<Compilation> Compilation::open(StringRef path, StringRef target, int &status,
                                               llvm::raw_ostream &errors) {
  std::unique_ptr<Compilation> compilation(new Compilation(path, target, errors));
  bool opened = path.ends_with(".mlir") ? compilation->openModule(status) : compilation->openSpec(status);
  return opened ? std::move(compilation) : nullptr;
}

std::unique_ptr<Compilation> Compilation::fromSpec(Spec spec, StringRef path, StringRef target, int &status,
                                                   llvm::raw_ostream &errors) {
  std::unique_ptr<Compilation> compilation(new Compilation(path, target, errors));
  return compilation->useSpec(std::move(spec), status) ? std::move(compilation) : nullptr;
}

std::unique_ptr<Compilation> Compilation::fromModule(llvm::MemoryBufferRef bytes, StringRef target, int &status,
                                                     llvm::raw_ostream &errors) {
  std::unique_ptr<Compilation> compilation(new Compilation(bytes.getBufferIdentifier(), target, errors));
  return compilation->useModule(bytes, status) ? std::move(compilation) : nullptr;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

std::vector<std::string> Compilation::pins() const {
  std::vector<std::string> list;
  for (const Pin &pin : parsed ? parsed->pin : std::vector<Pin>())
    list.push_back(pin.law + ":" + pin.form);
  return list;
}

/// The mechanisms of a spec's parts, "4 heads effatt, 4 heads softmax in windows", and what is around them.
static std::string summarize(const Spec &spec) {
  std::string text;
  for (const Part &part : spec.parts) {
    const Mechanism &m = part.mechanism;
    text += text.empty() ? "" : ", ";
    text += std::to_string(part.heads) + " heads " + m.name().str();
    if (m.isKernel())
      text += " " + attn::stringifyFeatureKind(m.featureMap.kind).str();
    text += (m.lowRank ? " over " + std::to_string(m.lowRank->rank) + " compressed tokens" : "") + (m.window ? " in windows" : "") +
            (m.lepe ? " with lepe" : "");
  }
  text += std::string(spec.causal ? ", causal" : "") + ", width " + std::to_string(spec.headDim);
  text += spec.valueDim != spec.headDim ? ", values " + std::to_string(spec.valueDim) : "";
  text += spec.kvHeads != spec.heads ? ", " + std::to_string(spec.kvHeads) + " key-value heads" : "";
  text += spec.projection ? ", projected from " + std::to_string(spec.projection->modelDim) : "";
  return text + ", " + nameOf(spec.dtype).str();
}

/// What only the spec knows.
static void describeSpec(const Spec &spec, target::LibraryDescription &description) {
  description.heads = spec.heads, description.kvHeads = spec.kvHeads;
  description.headDim = spec.headDim, description.valueDim = spec.valueDim;
  description.summary = summarize(spec);
  // A spec without `keys` has as many as queries, which its '?' sizes cannot say.
  description.queriesEqualKeys |= spec.keysFollowQueries;
}

void Compilation::limitTo(StringRef isa) {
  nativeOnly |= isa == "native";
  if (llvm::is_contained(askedIsas, isa) || isa == pairsIsa || isa == tilesIsa)
    askedIsas = {isa.str()};
}

/// Products of bf16 numbers have code of their own where a processor has such dot products.
static bool hasPairs(ModuleOp module) {
  return module
      .walk([](tile::DotOp dot) {
        bool pairs = cast<RankedTensorType>(dot.getA().getType()).getElementType().isBF16();
        return pairs ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// No law speaks of the terms of gradients: their forms are those that the planner takes, in parts where cores would have no work.
LogicalResult Compilation::takeGradients(const std::vector<std::string> &given) {
  assert(at == Stage::Attn && "gradients are of the function as it is written");
  auto forward = root->lookupSymbol<func::FuncOp>(libraryName);
  graph::setSavedNames(forward, given);
  FailureOr<func::FuncOp> backward = graph::buildBackward(forward, /*linear=*/true, /*save=*/true);
  if (failed(backward))
    return failure();
  forward.erase();
  llvm::Expected<cost::DeviceDescription> device = cost::DeviceDescription::named(deviceName);
  if (!device)
    return root->emitError() << llvm::toString(device.takeError());
  device->runOn(threadCount);
  graph::loadDialectsOfKernels(mlirContext);
  (*backward)->setAttr("attn.plan", attn::PlanAttr::get(&mlirContext, attn::Form::Online, /*from=*/0));
  graph::splitGradients(*backward, *device);
  libraryName = backward->getName().str();
  ofGradients = true;
  return success();
}

std::unique_ptr<Compilation> Compilation::again(llvm::raw_ostream &messages) {
  int status = 0;
  std::unique_ptr<Compilation> made = parsed ? fromSpec(*parsed, sourcePath, targetName, status, messages)
                                             : fromModule({moduleText, sourcePath}, targetName, status, messages);
  if (made)
    made->deviceName = deviceName, made->threadCount = threadCount;
  return made;
}

std::vector<std::string> Compilation::decideLeft(llvm::raw_ostream &messages) {
  auto function = root->lookupSymbol<func::FuncOp>(libraryName);
  OwningOpRef<ModuleOp> terms;
  if (function && graph::savePoints(function, terms).empty() && pins().empty()) // nothing to choose
    return graph::keptAttention(function) ? std::vector<std::string>{"o", "lse"} : std::vector<std::string>();
  std::unique_ptr<Compilation> forward = again(messages);
  if (!forward)
    return {};
  ScopedDiagnosticHandler quiet(&forward->mlirContext, [](mlir::Diagnostic &) { return success(); }); // told where that pass is compiled
  return succeeded(forward->advance(Stage::Graph)) && forward->saved ? *forward->saved : std::vector<std::string>();
}

bool Compilation::hasGradients() const { return !ofGradients && (parsed ? parsed->hasGradients() : !moduleText.empty()); }

std::unique_ptr<Compilation> Compilation::backward(llvm::raw_ostream *messages) {
  llvm::raw_ostream &stream = messages ? *messages : errors;
  std::unique_ptr<Compilation> made = again(stream);
  if (!made || failed(made->takeGradients(saved ? *saved : decideLeft(stream))))
    return nullptr;
  made->productsName = productsName;
  made->askedIsas = askedIsas, made->nativeOnly = nativeOnly, made->optimize = optimize;
  return made;
}

std::vector<std::string> Compilation::chooseIsas() {
  std::vector<std::string> chosen = askedIsas;
  if (chosen.size() == 2 && hasPairs(*root))
    chosen.insert(chosen.end(), {pairsIsa.str(), tilesIsa.str()});
  return nativeOnly ? nativeInstructionSets(chosen) : chosen;
}

LogicalResult Compilation::runStage(Stage stage) {
  if (stage == Stage::Llvm)
    isas = chooseIsas();
  PassManager manager(&mlirContext);
  cpu::CpuOptions cpuOptions;
  cpuOptions.isas = isas;
  switch (stage) {
  case Stage::Attn:
    return success();
  case Stage::Graph:
    buildGraphPipeline(manager, {deviceName, pins(), threadCount, planPlace, saved});
    break;
  case Stage::Tile:
    buildTilePipeline(manager, isGpu() ? tile::TargetKind::GPU : tile::TargetKind::CPU);
    break;
  case Stage::Llvm:
    cpu::buildTileToCpuPipeline(manager, cpuOptions);
    break;
  }
  // Once a stage: after each pass it would take more time than most of them.
  manager.enableVerifier(false);
  if (failed(manager.run(*root)) || failed(mlir::verify(*root)))
    return failure();
  if (stage == Stage::Graph)
    if (auto function = root->lookupSymbol<func::FuncOp>(libraryName))
      saved = graph::savedNames(function);
  return stage == Stage::Tile ? describe() : success();
}

LogicalResult Compilation::describe() {
  llvm::Expected<target::LibraryDescription> described = describeInterface(*root, libraryName);
  if (!described)
    return root->emitError() << llvm::toString(described.takeError());
  description = std::move(*described);
  names = describeArguments(*root);
  if (parsed)
    describeSpec(*parsed, description);
  return success();
}

LogicalResult Compilation::dump(Stage stage, ModuleOp made, StringRef suffix) {
  if (dumpFolder.empty())
    return success();
  SmallString<128> path(dumpFolder);
  llvm::sys::path::append(path, std::to_string(static_cast<int>(stage)) + "-" + nameOf(stage) + suffix + ".mlir");
  if (std::error_code code = llvm::sys::fs::create_directories(dumpFolder))
    return made.emitError() << "expected to write " << path << ", but got: " << code.message();
  if (llvm::Error error = writeFile(path, [&](llvm::raw_ostream &os) { made.print(os); }))
    return made.emitError() << llvm::toString(std::move(error));
  return success();
}

LogicalResult Compilation::advance(Stage stage) {
  if (!std::exchange(dumpedFirst, true) && failed(dump(at, *root)))
    return failure();
  while (at < stage) {
    Stage next = static_cast<Stage>(static_cast<int>(at) + 1);
    if (failed(runStage(next)))
      return failure();
    at = next;
    if (failed(dump(at, *root)))
      return failure();
  }
  return success();
}
