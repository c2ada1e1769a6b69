//===- AttnRaise.cpp - Finds attention in linalg on tensors -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "attune/Raise/Passes.h"

#include "mlir/IR/Remarks.h"

namespace attune::raise {
#define GEN_PASS_DEF_ATTNRAISE
#include "attune/Raise/Passes.h.inc"
} // namespace attune::raise

using namespace mlir;
using namespace attune;
using namespace attune::raise;

/// A reduction or a division: what attention ends with. Copies, casts and changes of shape stay outside of it.
static bool canBeOutput(Operation *op) {
  if (isa<arith::DivFOp, arith::MulFOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics())
    return false;
  return linalgOp.getNumReductionLoops() != 0 ||
         llvm::any_of(*linalgOp.getBlock(), llvm::IsaPred<arith::DivFOp, arith::MulFOp>);
}

/// A user outside of what computes the root, of a tensor with an entry a query and key: it must be computed anyway.
static Operation *otherUser(const SoftmaxMatch &match) {
  llvm::SmallPtrSet<Operation *, 16> within = {match.root.getDefiningOp()};
  SmallVector<Operation *> open = {match.root.getDefiningOp()};
  llvm::SmallPtrSet<Operation *, 16> reached(within);
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && reached.insert(op).second)
        open.push_back(op);
  // An op dies with the root if all its users do; users stand behind it.
  SmallVector<Operation *> ordered(reached.begin(), reached.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->getBlock() == b->getBlock() && b->isBeforeInBlock(a); });
  for (Operation *op : ordered)
    if (llvm::all_of(op->getUsers(), [&](Operation *user) { return within.contains(user); }))
      within.insert(op);
  for (Value tensor : match.between)
    if (Operation *op = tensor.getDefiningOp(); op && !within.contains(op))
      for (Operation *user : op->getUsers())
        if (!within.contains(user))
          return user;
  return nullptr;
}

static bool isPart(const SoftmaxMatch &) { return false; }
static bool isPart(const LinearMatch &match) { return !match.normalised; }

namespace {
struct AttnRaise : public raise::impl::AttnRaiseBase<AttnRaise> {
  void runOnOperation() override {
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (canBeOutput(op))
        candidates.push_back(op);
    });
    // From the end: the whole of an attention comes before its parts.
    llvm::SmallPtrSet<Operation *, 32> erased;
    for (Operation *op : llvm::reverse(candidates)) {
      if (erased.contains(op))
        continue;
      for (OpResult result : op->getResults())
        if (isa<RankedTensorType>(result.getType()) && !result.use_empty() && raise(result)) {
          removeDead(erased);
          break;
        }
    }
  }

  /// Whether the root is understood, raised or refused for a reason that is all there is to say.
  bool raise(Value root) { return raiseEfficient(root) || raiseSoftmax(root) || raiseLinear(root); }

  /// First: its softmax over keys alone looks like attention without queries.
  bool raiseEfficient(Value root) {
    Terms terms(&getContext());
    SoftmaxMatch match;
    Refusal refusal;
    bool found = matchEfficient(terms, root, match, refusal);
    return replace(terms, match, found, refusal, "efficient", "attn.effatt", buildEfficient) || !refusal.reason.empty();
  }

  bool raiseSoftmax(Value root) {
    Terms terms(&getContext());
    SoftmaxMatch match;
    Refusal refusal;
    bool found = matchSoftmax(terms, root, match, refusal);
    return replace(terms, match, found, refusal, "softmax", "attn.softmax", buildSoftmax);
  }

  bool raiseLinear(Value root) {
    Terms terms(&getContext());
    LinearMatch match;
    Refusal refusal;
    bool found = matchLinear(terms, root, match, refusal);
    return replace(terms, match, found, refusal, "linear", match.normalised ? "attn.kernel" : "terms of attn.kernel",
                   buildLinear);
  }

  /// What was found, if its masks can be read and nothing else reads its weights; else says why not.
  template <typename Match, typename Build>
  bool replace(Terms &terms, const Match &match, bool found, Refusal &refusal, StringRef name, StringRef op,
               Build build) {
    Value root = match.root;
    Visibility visibility;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(root.getDefiningOp());
    found = found && readMasks(terms, match, visibility, refusal);
    if (Operation *user = found ? otherUser(match) : nullptr) {
      // The numerator alone of what has been refused as a whole is read by its divisor.
      if (!isPart(match))
        refusal.because("expected weights that only the output reads, but got another use of them",
                        user->getNumResults() ? Value(user->getResult(0)) : root);
      found = false;
    }
    if (Value output = found ? build(builder, terms, match, visibility, refusal) : Value()) {
      root.replaceAllUsesWith(output);
      ++numRaised;
      remark::passed(root.getLoc(), named(name)) << StringRef(("raised to " + op).str());
      return true;
    }
    if (!refusal.reason.empty()) {
      ++numRefused;
      Location place = refusal.at ? refusal.at.getLoc() : root.getLoc();
      remark::missed(place, named(name)) << StringRef("not raised: " + refusal.reason);
    }
    return false;
  }

  remark::RemarkOpts named(StringRef name) {
    return remark::RemarkOpts::name(name).category("attn-raise").function(getOperation().getName());
  }

  /// What only the raised op read: it is part of no other attention.
  void removeDead(llvm::SmallPtrSetImpl<Operation *> &erased) {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (!erased.contains(op) && isOpTriviallyDead(op)) {
        // Regions die with their op, and with them the ops that the walk met inside.
        op->walk([&](Operation *inside) { erased.insert(inside); });
        op->erase();
      }
  }
};
} // namespace
