//===- Project.cpp - Projections alone or in the kernels that read them ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   materialized   a kernel stores x W [batch, heads, tokens, d]; whoever reads tokens loads them
//   fused          whoever reads a tile of tokens computes it: x [T, D] · W [D, d of the head]
//
// The second spares a launch and the workspace, and computes a token as often as it is read. RoPE, qk_norm and heads of a
// part are done in the load anyway, after the product.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/CompressFirst.h"
#include "attune/Attn/Execution.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Why an op that reads tokens cannot compute them; empty if it can.
static std::string readerRefusal(Operation *reader) {
  if (isa<TakeHeadsOp, RopeOp, QkNormOp>(reader)) {
    for (Operation *user : reader->getResult(0).getUsers())
      if (std::string reason = readerRefusal(user); !reason.empty())
        return reason;
    return "";
  }
  if (auto kernel = dyn_cast<KernelOp>(reader))
    return kernel.getCompressKey()
               ? "features are compressed by kernels that read the tokens once for every block of compressed tokens"
               : "";
  if (isa<LepeOp>(reader))
    return "lepe reads every value with its neighbours";
  if (isa<SoftmaxOp, PolynomialOp, EffattOp, CompressOp>(reader))
    return "";
  return "the kernels of " + reader->getName().stripDialect().str() + " read their tokens several times";
}

static constexpr graph::LawForm forms[] = {
    {"materialized", "a kernel of its own stores the projected tokens"},
    {"fused", "the kernel that reads projected tokens computes them itself, tile by tile"},
};

static constexpr ListedLaw identities[] = {
    {"S1", "project", "x W of all tokens, stored = x W of a tile, wherever the tile is read",
     "softmax, powers, kernel attention, EFFATT or E read the tokens; no LePE of them; on a CPU",
     "FlashAttention (arXiv 2205.14135), of what is cheaper to compute than to fetch", LawPlace::Choice,
     "materialized: n D d a head, a launch and n d numbers stored; fused: none of the two, and T D d for every tile that "
     "is read, which wins for queries and for keys that are read once, and loses where blocks of queries visit the keys "
     "many times or programs of the reader are fewer than cores"},
};

static constexpr graph::LawRow lawRow = {"project", "a projection", "tokens are inputs as they are", forms, identities};

namespace {
struct ProjectLaw : graph::RewriteLaw {
  ProjectLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<ProjectOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "materialized")
      return "";
    auto op = cast<ProjectOp>(operation);
    for (Operation *user : op.getResult().getUsers())
      if (std::string reason = readerRefusal(user); !reason.empty())
        return reason;
    if (ShapedType::isDynamic(op.getSource().getType().getDimSize(2)))
      return "the width of the input is known only to a run";
    return "";
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == "fused")
      decide(operation, [](Execution &execution) { execution.values = Values::Fused; });
  }
  /// Not where `low_rank` compresses the input first: (E x) W needs no x W.
  bool isComputed(Operation *operation) const override { return !projectsSlotsOnly(cast<ProjectOp>(operation)); }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createProjectLaw() { return std::make_unique<ProjectLaw>(); }
