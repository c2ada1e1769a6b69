//===- Keys.cpp - Keys in order, or in pieces side by side ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   of a softmax
//     in_order   a grid point has all keys that a block of queries sees
//     split      it has a piece of them; the last piece of the block puts together what all have left (I13)
//   of the chunks of a group, which `linearize` makes: grouped
//     in_order   a grid point has all chunks of a group of heads
//     split      it has a part of them; it begins with the states of the pieces before it, which come first (I11)
//
// Together they are batch × heads × blocks of queries × pieces points, or batch × groups × parts, where a few queries with many
// keys, or a few groups, would leave cores idle. How many pieces there are is a part of the plan, so that the number of blocks
// must be known to it. Chunks of single heads in parts are a form of `linearize` itself, split.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static constexpr StringLiteral splitForm = "split";

static bool isOfGroups(Operation *op) { return isa<CausalReadoutOp>(op) && executionOf(op).grouped; }

static constexpr graph::LawForm forms[] = {
    {"in_order", "a core goes through all keys that a block of queries sees, or through all chunks of a group of heads"},
    {"split", "pieces of the keys side by side; the last puts together what all have left, or each begins with what those before "
              "it sum up to"},
};

static constexpr ListedLaw identities[] = {
    {"S5", "keys",
     "the keys of a block of queries, or the chunks of a group of heads, one after another = pieces of them, merged in their "
     "order: by maximum and sum, or by the sums of states (I11)",
     "exact softmax without windows, how many queries there are in the spec; or `linearize: grouped`, not packed",
     "Flash-Decoding (pytorch.org/blog/flash-decoding), of queries too few to fill a machine", LawPlace::Choice,
     "in_order: a program for each batch entry, head and block of queries, or for each batch entry and group; split: as many "
     "times as there are pieces, of which the last merges what all have stored, or each begins with what those before it sum "
     "up to, which wins where few queries see many keys, or where groups have long sequences, and in_order has fewer programs "
     "than there are cores"},
};

static constexpr graph::LawRow lawRow = {"keys", "softmax, or chunks of grouped heads,",
                                         "other attention has no keys in pieces; causal features of single heads are cut by "
                                         "linearize: split",
                                         forms, identities};

/// Why the keys of exact attention have no pieces; empty if they can.
static std::string softmaxRefusal(SoftmaxOp op) {
  if (op.getWindow())
    return "windows run side by side, and each has few keys";
  if (op.getLast())
    return "a query sees only the last of its keys";
  if (op.getQuery().getType().isDynamicDim(2))
    return "how many queries there are is known only to a run, and so is how many pieces fill a machine";
  return "";
}

namespace {
struct KeysLaw : graph::RewriteLaw {
  KeysLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<SoftmaxOp>(op) || isOfGroups(op); }

  std::string refusal(Operation *op, StringRef form) const override {
    if (form != splitForm)
      return "";
    auto softmax = dyn_cast<SoftmaxOp>(op);
    return softmax ? softmaxRefusal(softmax) : graph::refuseParts(op);
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == splitForm)
      decide(operation, [](Execution &execution) { execution.split = true; });
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createKeysLaw() { return std::make_unique<KeysLaw>(); }
