//===- Pipeline.h - Tile kernels to LLVM IR for CPUs -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_PIPELINE_H
#define ATTUNE_LOWERING_CPU_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attune::cpu {

struct CpuOptions {
  /// Instruction sets to emit; a kernel exists once for each that has code of its own for it, with `__<isa>` at the end of its name.
  std::vector<std::string> isas = {"avx2", "avx512"};
  /// The kernels run on a device: only host functions are lowered, and they launch through `attune_rt_launch_device`.
  bool device = false;
};

/// Name of the variant of a kernel or plan, e.g. `softmax__avx512`.
std::string variantName(llvm::StringRef name, llvm::StringRef isa);
/// Name of the function that tells a plan's workspace, whatever the instruction set, e.g. `plan0__workspace`.
std::string workspaceName(llvm::StringRef name);
/// On functions that several instruction sets run (an attribute of LLVM functions): parts of a library have them once.
inline constexpr llvm::StringLiteral sharedAttr = "attune-shared";
/// On every lowered kernel: bytes of scratch memory it needs (integer attribute).
inline constexpr llvm::StringLiteral scratchBytesAttr = "attune.scratch_bytes";

/// Tile kernels and host functions to a module of the llvm dialect.
void buildTileToCpuPipeline(mlir::OpPassManager &manager, const CpuOptions &options = {});
/// Registers `tile-to-cpu`, the pipeline with default options, for pass drivers.
void registerTileToCpuPipeline();

/// LLVM IR of a module that the pipeline made; null (with diagnostics) if it cannot be translated.
std::unique_ptr<llvm::Module> translateCpuModule(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_PIPELINE_H
