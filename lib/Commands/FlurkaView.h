//===- FlurkaView.h - What FLuRKA says of a FLuRKA spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_FLURKAVIEW_H
#define ATTUNE_COMMANDS_FLURKAVIEW_H

#include "attune/Commands/Arguments.h"
#include "attune/Cost/FlurkaEquations.h"
#include "attune/Frontend/Spec.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// The sizes of a layer that FLuRKA's equations speak of: projections, D = H d, one mechanism over compressed keys,
/// known lengths. Nothing for other specs.
std::optional<cost::FlurkaSizes> flurkaSizes(const Spec &spec);

/// Predicted seconds of the layer and of the two that it is made of.
struct FlurkaPrices {
  double lowRank = 0, kernel = 0, fused = 0;
};

/// The prices of exact attention to the same slots and of the kernel attention without them, for the same device and
/// threads. Nothing if the device has no plan for one of them, or if
/// the kernel method is EVA, whose chunks divide slots and not tokens.
std::optional<FlurkaPrices> flurkaPrices(const Spec &spec, double fused, const Arguments &arguments);

/// Equations (6) to (8), and whether FLuRKA needs the fewest multiply-adds: proved by its claims as corrected, or only
/// counted.
void printFlurka(const cost::FlurkaSizes &sizes, const std::optional<FlurkaPrices> &prices, llvm::raw_ostream &out);
llvm::json::Object flurkaAsJson(const cost::FlurkaSizes &sizes, const std::optional<FlurkaPrices> &prices);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_FLURKAVIEW_H
