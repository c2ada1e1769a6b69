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

/// Takes the first kernels of these names that are not taken yet.
static CountedAttention take(const CountedKernels &kernels, ArrayRef<cost::KernelWork> works, std::vector<bool> &taken) {
  CountedAttention found;
  for (const cost::KernelWork &work : works) {
    size_t place = 0;
    while (place < kernels.size() && (taken[place] || kernels[place].name != work.kernel))
      ++place;
    if (place == kernels.size())
      return {};
    taken[place] = true;
    found.push_back(&kernels[place]);
  }
  return found;
}

std::vector<CountedAttention> graph::countPlan(func::FuncOp plan, ArrayRef<AttentionShape> attentions,
                                               tile::ScheduleAttr schedule, KernelCounter &counter) {
  SmallVector<Operation *> ops = opsOfAttentions(plan);
  Roots roots(ops.begin(), ops.end());
  std::vector<CountedAttention> counted;
  // An op with several attentions has them one after another; so have the folded projections of one reader.
  llvm::SmallDenseMap<Operation *, std::vector<bool>, 8> taken;
  for (auto [op, shape] : llvm::zip_equal(ops, attentions)) {
    bool isFolded = op->getNumResults() == 1 && attn::isFolded(op->getResult(0));
    Operation *root = isFolded ? readerOf(plan, op, ops, roots) : op;
    const CountedKernels *kernels = root ? counter.kernelsOf(plan, root, roots, schedule) : nullptr;
    if (!kernels) {
      counted.emplace_back();
      continue;
    }
    std::vector<bool> &used = taken[root];
    used.resize(kernels->size());
    AttentionShape some = shape;
    some.batch = some.queries = some.keys = 1;
    counted.push_back(take(*kernels, cost::attentionWork(some, schedule), used));
  }
  return counted;
}
