//===- Compile.cpp - Compiles the rewritten module for this machine -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Compile.h"
#include "Numbers.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Support routines that compiled code calls for 16-bit numbers
//===----------------------------------------------------------------------===//

// The x86-64 ABI passes both formats in the low bits of an SSE register, like a float.
static float inRegister(uint16_t bits) { return bitsToFloat(bits); }
static float extendHalf(float bits) { return halfToFloat(uint16_t(floatToBits(bits))); }
static float extendBfloat(float bits) { return bfloatToFloat(uint16_t(floatToBits(bits))); }
static float truncateToHalf(float value) { return inRegister(floatToHalf(value)); }
static float truncateToBfloat(float value) { return inRegister(floatToBfloat(value)); }

static Error defineSupportRoutines(orc::LLJIT &compiler) {
  const std::pair<const char *, float (*)(float)> routines[] = {
      {"__extendhfsf2", extendHalf},    {"__gnu_h2f_ieee", extendHalf},     {"__extendbfsf2", extendBfloat},
      {"__truncsfhf2", truncateToHalf}, {"__gnu_f2h_ieee", truncateToHalf}, {"__truncsfbf2", truncateToBfloat}};
  orc::SymbolMap symbols;
  for (auto [name, routine] : routines)
    symbols[compiler.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(reinterpret_cast<void *>(routine)),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return compiler.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<orc::LLJIT>> emulator::createHostCompiler() {
  static const bool initialised = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto target = orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  // Compiling takes longer than a block or two runs, and a block spends its time in the machine.
  target->setCodeGenOptLevel(CodeGenOptLevel::None);
  auto compiler = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*target)).create();
  if (!compiler)
    return compiler.takeError();
  if (Error error = defineSupportRoutines(**compiler))
    return std::move(error);
  return std::move(*compiler);
}

/// Cleans up what the rewriting left; most of the time goes to calls of the machine, so more would not pay.
static void optimise(Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  for (Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

Error emulator::addModule(orc::LLJIT &compiler, orc::ThreadSafeModule owned) {
  Module &module = *owned.getModuleUnlocked();
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(module, &os))
    return createStringError(inconvertibleErrorCode(), "the rewritten module is not valid: " + problem);
  optimise(module);
  return compiler.addIRModule(std::move(owned));
}
