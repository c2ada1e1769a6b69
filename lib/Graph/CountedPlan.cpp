//===- CountedPlan.cpp - The counted kernels of a plan's attentions -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CountedPlan.h"
#include "LaunchKey.h"

#include "attune/Attn/Folded.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using cost::AttentionShape;

using Roots = llvm::SmallPtrSet<Operation *, 16>;

/// The kernels of a folded projection are made with those of its reader.
static Operation *readerOf(func::FuncOp plan, Operation *folded, ArrayRef<Operation *> ops, const Roots &roots) {
  for (Operation *op : ops)
    if (op != folded && llvm::is_contained(pieceOf(plan, op, roots).folded, folded))
      return op;
  return nullptr;
}

/// Whether a kernel is one of an op's own, and not of projections that are folded into it or of what reads its tokens.
static bool isOf(cost::Family family, StringRef kernel) {
  switch (family) {
  case cost::Family::Project:
    return kernel == "project";
  case cost::Family::ProjectOutput:
    return kernel == "project_output";
  case cost::Family::Compress:
    return kernel == "compress" || kernel == "compress_input" || kernel == "merge";
  case cost::Family::ProjectSlots:
    return kernel == "project_slots";
  case cost::Family::SlotSums:
    return kernel == "slot_sums";
  default: // a mechanism
    return kernel != "project";
  }
}

/// Takes the kernels of a family that are not taken yet; of the folded projections of one reader each has one.
static CountedAttention take(const CountedKernels &kernels, cost::Family family, std::vector<bool> &taken) {
  CountedAttention found;
  for (auto [place, kernel] : llvm::enumerate(kernels)) {
    if (taken[place] || !isOf(family, kernel.name))
      continue;
    taken[place] = true;
    found.push_back(&kernel);
    if (family == cost::Family::Project)
      break;
  }
  return found;
}

llvm::Expected<std::vector<CountedAttention>> graph::countPlan(func::FuncOp plan, ArrayRef<AttentionShape> attentions,
                                                               tile::ScheduleAttr schedule, KernelCounter &counter) {
  SmallVector<Operation *> ops = opsOfAttentions(plan);
  Roots roots(ops.begin(), ops.end());
  std::vector<CountedAttention> counted;
  // An op with several attentions has them one after another; so have the folded projections of one reader.
  llvm::SmallDenseMap<Operation *, std::vector<bool>, 8> taken;
  for (auto [op, shape] : llvm::zip_equal(ops, attentions)) {
    bool isFolded = op->getNumResults() == 1 && attn::isFolded(op->getResult(0));
    Operation *reader = isFolded ? readerOf(plan, op, ops, roots) : nullptr;
    Operation *root = reader ? reader : op;
    auto kernels = counter.kernelsOf(plan, root, roots, schedule);
    if (!kernels)
      return kernels.takeError();
    std::vector<bool> &used = taken[root];
    used.resize(kernels->size());
    counted.push_back(take(*kernels, shape.family, used));
  }
  return counted;
}

double graph::liveBytes(func::FuncOp plan, ArrayRef<AttentionShape> attentions, tile::ScheduleAttr schedule,
                        KernelCounter &counter, double enough) {
  SmallVector<Operation *> ops = opsOfAttentions(plan);
  Roots roots(ops.begin(), ops.end());
  double bytes = 0;
  for (bool isCounted : {true, false}) // what other plans have in common with this one may be enough
    for (auto [op, shape] : llvm::zip_equal(ops, attentions)) {
      if (bytes > enough)
        return bytes;
      if (!shape.isAttention() || counter.knows(plan, op, roots, schedule) != isCounted)
        continue;
      auto kernels = counter.kernelsOf(plan, op, roots, schedule);
      if (!kernels)
        llvm::consumeError(kernels.takeError()); // told of the schedule that is taken
      else
        for (const CountedKernel &kernel : *kernels)
          bytes = std::max(bytes, kernel.liveBytes());
    }
  return bytes;
}
