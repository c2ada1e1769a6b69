//===- FlurkaView.h - What FLuRKA says of a FLuRKA spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TOOLS_ATTNC_FLURKAVIEW_H
#define ATTUNE_TOOLS_ATTNC_FLURKAVIEW_H

#include "attune/Cost/FlurkaEquations.h"
#include "attune/Frontend/Spec.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// The sizes of a layer that FLuRKA's equations speak of: projections, D = H d, one mechanism over compressed keys,
/// known lengths. Nothing for other specs.
std::optional<cost::FlurkaSizes> flurkaSizes(const Spec &spec);

/// Equations (6) to (8), and whether FLuRKA needs the fewest multiply-adds: proved by its claims as corrected, or only
/// counted.
void printFlurka(const cost::FlurkaSizes &sizes, llvm::raw_ostream &out);
llvm::json::Object flurkaAsJson(const cost::FlurkaSizes &sizes);

} // namespace attune::attnc

#endif // ATTUNE_TOOLS_ATTNC_FLURKAVIEW_H
