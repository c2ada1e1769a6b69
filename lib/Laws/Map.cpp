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
#include "attune/Laws/RewriteLaw.h"

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
  if (isa_and_present<ContractOp, VisibleOp, DecayOp, GateOp, StateOp, ReadoutOp, CausalReadoutOp>(op))
    for (Value operand : op->getOperands())
      markKeys(operand);
}

static constexpr graph::LawForm forms[] = {
    {"fused", "the kernel that reads keys maps them itself, tile by tile, as often as it reads them"},
    {"materialized", "a kernel of its own stores the features of all keys, once for all that read them"},
};

static constexpr ListedLaw identities[] = {
    {"S3", "map", "φ(K) of all keys, stored = φ(k) of a tile, wherever the tile is read",
     "kernel attention whose features are not compressed; on a CPU",
     "GQA (arXiv 2305.13245), of what is made once for a group", LawPlace::Choice,
     "fused: a key is mapped for every block of queries and every query head that reads it; materialized: once, by as "
     "many cores as there are, for a launch and m f32 numbers a key, which wins for dear maps with several readers or "
     "idle cores"},
};

static constexpr graph::LawRow lawRow = {"map", "a mechanism with a feature map", "there are no features of keys",
                                         forms, identities};

namespace {
struct MapLaw : graph::RewriteLaw {
  MapLaw() : RewriteLaw(lawRow) {}
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
