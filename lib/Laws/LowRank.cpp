//===- LowRank.cpp - E before or after the projection -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   project_first    E (x W + 1 βᵀ)            N D d + N k d multiply-adds a head
//   compress_first   (E x) W + (E 1) βᵀ        k D d a head, and N k D once for all heads, and for K and V of one E (I3, I4)
//
// An E of each head has an E x of each head.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/CompressFirst.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// The projection that these tokens come from, perhaps through other ops.
static ProjectOp projectionOf(Value tokens) {
  while (Operation *op = tokens.getDefiningOp()) {
    if (auto project = dyn_cast<ProjectOp>(op))
      return project;
    if (!isa<RopeOp, QkNormOp, TakeHeadsOp, MapOp>(op))
      return ProjectOp();
    tokens = op->getOperand(0);
  }
  return ProjectOp();
}

/// What stands between the projection and E.
static std::string obstacle(Operation *between) {
  if (isa<RopeOp>(between))
    return "rope turns every token by its own place before e mixes them";
  if (isa<QkNormOp>(between))
    return "qk_norm divides every token by its own norm before e mixes them";
  if (isa<MapOp>(between))
    return "the feature map is not linear, and e compresses its features";
  return "the parts read different heads of these tokens";
}

static constexpr graph::LawForm forms[] = {
    {"project_first", "E (x W): tokens are projected, then compressed"},
    {"compress_first", "(E x) W: the layer's input is compressed, then the few rows are projected"},
};

static constexpr ListedLaw identities[] = {
    {"I3", "low_rank", "E (x W + 1 βᵀ) = (E x) W + (E 1) βᵀ",
     "no rope, qk_norm or map between; nobody reads the tokens uncompressed; parts share no projection",
     "Linformer (arXiv 2006.04768)", LawPlace::Choice,
     "project_first: N D d + N k d multiply-adds a head; compress_first: k D d a head and N k D for each E, which wins "
     "for "
     "one E of many heads, and loses for one narrow head or an E of each head with k above d"},
};

static constexpr graph::LawRow lawRow = {"low_rank", "compressed tokens of a projection",
                                         "there are no tokens to compress before or after their projection", forms,
                                         identities};

namespace {
struct LowRankLaw : graph::RewriteLaw {
  LowRankLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override {
    auto compress = dyn_cast<CompressOp>(op);
    return compress && projectionOf(compress.getSource());
  }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "project_first")
      return "";
    Value source = cast<CompressOp>(operation).getSource();
    auto project = source.getDefiningOp<ProjectOp>();
    if (!project)
      return obstacle(source.getDefiningOp());
    if (!llvm::all_of(source.getUsers(), llvm::IsaPred<CompressOp>))
      return "other ops read these tokens uncompressed";
    if (ShapedType::isDynamic(project.getSource().getType().getDimSize(2)))
      return "the width of the input is known only to a run";
    return "";
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation, StringRef form) const override {
    auto copy = cast<CompressOp>(builder.clone(*operation));
    if (form == "compress_first")
      decide(copy, [](Execution &execution) { execution.form = TermForm::CompressFirst; });
    return {copy.getResult()};
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createLowRankLaw() { return std::make_unique<LowRankLaw>(); }
