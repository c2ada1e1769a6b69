//===- FlurkaView.cpp - What FLuRKA says of a FLuRKA spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FlurkaView.h"
#include "PricedSpec.h"

#include "attune/Graph/PrintNumbers.h"

using namespace attune;
using namespace attune::attnc;
using cost::FlurkaLayer;
using cost::FlurkaSizes;

std::optional<FlurkaSizes> attune::attnc::flurkaSizes(const Spec &spec) {
  if (spec.parts.size() != 1 || !spec.projection || !spec.queries)
    return std::nullopt;
  const Mechanism &mechanism = spec.parts.front().mechanism;
  bool kernel = mechanism.isKernel() || mechanism.name() == "eva";
  bool alike = !spec.projection->cross && spec.kvHeads == spec.heads && spec.valueDim == spec.headDim &&
               spec.projection->modelDim == spec.heads * spec.headDim;
  // One E for all heads, before the map.
  bool fused = mechanism.lowRank && !mechanism.lowRank->perHead &&
               mechanism.lowRank->order == CompressionOrder::BeforeMap;
  if (!kernel || !fused || !alike)
    return std::nullopt;
  return FlurkaSizes{*spec.queries, mechanism.lowRank->rank, spec.heads, spec.headDim};
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

static Spec withMechanism(Spec spec, Mechanism mechanism) {
  spec.parts.front().mechanism = std::move(mechanism);
  spec.pin.clear(), spec.allow.clear(), spec.scale.reset();
  return spec;
}

/// Exact attention to the slots.
static Spec lowRankOf(const Spec &spec) {
  Mechanism softmax;
  softmax.lowRank = spec.parts.front().mechanism.lowRank;
  return withMechanism(spec, std::move(softmax));
}

/// The kernel method without slots.
static Spec kernelOf(const Spec &spec) {
  Mechanism kernel = spec.parts.front().mechanism;
  kernel.lowRank.reset();
  return withMechanism(spec, std::move(kernel));
}

static std::optional<double> secondsOf(const Spec &spec, const Arguments &arguments) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, arguments.specs.front(), arguments.target, status);
  if (!compilation)
    return std::nullopt;
  // What this layer cannot do on the device is nothing that is wrong with the spec.
  mlir::ScopedDiagnosticHandler quiet(&compilation->context(), [](mlir::Diagnostic &) { return mlir::success(); });
  auto selection = selectFor(*compilation, arguments, /*explaining=*/false);
  return succeeded(selection) ? std::optional(selection->functions.front().seconds) : std::nullopt;
}

std::optional<FlurkaPrices> attune::attnc::flurkaPrices(const Spec &spec, double fused, const Arguments &arguments) {
  if (!spec.parts.front().mechanism.isKernel())
    return std::nullopt;
  std::optional<double> lowRank = secondsOf(lowRankOf(spec), arguments), kernel = secondsOf(kernelOf(spec), arguments);
  return lowRank && kernel ? std::optional(FlurkaPrices{*lowRank, *kernel, fused}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

namespace {
struct Counts {
  explicit Counts(const FlurkaSizes &sizes)
      : lowRank(flurkaEquation(FlurkaLayer::LowRank, sizes)), kernel(flurkaEquation(FlurkaLayer::Kernel, sizes)),
        fused(flurkaEquation(FlurkaLayer::Fused, sizes)) {}

  double lowRank, kernel, fused;
};
} // namespace

void attune::attnc::printFlurka(const FlurkaSizes &sizes, const std::optional<FlurkaPrices> &prices,
                                llvm::raw_ostream &out) {
  Counts counts(sizes);
  out << "  FLuRKA's equations (6) to (8) count multiply-adds, without the output projection: low rank alone "
      << graph::printCount(counts.lowRank) << ", kernel attention alone " << graph::printCount(counts.kernel)
      << ", this layer " << graph::printCount(counts.fused) << "\n";
  auto side = [](bool fewer, bool proved) {
    return !fewer ? "more than " : proved ? "fewer than " : "at these sizes fewer than ";
  };
  bool underLowRank = counts.fused < counts.lowRank, underKernel = counts.fused < counts.kernel;
  out << "    " << side(underLowRank, inClaim2(sizes)) << "low rank" << (inClaim2(sizes) ? " (Claim 2: N > k > d)" : "")
      << ", " << side(underKernel, inClaim3(sizes)) << "kernel attention"
      << (inClaim3(sizes) ? " (Claim 3, corrected: N > k (2H + 1) and D > k, or N > k (H + 2) and D - k >= d / 2)" : "");
  if (inPrintedClaim3(sizes) && !underKernel)
    out << ", against Claim 3 as printed";
  out << "\n";
  if (prices)
    out << "    whole layers as predicted: low rank alone " << graph::printSeconds(prices->lowRank) << " ("
        << graph::comparePrice(prices->lowRank, prices->fused) << "), kernel attention alone "
        << graph::printSeconds(prices->kernel) << " (" << graph::comparePrice(prices->kernel, prices->fused)
        << "), this layer " << graph::printSeconds(prices->fused) << "\n";
}

llvm::json::Object attune::attnc::flurkaAsJson(const FlurkaSizes &sizes, const std::optional<FlurkaPrices> &prices) {
  Counts counts(sizes);
  llvm::json::Object object{{"low_rank", counts.lowRank},
                            {"kernel", counts.kernel},
                            {"flurka", counts.fused},
                            {"claim_1", inClaim1(sizes)},
                            {"claim_2", inClaim2(sizes)},
                            {"claim_3", inClaim3(sizes)},
                            {"printed_claim_1", inPrintedClaim1(sizes)},
                            {"printed_claim_3", inPrintedClaim3(sizes)}};
  if (prices) {
    object["low_rank_seconds"] = prices->lowRank;
    object["kernel_seconds"] = prices->kernel;
    object["flurka_seconds"] = prices->fused;
  }
  return object;
}
