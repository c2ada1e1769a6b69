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
#include "attune/Graph/RewriteLaw.h"
#include "attune/Support/Laws.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static constexpr StringLiteral splitForm = "split";

namespace {
struct KeysLaw : graph::RewriteLaw {
  StringRef name() const override { return "keys"; }
  ArrayRef<StringLiteral> forms() const override { return keysForms; }
  bool appliesTo(Operation *op) const override { return isa<SoftmaxOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    auto op = cast<SoftmaxOp>(operation);
    if (form != splitForm)
      return "";
    if (op.getWindow())
      return "windows run side by side, and each has few keys";
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
