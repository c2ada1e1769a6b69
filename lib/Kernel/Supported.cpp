//===- Supported.cpp - What attention asks for and no kernel does yet ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Supported.h"

#include "attune/Attn/Backward.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Packed.h"

using namespace mlir;
using namespace attune;

/// Whether what is made of features decays in a way that has no form in which they are exponents: chunks of one row on a CPU have.
static bool isDecayed(Value features, tile::TargetKind target) {
  return llvm::any_of(features.getUsers(), [&](Operation *user) {
    if (auto readout = dyn_cast<attn::CausalReadoutOp>(user))
      return readout.getDecay() && target == tile::TargetKind::GPU;
    if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(user))
      return gradient.getDecay() && (target == tile::TargetKind::GPU || !gradient.getLogarithms());
    return isa<attn::DecayOp>(user) || (isa<attn::ContractOp, attn::GateOp>(user) && isDecayed(user->getResult(0), target));
  });
}

/// Whether some sums are divided by what nothing holds back: then rows of small sums count as all others do.
static bool dividesFreely(Block &block) {
  auto isFree = [](attn::DenominatorAttr guard) { return guard && guard.cancelsFactors(); };
  return llvm::any_of(block.getOps<attn::NormalizeOp>(), [&](attn::NormalizeOp op) { return isFree(op.getGuard()); }) ||
         llvm::any_of(block.getOps<attn::CausalReadoutGradientOp>(), [&](attn::CausalReadoutGradientOp op) { return isFree(op.getGuardAttr()); });
}

static bool decaysExponents(Operation &op, tile::TargetKind target) {
  auto map = dyn_cast<attn::MapOp>(op);
  if (!map || !isDecayed(map.getResult(), target) || map.getFeatureMap().isFavor())
    return false;
  int64_t width = map.getSource().getType().getDimSize(3);
  return attn::carriesExponents(map.getFeatureMap(), width, attn::DenominatorAttr::get(op.getContext(), 0, 0)) && dividesFreely(*op.getBlock());
}

/// Nor is there one for the shares that keys enter with, but where chunks read them.
static bool gatesExponents(Operation &op) {
  auto gate = dyn_cast<attn::GateOp>(op);
  if (gate && llvm::all_of(gate->getUsers(), llvm::IsaPred<attn::CausalReadoutOp>))
    return false;
  auto map = gate ? gate.getSource().getDefiningOp<attn::MapOp>() : attn::MapOp();
  if (map && !map.getFeatureMap().isFavor() && !dividesFreely(*op.getBlock()))
    return false;
  return map && llvm::any_of(op.getBlock()->getOps<attn::NormalizeOp>(), [&](attn::NormalizeOp quotient) {
    return attn::carriesExponents(map.getFeatureMap(), map.getSource().getType().getDimSize(3), quotient.getGuard());
  });
}

/// Why gradients of a readout that goes on from a state, or whose last one has a cotangent, have no kernels; empty: they have.
static StringRef statesWithoutKernels(attn::CausalReadoutGradientOp op) {
  bool divides = op.divides();
  bool fits = (!op.getInitialState() || divides == static_cast<bool>(op.getInitialSum())) && (!op.getState() || divides == static_cast<bool>(op.getSum()));
  return fits ? "" : "gradients of states without the sums that a denominator has";
}

/// Whether powers of these are of numbers of at most 1: of products with rows that are divided by their largest.
static bool areInUnits(Value pairs) {
  auto product = pairs.getDefiningOp<attn::ContractOp>();
  auto scaled = product ? product.getLhs().getDefiningOp<attn::ScaleOp>() : attn::ScaleOp();
  Value divided = scaled ? scaled.getSource() : product ? product.getLhs() : Value();
  auto rows = divided ? divided.getDefiningOp<attn::NormalizeOp>() : attn::NormalizeOp();
  Value unit = rows ? rows.getDenominator() : Value();
  auto ofTwo = unit ? unit.getDefiningOp<attn::MultiplyOp>() : attn::MultiplyOp();
  return unit && (ofTwo ? ofTwo.getLhs() : unit).getDefiningOp<attn::RowMaximumOp>();
}

/// Whether sketches are read as numbers whose squares are in no units: those of pairs, or of entries.
static bool isSquared(attn::SketchOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    bool isPower = llvm::any_of(user->getUsers(), llvm::IsaPred<attn::PowerOp>);
    return isa<attn::MapOp>(user) || (isPower && !areInUnits(user->getResult(0)));
  });
}

/// Whether powers of ordinary numbers leave the range of f32.
static bool leavesRange(Operation &op) {
  constexpr int64_t degreesInRange = 32;
  if (auto power = dyn_cast<attn::PowerOp>(op))
    return static_cast<int64_t>(power.getDegree()) >= degreesInRange && !areInUnits(power.getWeights());
  auto sketch = dyn_cast<attn::SketchOp>(op);
  if (!sketch)
    return false;
  int64_t degree = 2 * (static_cast<int64_t>(sketch.getSigns().size()) + 2) / 3; // of products of two
  return degree > degreesInRange || (degree == degreesInRange && isSquared(sketch));
}

/// Gradients that the interpreter alone has; empty: there are kernels.
static StringRef gradientsWithoutKernels(func::FuncOp function, Operation &op) {
  auto decay = dyn_cast<attn::DecayOp>(op);
  if (decay && attn::isBackward(function) && decay.getDecay().getType().getRank() > 1)
    return "gradients beside a decay of each token";
  auto readout = dyn_cast<attn::CausalReadoutGradientOp>(op);
  if (readout && readout.getErase() && readout.divides())
    return "gradients of what erases beside a denominator";
  if (attn::isBackward(function) && leavesRange(op))
    return "gradients of powers of a degree from 32 on";
  if (readout && !readout.getNumerator())
    return "gradients of states alone";
  if (readout && (readout.getInitialState() || readout.getState()))
    return statesWithoutKernels(readout);
  return "";
}

LogicalResult kernel::checkSupported(func::FuncOp function, tile::TargetKind target) {
  auto refuse = [](Operation &op, StringRef what) {
    InFlightDiagnostic error = op.emitError() << "expected attention that this version compiles, but got " << what
                                              << " (not supported yet)";
    error.attachNote() << "--emit attn and run --reference take it";
    return failure();
  };
  for (Operation &op : function.getOps()) {
    if (StringRef what = gradientsWithoutKernels(function, op); !what.empty())
      return refuse(op, what);
    if (decaysExponents(op, target))
      return refuse(op, "decay beside features of a power that the range of f32 does not hold");
    if (gatesExponents(op))
      return refuse(op, "write beside features that the range of f32 does not hold");
    if (auto readout = dyn_cast<attn::CausalReadoutOp>(op)) {
      if (readout.getInitialState() && !readout.getInitialSum() && !readout.getDenominator().use_empty())
        return refuse(op, "a denominator that goes on from a state without its sum");
    }
  }
  return success();
}
