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
#include "attune/Graph/Metric.h"
#include "attune/Graph/RewriteLaw.h"
#include "attune/Support/Laws.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Why the kernels of a part cannot run beside those of others; empty if they can.
static std::string partRefusal(Value part) {
  Operation *attention = attentionOf(part);
  if (!attention || !graph::isMechanism(attention))
    return "a part is not attention itself";
  if (auto kernel = dyn_cast<KernelOp>(attention); kernel && kernel.getCompressKey())
    return "kernels that compress the features of a part run before all parts";
  return "";
}

namespace {
struct LaunchLaw : graph::RewriteLaw {
  StringRef name() const override { return "launch"; }
  ArrayRef<StringLiteral> forms() const override { return launchForms; }
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
