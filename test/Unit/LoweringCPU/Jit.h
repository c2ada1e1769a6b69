//===- Jit.h - Runs a plan in this process -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_LOWERINGCPU_JIT_H
#define ATTUNE_TEST_LOWERINGCPU_JIT_H

#include "mlir/IR/MLIRContext.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace attune::test {

/// A tensor argument: element strides, innermost 1.
struct Tensor {
  void *data = nullptr;
  std::vector<int64_t> sizes, strides;
};

/// Whether this machine runs code of an instruction set.
bool machineHas(const std::string &isa);
/// What executes the instructions of tiles in a program that tests them; null elsewhere, where no machine has them.
extern void (*installTiles)();

/// A module of `attn` or `tile`, compiled and loaded. Errors abort: this is for tests.
class Jit {
public:
  /// Seconds spent in MLIR passes, in LLVM's passes, and in code generation.
  struct Times {
    double mlir = 0, optimise = 0, codegen = 0;
  };

  Jit(mlir::MLIRContext &context, const std::string &source, const std::vector<std::string> &isas);
  ~Jit();

  /// Runs a plan over all its grids in this thread. Scratch and workspace hold NaN before and end at a guard page.
  void run(const std::string &plan, const std::string &isa, const std::vector<Tensor> &arguments);
  const Times &times() const { return spent; }
  int64_t codeBytes() const { return objectBytes; }

  /// What `attune_rt_launch` calls.
  void launch(void *kernel, const void *args, int64_t gx, int64_t gy, int64_t gz);
  bool checked = true; ///< false: keep the scratch, for measurements

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<void *, int64_t> scratchBytes;
  std::map<int64_t, void *> kept;
  Times spent;
  int64_t objectBytes = 0;

  void *find(const std::string &name);
};

/// Memory of whole pages with an inaccessible page on either side; the bytes end at the page after them.
class Guarded {
public:
  explicit Guarded(size_t bytes, bool atEnd = true);
  ~Guarded();
  Guarded(const Guarded &) = delete;
  void *data() const { return start; }

private:
  void *map, *start;
  size_t mapped;
};

} // namespace attune::test

#endif // ATTUNE_TEST_LOWERINGCPU_JIT_H
