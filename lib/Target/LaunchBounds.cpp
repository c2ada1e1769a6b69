//===- LaunchBounds.cpp - Kernels that do not spill for a second block ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Left alone, the assembler aims at several blocks on a multiprocessor, and for that it spills a few registers of a kernel
// that needs slightly more than its share. Told `.minnctapersm 1` it takes what the kernel needs, but of kernels that fit
// into less, too; and some kernels, which it then schedules more boldly, spill with the bound alone. So a kernel that
// spills is tried the other way.
//
//===----------------------------------------------------------------------===//
#include "attune/Target/EmitDevice.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral threadCount = ".reqntid", oneBlock = ".minnctapersm 1\n";

/// Bounds kernel `name`, or takes the bound away that it has.
static void turnBound(std::string &ptx, StringRef name) {
  size_t entry = ptx.find((".entry " + name + "(").str());
  if (entry == std::string::npos)
    return;
  size_t body = ptx.find('{', entry), threads = ptx.find(threadCount, entry), bound = ptx.find(oneBlock, entry);
  if (bound < body)
    ptx.erase(bound, oneBlock.size());
  else if (threads < body)
    ptx.insert(ptx.find('\n', threads) + 1, oneBlock);
}

std::string attune::withOtherBounds(StringRef ptx, ArrayRef<KernelResources> kernels) {
  std::string turned = ptx.str();
  for (const KernelResources &kernel : kernels)
    turnBound(turned, kernel.name);
  return turned;
}

static int64_t spilledBytes(const KernelResources &kernel) { return kernel.spillStores + kernel.spillLoads; }

/// Of `kernels`, those that spill less in `other`.
static std::vector<KernelResources> better(ArrayRef<KernelResources> kernels, ArrayRef<KernelResources> other) {
  std::vector<KernelResources> result;
  for (const KernelResources &kernel : kernels)
    for (const KernelResources &turned : other)
      if (turned.name == kernel.name && spilledBytes(turned) < spilledBytes(kernel))
        result.push_back(kernel);
  return result;
}

FailureOr<Cubin> attune::emitCubinInRegisters(Location loc, std::string &ptx, StringRef chip) {
  FailureOr<Cubin> first = emitCubin(loc, ptx, chip, /*allowSpills=*/true);
  if (failed(first))
    return failure();
  std::vector<KernelResources> spilling;
  for (const KernelResources &kernel : first->kernels)
    if (kernel.spills())
      spilling.push_back(kernel);
  if (spilling.empty())
    return first;
  std::string other = withOtherBounds(ptx, spilling);
  FailureOr<Cubin> second = emitCubin(loc, other, chip, /*allowSpills=*/true);
  if (failed(second))
    return failure();
  std::vector<KernelResources> turned = better(spilling, second->kernels);
  if (turned.empty())
    return first;
  if (turned.size() == spilling.size()) {
    ptx = std::move(other);
    return second;
  }
  ptx = withOtherBounds(ptx, turned);
  return emitCubin(loc, ptx, chip, /*allowSpills=*/true);
}
