//===- Launch.cpp - Parts of a mixture one after another or in one launch ------ -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sequential    the kernels of a part, then those of the next one
//   co_launched   the first kernels of all parts in one launch, then the second ones: the grid has all their points
//
// Parts write heads of their own and read what is there before, so that none waits for another. Together, cores that one
// part leaves idle work on another one, and there are as many launches as the longest part has.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Why the kernels of a part cannot run beside those of others; empty if they can.
static std::string partRefusal(Value part) {
  Operation *attention = attentionOf(part);
  if (!attention || !isa<MechanismOpInterface>(attention))
    return "a part is not attention itself";
  if (auto kernel = dyn_cast<KernelOp>(attention); kernel && kernel.getCompressKey())
    return "kernels that compress the features of a part run before all parts";
  return "";
}

static constexpr graph::LawForm forms[] = {
    {"sequential", "one part after the other"},
    {"co_launched", "the first kernels of all parts in one launch, then the second ones"},
};

static constexpr ListedLaw identities[] = {
    {"S4", "launch", "the kernels of part after part = the first kernels of all parts, then the second ones",
     "two parts or more, all attention; no part compresses its features; on a CPU",
     "ELFATT (arXiv 2501.06098), whose halves are two calls", LawPlace::Choice,
     "sequential: as many launches as all parts have, each with the programs of one; co_launched: as many as the "
     "longest "
     "part has, with those of all, which wins where a part alone leaves cores idle and where launches are most of the "
     "time"},
};

static constexpr graph::LawRow lawRow = {"launch", "parts", "there is nothing to run together with", forms, identities};

namespace {
struct LaunchLaw : graph::RewriteLaw {
  LaunchLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<ConcatHeadsOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form != "co_launched")
      return "";
    auto op = cast<ConcatHeadsOp>(operation);
    if (op.getParts().size() < 2)
      return "there is one part";
    for (Value part : op.getParts())
      if (std::string reason = partRefusal(part); !reason.empty())
        return reason;
    return "";
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == "co_launched")
      decide(operation, [](Execution &execution) { execution.launch = Launch::CoLaunched; });
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createLaunchLaw() { return std::make_unique<LaunchLaw>(); }
