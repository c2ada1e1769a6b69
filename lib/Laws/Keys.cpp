//===- Keys.cpp - The keys of a softmax in order, or in pieces side by side -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   in_order   a grid point has all keys that a block of queries sees
//   split      it has a piece of them; the last piece of the block puts together what all have left (I13)
//
// Together they are batch × heads × blocks of queries × pieces points, where a few queries with many keys would leave cores
// idle. How many pieces there are is a part of the plan, so that the number of blocks must be known to it.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static constexpr StringLiteral splitForm = "split";

static constexpr graph::LawForm forms[] = {
    {"in_order", "a core goes through all keys that a block of queries sees"},
    {"split", "pieces of the keys side by side; the core with the last of them puts together what all have left"},
};

static constexpr ListedLaw identities[] = {
    {"S5", "keys",
     "the keys of a block of queries one after another = pieces of them, merged by maximum and sum in their order",
     "exact softmax without windows; how many queries there are is in the spec",
     "Flash-Decoding (pytorch.org/blog/flash-decoding), of queries too few to fill a machine", LawPlace::Choice,
     "in_order: a program for each batch entry, head and block of queries; split: as many times as there are pieces, "
     "of which the last "
     "merges what all have stored, which wins where few queries see many keys and batch, heads and blocks are fewer "
     "than cores"},
};

static constexpr graph::LawRow lawRow = {"keys", "softmax", "only exact attention has its keys in order or split",
                                         forms, identities};

namespace {
struct KeysLaw : graph::RewriteLaw {
  KeysLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<SoftmaxOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    auto op = cast<SoftmaxOp>(operation);
    if (form != splitForm)
      return "";
    if (op.getWindow())
      return "windows run side by side, and each has few keys";
    if (op.getLast())
      return "a query sees only the last of its keys";
    if (op.getQuery().getType().isDynamicDim(2))
      return "how many queries there are is known only to a run, and so is how many pieces fill a machine";
    return "";
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == splitForm)
      decide(operation, [](Execution &execution) { execution.split = true; });
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createKeysLaw() { return std::make_unique<KeysLaw>(); }
