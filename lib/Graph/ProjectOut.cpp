//===- ProjectOut.cpp - The output projection alone or as an epilogue ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   materialized   a kernel reads the heads o [batch, heads, tokens, dv], which are stored: y = Σ_h o_h W_O[h]
//   epilogue       the kernel of the heads has all of them of a query block one after another, and adds o_h W_O[h] up
//
// The second spares a launch and the workspace of o; in return heads are not programs.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Graph/Metric.h"
#include "attune/Graph/RewriteLaw.h"
#include "attune/Support/Laws.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Why the kernels of an op cannot project the heads that they compute; empty if they can.
static std::string headsRefusal(Operation *op) {
  if (!op)
    return "the heads are an argument, which no kernel computes";
  if (!op->getResult(0).hasOneUse())
    return "the heads are read by others too, so that they are stored anyway";
  if (auto lepe = dyn_cast<LepeOp>(op))
    return headsRefusal(lepe.getSource().getDefiningOp());
  if (isa<ConcatHeadsOp>(op))
    return "the parts of a mixture have kernels of their own, and no kernel has all heads of a token";
  if (isa<EvaOp, PolysketchOp>(op))
    return "the kernels of " + op->getName().stripDialect().str() + " hold one head at a time";
  return "";
}

std::string graph::epilogueRefusal(const cost::AttentionShape &shape, tile::TargetKind target) {
  if (!shape.outputModel)
    return "";
  if (target == tile::TargetKind::GPU)
    return "rows as wide as the model hold registers that the kernels of a GPU do not have (not supported yet)";
  if (shape.family == cost::Family::Softmax && shape.split)
    return "each head ends in a program of its own, where its last piece of keys arrives, and none has all heads of a token";
  if (shape.fused)
    return "a kernel that keeps a state has all tokens of one head, and no kernel has all heads of a token";
  if (shape.family == cost::Family::Kernel && shape.form == Form::Chunked)
    return "chunks follow one another within a head, and no kernel has all heads of a token";
  return "";
}

namespace {
struct ProjectOutLaw : graph::RewriteLaw {
  StringRef name() const override { return "project_out"; }
  ArrayRef<StringLiteral> forms() const override { return projectOutForms; }
  bool appliesTo(Operation *op) const override { return isa<ProjectOutputOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "materialized")
      return "";
    auto op = cast<ProjectOutputOp>(operation);
    if (ShapedType::isDynamic(op.getResult().getType().getDimSize(2)))
      return "the width of the output is known only to a run";
    return headsRefusal(op.getSource().getDefiningOp());
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == "epilogue")
      decide(operation, [](Execution &execution) { execution.values = Values::Fused; });
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createProjectOutLaw() { return std::make_unique<ProjectOutLaw>(); }
