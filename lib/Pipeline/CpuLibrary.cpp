//===- CpuLibrary.cpp - From kernels to a CPU library ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Compilation.h"

#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Pipeline/Describe.h"

#include "CPU/Features.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace attune;
using namespace attune::target;

namespace {
struct IsaVariant {
  const char *isa;
  attune_rt_target target;
};
} // namespace

static const IsaVariant isaVariants[] = {{"avx2", ATTUNE_RT_AVX2},
                                         {"avx512", ATTUNE_RT_AVX512},
                                         {"avx512_bf16", ATTUNE_RT_AVX512_BF16},
                                         {"amx", ATTUNE_RT_AMX}};

ArrayRef<StringRef> attune::instructionSetNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> list = {"native"};
    for (const IsaVariant &entry : isaVariants)
      list.push_back(entry.isa);
    return list;
  }();
  return names;
}

/// The best below `limit` that this machine runs; null if there is none.
static const IsaVariant *bestHere(ArrayRef<std::string> isas, attune_rt_target limit) {
  const IsaVariant *best = nullptr;
  for (const IsaVariant &entry : isaVariants)
    if (entry.target <= limit && llvm::is_contained(isas, entry.isa) && rt::cpuSupports(entry.target) &&
        (!best || rt::cpuRank(entry.target) > rt::cpuRank(best->target)))
      best = &entry;
  return best;
}

std::vector<std::string> attune::nativeInstructionSets(ArrayRef<std::string> isas) {
  const IsaVariant *best = bestHere(isas, ATTUNE_RT_AMX);
  if (!best)
    return {isas.front()};
  const IsaVariant *without = best->target == ATTUNE_RT_AMX ? bestHere(isas, ATTUNE_RT_AVX512_BF16) : nullptr;
  return without ? std::vector<std::string>{without->isa, best->isa} : std::vector<std::string>{best->isa};
}

/// The largest scratch memory of the kernels, whose instruction sets may share them; plans share the threads' scratch.
static int64_t scratchBytes(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](Operation *op) {
    if (auto scratch = op->getAttrOfType<IntegerAttr>(cpu::scratchBytesAttr))
      bytes = std::max(bytes, scratch.getInt());
  });
  return bytes;
}

/// A plan of one instruction set; its workspace function may be absent.
static PlanDescription describePlan(const PlanName &plan, StringRef isa, int64_t scratch, const llvm::Module &code) {
  std::string workspace = cpu::workspaceName(plan.function);
  if (!code.getFunction(workspace))
    workspace.clear();
  return {plan.form, plan.from, cpu::variantName(plan.function, isa), workspace, scratch};
}

static void addVariants(LibraryDescription &description, ArrayRef<PlanName> plans, const std::string &prepare,
                        Compilation &compilation, const llvm::Module &code) {
  int64_t scratch = scratchBytes(compilation.module());
  for (const IsaVariant &entry : isaVariants) {
    if (!llvm::is_contained(compilation.instructionSets(), entry.isa))
      continue;
    VariantDescription variant;
    variant.target = entry.target;
    for (const PlanName &plan : plans)
      variant.plans.push_back(describePlan(plan, entry.isa, scratch, code));
    if (!prepare.empty())
      variant.prepare = describePlan({prepare, "prepare", 0}, entry.isa, scratch, code);
    description.variants.push_back(std::move(variant));
  }
}

std::optional<LibraryModule> attune::compileForCpu(Compilation &compilation) {
  if (failed(compilation.advance(Stage::Tile)))
    return std::nullopt;
  SmallVector<PlanName> plans = planNames(compilation.module());
  func::FuncOp prepareHost = prepareFunction(compilation.module());
  std::string prepare = prepareHost ? prepareHost.getName().str() : "";
  if (failed(compilation.advance(Stage::Llvm)))
    return std::nullopt;
  LibraryModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = cpu::translateCpuModule(compilation.module(), *result.context);
  if (!result.module)
    return std::nullopt;
  result.description = compilation.interface();
  addVariants(result.description, plans, prepare, compilation, *result.module);
  return result;
}
