//===- FlurkaEquations.cpp - What FLuRKA counts of a layer -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/FlurkaEquations.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;
using namespace attune::cost;

double cost::flurkaEquation(FlurkaLayer layer, const FlurkaSizes &sizes) {
  double N = sizes.tokens, k = sizes.slots, H = sizes.heads, d = sizes.width, D = sizes.model();
  switch (layer) {
  case FlurkaLayer::LowRank: // (6): E X and F X; Q; K and V of the slots; logits; their exponentials; weights · V
    return 2 * N * k * D + N * D * D + 2 * k * D * D + N * D * k + N * H * k + N * k * D;
  case FlurkaLayer::Kernel: // (7): Q, K and V; both maps; the state and its readout
    return 3 * N * D * D + 2 * N * D + 2 * N * D * d;
  case FlurkaLayer::Fused: // (8): E X and F X; Q; K and V of the slots; both maps; the state; its readout
    return 2 * N * k * D + N * D * D + 2 * k * D * D + N * D + D * k + k * D * d + N * d * D;
  }
  llvm_unreachable("every layer is above");
}

//===----------------------------------------------------------------------===//
// The claims
//===----------------------------------------------------------------------===//

bool cost::inPrintedClaim3(const FlurkaSizes &sizes) {
  return sizes.tokens > sizes.slots * (sizes.heads + 2) && sizes.model() > sizes.slots;
}

bool cost::inPrintedClaim1(const FlurkaSizes &sizes) {
  return inPrintedClaim3(sizes) && sizes.slots * (sizes.heads + 2) > sizes.model() && sizes.slots > sizes.width;
}

bool cost::inClaim2(const FlurkaSizes &sizes) { return sizes.tokens > sizes.slots && sizes.slots > sizes.width; }

bool cost::inClaim3(const FlurkaSizes &sizes) {
  bool longEnough = sizes.tokens > sizes.slots * (2 * sizes.heads + 1) && sizes.model() > sizes.slots;
  return longEnough || (inPrintedClaim3(sizes) && 2 * (sizes.model() - sizes.slots) >= sizes.width);
}

bool cost::inClaim1(const FlurkaSizes &sizes) { return inClaim2(sizes) && inClaim3(sizes); }
