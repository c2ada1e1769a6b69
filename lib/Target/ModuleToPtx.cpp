//===- ModuleToPtx.cpp - One LLVM module to PTX ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModuleToPtx.h"

#include "attune/Lowering/GPU/Passes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace attune;
using llvm::StringRef;

/// PTX 7.8 knows every instruction used here, and drivers since CUDA 11.8 take it. What is special to one architecture
/// came with 8.0.
static StringRef featuresOf(StringRef chip) { return chip.ends_with("a") ? "+ptx80" : "+ptx78"; }

static std::unique_ptr<llvm::TargetMachine> makeTarget(StringRef chip, std::string &error) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(deviceTriple), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(deviceTriple), chip, featuresOf(chip), options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Simplification, but nothing that moves code out of loops: the addresses of shared memory are cheap to compute and many,
/// and hoisted they would fill the registers (chunked attention, d = 64: 56 bytes of spills). The assembler hoists by what
/// it has registers for.
static constexpr llvm::StringLiteral passes =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,adce)";

static void simplify(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  llvm::cantFail(builder.parsePassPipeline(pipeline, passes));
  pipeline.run(module, modules);
}

namespace {
/// Leaves out what takes time for nothing, and what makes registers hold values longer:
/// * Global value numbering a second time: it finds next to nothing, and takes a seventh of the time from LLVM IR to PTX. Without
///   the first, too, softmax in f32 spills 12 bytes.
/// * Loop strength reduction: it carries an address for each copy and each row of shared memory through the loop. Softmax at
///   d = 64 takes 128 registers without and 161 with it.
/// * Sinking, in kernels that sum several loads: it moves arithmetic to the block of its one use. Loads with a guard are blocks
///   of their own, so all sums would come after the last load, and all that was loaded would wait for them. The readout of
///   focused features with a convolution of nine taps, f32, takes 96 registers without and 248 with it. Elsewhere what
///   sinks is addresses of guarded loads, to where they are needed.
class OnlyWhatPays : public llvm::OptPassGate {
public:
  explicit OnlyWhatPays(const llvm::Module &module) {
    for (const llvm::Function &function : module)
      if (function.hasFnAttribute(attune::device::sumsLoadsName))
        sumLoads.insert(("function (" + function.getName() + ")").str());
  }
  bool shouldRunPass(StringRef name, StringRef place) const override {
    if (name == "gvn")
      return numbered.insert(place).second;
    return name != "Loop Strength Reduction" && (name != "machine-sink" || !sumLoads.contains(place));
  }
  bool isEnabled() const override { return true; }

private:
  // Places, as LLVM describes them to a gate.
  llvm::StringSet<> sumLoads;
  mutable llvm::StringSet<> numbered; ///< where values have been numbered
};
} // namespace

llvm::Expected<std::string> attune::moduleToPtx(llvm::Module &device, StringRef chip) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> target = makeTarget(chip, error);
  if (!target)
    return llvm::createStringError("expected an LLVM with the NVPTX target, but got: " + error);
  OnlyWhatPays gate(device);
  device.getContext().setOptPassGate(gate);
  device.setDataLayout(target->createDataLayout());
  simplify(device, *target);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager printer;
  if (target->addPassesToEmitFile(printer, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("expected the NVPTX target to emit assembly for " + chip);
  printer.run(device);
  return std::string(text);
}
