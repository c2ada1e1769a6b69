//===- FoldGrids.cpp - Grids that a device has ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device has 2^31 − 1 blocks along the first axis of a grid and 65,535 along the others. An axis that every launch gives the
// same constant that fits, as heads, stays. The others become the first, the last one fastest:
//
//     point = batch · blocks + block
//
// Their sizes are further arguments of the kernel, which finds its place by a division of 32-bit numbers for each. Blocks that
// run at the same time then are of one head as far as may be, and read the same keys.
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace attune::device {
#define GEN_PASS_DEF_FOLDGRIDS
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;

#define DEBUG_TYPE "tile-fold-grids"

using Launches = SmallVector<tile::LaunchOp, 2>;

/// Blocks along the second and the third axis.
static constexpr int64_t mostAlongOthers = 65535;

/// Whether an axis can stay where it is, after the first.
static bool fits(const Launches &launches, unsigned axis) {
  return !launches.empty() && llvm::all_of(launches, [&](tile::LaunchOp launch) {
    APInt size;
    return matchPattern(launch.getGrid()[axis], m_ConstantInt(&size)) && size.sle(mostAlongOthers);
  });
}

/// Further arguments of the kernel, of type index.
static SmallVector<Value> addArguments(tile::KernelOp kernel, unsigned count) {
  SmallVector<Type> types(kernel.getArgumentTypes());
  SmallVector<Value> added;
  for (unsigned i = 0; i < count; ++i) {
    types.push_back(IndexType::get(kernel.getContext()));
    added.push_back(kernel.getBody().addArgument(types.back(), kernel.getLoc()));
  }
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  return added;
}

namespace {
/// The places of a program from its number.
struct Decoder {
  OpBuilder builder;
  Location loc;
  Type i32 = builder.getI32Type();

  Value narrow(Value index) { return arith::IndexCastOp::create(builder, loc, i32, index); }
  Value widen(Value number) { return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number); }

  /// `sizes` of all axes but the first. They are at least 1, and below 2^31 as their product is.
  SmallVector<Value> places(Value point, ArrayRef<Value> sizes) {
    SmallVector<Value> result;
    Value rest = narrow(point);
    for (Value size : llvm::reverse(sizes)) {
      Value divisor = narrow(size);
      Value quotient = arith::DivUIOp::create(builder, loc, rest, divisor);
      Value whole = arith::MulIOp::create(builder, loc, quotient, divisor);
      result.push_back(widen(arith::SubIOp::create(builder, loc, rest, whole)));
      rest = quotient;
    }
    result.push_back(widen(rest));
    std::reverse(result.begin(), result.end());
    return result;
  }
};
} // namespace

/// `folded`: which axes become one with the first.
static void foldKernel(tile::KernelOp kernel, ArrayRef<unsigned> folded) {
  SmallVector<Value> sizes = addArguments(kernel, folded.size());
  Decoder decoder{OpBuilder::atBlockBegin(&kernel.getBody().front()), kernel.getLoc()};
  auto first = cast<tile::AxisAttr>(kernel.getGrid()[0]);
  auto point = tile::ProgramIdOp::create(decoder.builder, kernel.getLoc(), decoder.builder.getIndexType(), first);
  SmallVector<Value> places = decoder.places(point, sizes);
  kernel.walk([&](tile::ProgramIdOp id) {
    unsigned axis = *kernel.getGridPosition(id.getAxis());
    auto *place = llvm::find(folded, axis);
    if (id == point || (axis != 0 && place == folded.end()))
      return;
    id.replaceAllUsesWith(axis == 0 ? places[0] : places[1 + (place - folded.begin())]);
    id.erase();
  });
  SmallVector<Attribute> axes, others;
  for (auto [axis, attribute] : llvm::enumerate(kernel.getGrid()))
    (llvm::is_contained(folded, axis) ? others : axes).push_back(attribute);
  kernel->setAttr(device::foldedAxes, decoder.builder.getArrayAttr(others));
  kernel.setGridAttr(decoder.builder.getArrayAttr(axes));
}

static void foldLaunch(tile::LaunchOp launch, ArrayRef<unsigned> folded) {
  OpBuilder builder(launch);
  SmallVector<Value> kept, arguments(launch.getArguments());
  Value points = launch.getGrid().front();
  for (auto [axis, size] : llvm::enumerate(launch.getGrid())) {
    if (llvm::is_contained(folded, axis)) {
      points = arith::MulIOp::create(builder, launch.getLoc(), points, size);
      arguments.push_back(size);
    } else if (axis != 0) {
      kept.push_back(size);
    }
  }
  kept.insert(kept.begin(), points);
  launch.getGridMutable().assign(kept);
  launch.getArgumentsMutable().assign(arguments);
}

namespace {
struct FoldGridsPass : device::impl::FoldGridsBase<FoldGridsPass> {
  void runOnOperation() override {
    llvm::DenseMap<StringAttr, Launches> launches;
    getOperation().walk([&](tile::LaunchOp launch) { launches[launch.getCalleeAttr().getAttr()].push_back(launch); });
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      bool device = kernel.getSchedule() && kernel.getSchedule()->getTarget() == tile::TargetKind::GPU;
      if (!device)
        continue;
      const Launches &own = launches[kernel.getSymNameAttr()];
      SmallVector<unsigned> folded;
      for (unsigned axis = 1; axis < kernel.getGrid().size(); ++axis)
        if (!fits(own, axis))
          folded.push_back(axis);
      if (folded.empty())
        continue;
      ATTUNE_DEBUG() << "@" << kernel.getSymName() << ": " << folded.size() << " of " << kernel.getGrid().size()
                     << " axes become one with the first";
      foldKernel(kernel, folded);
      for (tile::LaunchOp launch : own)
        foldLaunch(launch, folded);
      ++numKernels;
    }
  }
};
} // namespace
