//===- Pipelines.h - What each stage is made of ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_PIPELINES_H
#define ATTUNE_PIPELINE_PIPELINES_H

#include "attune/Tile/Tile.h"

#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attune {

struct GraphOptions {
  /// The device whose description prices the plans: a name, a target's default one, or a path that ends in .yaml.
  std::string device = "cpu";
  /// Forms that the user wants whatever they cost: "law:form".
  std::vector<std::string> pins;
  /// Cores of a CPU to price for; 0: those of the device.
  int64_t threads = 0;
  /// Which plan to take in the order of prices; 0: the cheapest.
  int64_t place = 0;
  /// What functions leave for their gradients in place of what prices say; none: as these say.
  std::optional<std::vector<std::string>> saved = {};
};

/// attn → attn: laws and selection.
void buildGraphPipeline(mlir::OpPassManager &manager, const GraphOptions &options);

/// attn → tile: kernels and host functions.
void buildTilePipeline(mlir::OpPassManager &manager, tile::TargetKind target);

} // namespace attune

#endif // ATTUNE_PIPELINE_PIPELINES_H
