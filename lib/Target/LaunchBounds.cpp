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
// into less, too; and some kernels, which it then schedules more boldly, spill with the bound alone. Which it will be cannot
// be told beforehand, not even of kernels that have all registers either way. So each kernel that spills in a loop is tried
// the other way.
//
//===----------------------------------------------------------------------===//
#include "attune/Target/EmitDevice.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral threadCount = ".reqntid", oneBlock = ".minnctapersm 1\n";

namespace {
/// Where the text of a kernel has its bounds; npos where it has none.
struct BoundsPlace {
  BoundsPlace(StringRef ptx, StringRef name) {
    size_t entry = ptx.find((".entry " + name + "(").str()), body = ptx.find('{', entry);
    StringRef head = ptx.take_front(body == StringRef::npos ? 0 : body);
    threads = head.find(threadCount, entry), bound = head.find(oneBlock, entry);
  }
  bool isBounded() const { return bound != StringRef::npos; }

  size_t threads = StringRef::npos, bound = StringRef::npos;
};
} // namespace

/// Bounds kernel `name`, or takes the bound away that it has.
static void turnBound(std::string &ptx, StringRef name) {
  BoundsPlace place(ptx, name);
  if (place.isBounded())
    ptx.erase(place.bound, oneBlock.size());
  else if (place.threads != StringRef::npos)
    ptx.insert(ptx.find('\n', place.threads) + 1, oneBlock);
}

std::string attune::withOtherBounds(StringRef ptx, ArrayRef<KernelResources> kernels) {
  std::string turned = ptx.str();
  for (const KernelResources &kernel : kernels)
    turnBound(turned, kernel.name);
  return turned;
}

/// What spills cost: in loops, then at all.
static std::pair<int64_t, int64_t> costOfSpills(const KernelResources &kernel) {
  int64_t bytes = kernel.spillStores + kernel.spillLoads;
  return {kernel.inLoops.value_or(bytes), bytes};
}

static std::vector<KernelResources> spillingInLoops(ArrayRef<KernelResources> kernels) {
  std::vector<KernelResources> result;
  for (const KernelResources &kernel : kernels)
    if (kernel.spillsInLoops())
      result.push_back(kernel);
  return result;
}

/// Of `kernels`, those that spill less in `other`.
static std::vector<KernelResources> better(ArrayRef<KernelResources> kernels, ArrayRef<KernelResources> other) {
  std::vector<KernelResources> result;
  for (const KernelResources &kernel : kernels)
    for (const KernelResources &turned : other)
      if (turned.name == kernel.name && costOfSpills(turned) < costOfSpills(kernel))
        result.push_back(kernel);
  return result;
}

FailureOr<Cubin> attune::emitCubinInRegisters(Location loc, std::string &ptx, StringRef chip) {
  FailureOr<Cubin> first = emitCubin(loc, ptx, chip, /*allowSpills=*/true);
  if (failed(first))
    return failure();
  std::vector<KernelResources> spilling = spillingInLoops(first->kernels);
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
