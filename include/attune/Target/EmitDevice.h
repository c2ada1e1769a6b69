//===- EmitDevice.h - Device code as LLVM IR, PTX and cubin -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITDEVICE_H
#define ATTUNE_TARGET_EMITDEVICE_H

#include "attune/Tile/Product.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attune {

/// What the host must know of a kernel to launch it, in the order of the kernel table.
struct DeviceKernel {
  std::string name;
  int64_t blockSize = 0;
  int64_t sharedBytes = 0; ///< dynamic shared memory
  std::optional<tile::Product> product = {};
};

/// What the assembler says of a kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0;
  int64_t spillStores = 0, spillLoads = 0; ///< bytes
  int64_t stack = 0;                       ///< bytes
  int64_t staticShared = 0;                ///< bytes
  std::optional<int64_t> inLoops = {};     ///< instructions in loops that spill or read what is spilled, if known

  bool spills() const { return spillStores || spillLoads; }
  bool spillsInLoops() const { return spills() && inLoops != 0; }
};

/// The kernels of `module`'s gpu.module, after `buildTileToGpuPipeline`.
std::vector<DeviceKernel> deviceKernels(mlir::ModuleOp module);

/// The gpu.module as an LLVM module for nvptx64, before optimisation. This is what an emulator takes.
mlir::FailureOr<std::unique_ptr<llvm::Module>> translateDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context);

/// PTX of the gpu.module for `chip` (sm_80, …), made by `threads` threads, 0: as many as there are processors; the text is the
/// same. Works without any CUDA tool.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, llvm::StringRef chip, unsigned threads = 0);

struct Cubin {
  std::string bytes;
  std::vector<KernelResources> kernels;
};

/// The path of `ptxas`: CUDA_HOME, CUDA_ROOT, PATH, in this order.
std::optional<std::string> findPtxas();

/// Why `ptxas` cannot assemble what is emitted for `chip`: it is too old, by what it says of its version. Empty: it can.
std::string whyPtxasCannot(llvm::StringRef ptxas, llvm::StringRef chip);

/// The release in what `ptxas --version` prints, 1108 for 11.8; 0 if there is none.
unsigned parseRelease(llvm::StringRef versionOutput);

/// Assembles PTX. Fails, with the assembler's message at `loc`, if there is no `ptxas`, if it rejects the code, or if a
/// kernel spills registers and that is not allowed.
mlir::FailureOr<Cubin> emitCubin(mlir::Location loc, llvm::StringRef ptx, llvm::StringRef chip,
                                 bool allowSpills = false);

/// `ptx` with the launch bounds of `kernels` turned: alone on a multiprocessor, or not.
std::string withOtherBounds(llvm::StringRef ptx, llvm::ArrayRef<KernelResources> kernels);

/// Assembles PTX, spills allowed; each kernel that spills in a loop is tried with the other launch bounds, and has those with
/// which it spills less there. What the kernels were assembled from is then in `ptx`.
mlir::FailureOr<Cubin> emitCubinInRegisters(mlir::Location loc, std::string &ptx, llvm::StringRef chip);

/// Reads what `ptxas -v` prints.
std::vector<KernelResources> parseResources(llvm::StringRef assemblerOutput);

/// How many instructions of machine code write or read spilled registers in a loop; `capability`: 90 of sm_90a.
int64_t countSpillsInLoops(llvm::StringRef code, unsigned capability);
/// Asks the code of each kernel for it.
void findSpillsInLoops(Cubin &cubin, llvm::StringRef chip);

} // namespace attune

#endif // ATTUNE_TARGET_EMITDEVICE_H
