//===- EmitObject.cpp - LLVM IR to x86-64 machine code --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitObject.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

#include <mutex>

using namespace attune::target;
using namespace llvm;

namespace {

constexpr StringLiteral hostTriple = "x86_64-unknown-linux-gnu";

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmPrinters();
    InitializeAllAsmParsers();
  });
}

Expected<std::unique_ptr<TargetMachine>> createMachine(bool optimize = true) {
  initializeTarget();
  Triple triple(hostTriple);
  std::string reason;
  const Target *target = TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return createStringError(inconvertibleErrorCode(),
                             "expected an LLVM with the X86 target, but it has none (" + reason + ")");
  TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(triple, "x86-64", "", options, Reloc::PIC_,
                                                                     CodeModel::Small,
                                                                     optimize ? CodeGenOptLevel::Aggressive
                                                                              : CodeGenOptLevel::None));
  if (!machine)
    return createStringError(inconvertibleErrorCode(),
                             "expected a target machine for " + hostTriple + ", but LLVM could not make one");
  return machine;
}

void prepareModule(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
}

/// Whether the environment asks for code that checks the address of every load and store: for tests, which link it with
/// AddressSanitizer's library themselves.
bool checksAddresses() { return sys::Process::GetEnv("ATTUNE_SANITIZE") == "address"; }

/// Kernels come vectorised, unrolled, inlined and with few branches, as their schedule says: what is left is to clean up. Most passes
/// of LLVM's pipeline for -O2 find nothing (docs/Rationale/CpuLowering.md).
constexpr StringLiteral cleanUp =
    "globaldce," // before any work on what is not needed
    "cgscc(inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),early-cse<memssa>,simplifycfg)),"
    "globaldce";

/// The last pass sees what is left to execute.
void addAddressChecks(Module &module, ModulePassManager &passes) {
  for (Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(Attribute::SanitizeAddress);
  passes.addPass(AddressSanitizerPass(AddressSanitizerOptions()));
}

Error optimizeModule(Module &module, TargetMachine &machine) {
  PassBuilder builder(&machine);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, cleanUp))
    return error;
  if (checksAddresses())
    addAddressChecks(module, passes);
  passes.run(module, modules);
  return Error::success();
}

Error generate(Module &module, const ObjectOptions &options, CodeGenFileType type, raw_pwrite_stream &stream) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(options.optimize);
  if (!machine)
    return machine.takeError();
  prepareModule(module, **machine);
  if (options.optimize)
    if (Error error = optimizeModule(module, **machine))
      return error;
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return createStringError(inconvertibleErrorCode(),
                             "expected an LLVM that writes this kind of file for " + hostTriple + ", but it cannot");
  passes.run(module);
  return Error::success();
}

} // namespace

void attune::target::setCpuTarget(Function &function, attune_rt_target target) {
  bool avx512 = target != ATTUNE_RT_AVX2;
  function.removeFnAttr("target-cpu");
  function.addFnAttr("target-cpu", avx512 ? "x86-64-v4" : "x86-64-v3");
  function.addFnAttr("tune-cpu", avx512 ? "skylake-avx512" : "haswell");
  // The tuning of early AVX-512 machines would halve the vectors.
  function.addFnAttr("target-features", avx512 ? "-prefer-256-bit" : "");
  function.addFnAttr("prefer-vector-width", avx512 ? "512" : "256");
  function.addFnAttr("min-legal-vector-width", avx512 ? "512" : "256");
}

Error attune::target::setHostLayout(Module &module) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine();
  if (!machine)
    return machine.takeError();
  prepareModule(module, **machine);
  return Error::success();
}

Expected<SmallVector<char, 0>> attune::target::emitObject(Module &module, const ObjectOptions &options) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (Error error = generate(module, options, CodeGenFileType::ObjectFile, stream))
    return error;
  return bytes;
}

Expected<std::string> attune::target::emitAssembly(Module &module, const ObjectOptions &options) {
  SmallString<0> text;
  raw_svector_ostream stream(text);
  if (Error error = generate(module, options, CodeGenFileType::AssemblyFile, stream))
    return error;
  return text.str().str();
}
