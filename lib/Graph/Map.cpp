//===- Map.cpp - Features of keys in the kernels that read them or alone --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fused          whoever reads a tile of keys maps it in the load
//   materialized   a kernel stores φ(k) [batch, heads, N, m] for all who read it: query blocks, heads of a group
//
// The second maps a key once, in parallel over blocks of keys; in return m numbers of f32 are written and read in the place of
// d. Queries are read once, by whoever they belong to.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Graph/RewriteLaw.h"
#include "attune/Support/Laws.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Marks the maps of keys that the terms of a value lead to.
static void markKeys(Value term) {
  Operation *op = term ? term.getDefiningOp() : nullptr;
  if (auto map = dyn_cast_or_null<MapOp>(op)) {
    if (map.getKeys())
      decide(map, [](Execution &execution) { execution.values = Values::Materialized; });
    return;
  }
  if (isa_and_present<ContractOp, VisibleOp, DecayOp, StateOp, ReadoutOp, CausalReadoutOp>(op))
    for (Value operand : op->getOperands())
      markKeys(operand);
}

namespace {
struct MapLaw : graph::RewriteLaw {
  StringRef name() const override { return "map"; }
  ArrayRef<StringLiteral> forms() const override { return mapForms; }
  bool appliesTo(Operation *op) const override { return isa<KernelOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "materialized" && cast<KernelOp>(operation).getCompressKey())
      return "the features are compressed by the kernel that makes them";
    return "";
  }

  bool marks() const override { return true; }
  bool marksAsWritten() const override { return false; } // `linearize` makes the maps
  void mark(Operation *operation, StringRef form) const override {
    if (form == "materialized")
      markKeys(cast<NormalizeOp>(operation).getNumerator());
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createMapLaw() { return std::make_unique<MapLaw>(); }
