//===- AssignLayouts.cpp - Where every tile of a GPU kernel lives --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in program order. Products are the anchors, and one layout, `c`, is that of everything computed, so there is
// little to solve: what varies is whether a load goes through shared memory, in which form a product takes its operands,
// and along which axis a rank-1 tile lies. The last is found first (VectorAxes.h). Where the walk has copied the state of a
// loop to shared memory, the state may wait there (ReadBack.h).
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "ReadBack.h"
#include "VectorAxes.h"
#include "Warpgroups.h"

#include "attune/Lowering/GPU/Layouts.h"
#include "attune/Support/DebugOutput.h"
#include "attune/Tile/TileLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attune::device {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;
using namespace attune::tile;
using attune::device::isVector;
using attune::device::VectorAxes;

#define DEBUG_TYPE "tile-assign-layouts"

static RankedTensorType tileType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

namespace {
class Assigner {
public:
  Assigner(KernelOp kernel, const VectorAxes &axes, device::Products products)
      : kernel(kernel), axes(axes), context(kernel.getContext()), warps(kernel.getSchedule()->getWarpGrid()) {
    if (products == device::Products::Wgmma)
      byWarpgroups = device::productsByWarpgroups(kernel, warps);
  }

  LogicalResult run() {
    combineEarly();
    assignBlock(kernel.getBody().front());
    eraseDeadConstants();
    return failure(failed);
  }
  int64_t conversions = 0, freeConversions = 0;

private:
  Attribute accumulator() { return FragmentAttr::get(context, FragmentRole::C, 16, warps); }
  Attribute operand(FragmentRole role, Type element) {
    return FragmentAttr::get(context, role, element.isF32() ? 8 : 16, warps);
  }
  Attribute computed(Value value) {
    return isVector(value) ? Attribute(SliceAttr::get(context, axes.axisOf(value), warps)) : accumulator();
  }
  void assign(Value value, Attribute layout) { value.setType(withLayout(tileType(value), layout)); }
  Value in(Value value, Attribute layout);
  Value convert(Value value, Attribute layout);
  void use(OpOperand &operand, Attribute layout) { operand.set(in(operand.get(), layout)); }
  void useComputed(Operation *op, Attribute rank1);

  void combineEarly();
  void assignBlock(Block &block);
  void assignLoad(LoadOp load);
  void assignLoop(LoopOp loop);
  void assignDot(DotOp dot);
  bool isReadByWarpgroups(Value tile) const;
  void assignWarpgroupDot(DotOp dot);
  void assignWidening(arith::ExtFOp widen);
  void assignElementwise(Operation *op);
  void eraseDeadConstants();

  KernelOp kernel;
  const VectorAxes &axes;
  llvm::DenseSet<Operation *> byWarpgroups; // products
  MLIRContext *context;
  WarpGrid warps;
  bool failed = false;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> converted;
};
} // namespace

/// The constant in another layout: of one number, or a rank-1 table.
static Value constantIn(OpBuilder &builder, arith::ConstantOp constant, Attribute layout) {
  auto type = withLayout(cast<RankedTensorType>(constant.getType()), layout);
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  TypedAttr value = splatValue(constant) ? constantTile(type, *splatValue(constant)) : elements.reshape(type);
  return arith::ConstantOp::create(builder, constant.getLoc(), value);
}

/// True if a thread would need elements of other threads: `c` to `a` where several warps share a row.
static bool needsSharedMemory(Value value, Attribute layout) {
  auto from = dyn_cast<FragmentAttr>(tileType(value).getEncoding()), to = dyn_cast<FragmentAttr>(layout);
  return from && to && !isFreeConversion({from, tileType(value).getShape()}, {to, tileType(value).getShape()});
}

Value Assigner::in(Value value, Attribute layout) {
  if (tileType(value).getEncoding() == layout)
    return value;
  if (Value known = converted.lookup({value, layout}))
    return known;
  Value result = convert(value, layout);
  return converted[{value, layout}] = result;
}

Value Assigner::convert(Value value, Attribute layout) {
  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(value);
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  bool inRegisters = !isa<SharedAttr>(layout);
  if (constant && inRegisters && (splatValue(value) || isVector(value)))
    return constantIn(builder, constant, layout);
  if (constant && !splatValue(value)) {
    constant.emitError() << "expected a constant of one value, or of rank 1, on a GPU";
    failed = true;
    return value;
  }
  if (constant) // to shared memory by way of registers
    value = in(value, accumulator()), builder.setInsertionPointAfterValue(value);
  if (needsSharedMemory(value, layout)) // two conversions
    return in(in(value, sharedFor(tileType(value))), layout);
  ++conversions;
  auto from = dyn_cast<FragmentAttr>(tileType(value).getEncoding()), to = dyn_cast<FragmentAttr>(layout);
  if (from && to && isFreeConversion({from, tileType(value).getShape()}, {to, tileType(value).getShape()}))
    ++freeConversions;
  return ConvertLayoutOp::create(builder, value.getLoc(), withLayout(tileType(value), layout), value);
}

/// True if a product takes this value from shared memory.
static bool isStaged(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return dot && (use.getOperandNumber() == 1 || (use.getOperandNumber() == 0 && dot.getTransposeA()));
}

/// 16-bit rows come in pieces of 16 bytes, which registers cannot take from memory, unless they are narrower than one.
static bool comesByChunks(RankedTensorType tile) {
  return isa<FloatType>(tile.getElementType()) && tile.getElementType().getIntOrFloatBitWidth() == 16 &&
         tile.getDimSize(1) >= blockSize;
}

void Assigner::assignLoad(LoadOp load) {
  Value result = load.getResult();
  bool staged = !isVector(result) && (comesByChunks(tileType(result)) || llvm::any_of(result.getUses(), isStaged));
  if (!staged) // a vector has no layout in shared memory
    return assign(result, computed(result));
  assign(result, isReadByWarpgroups(result) ? warpgroupSharedFor(tileType(result)) : sharedFor(tileType(result)));
}

void Assigner::assignLoop(LoopOp loop) {
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Attribute layout = computed(loop.getResult(i));
    use(loop.getInitArgsMutable()[i], layout);
    assign(loop.getCarried()[i], layout);
    assign(loop.getResult(i), layout);
  }
  assignBlock(loop.getBody().front());
  for (auto [operand, result] : llvm::zip_equal(loop.getYield()->getOpOperands(), loop.getResults()))
    use(operand, tileType(result).getEncoding());
}

/// True if products take a tile, all of them by warpgroups.
bool Assigner::isReadByWarpgroups(Value tile) const {
  auto dots = llvm::make_filter_range(tile.getUsers(), [](Operation *user) { return isa<DotOp>(user); });
  return !dots.empty() && llvm::all_of(dots, [&](Operation *dot) { return byWarpgroups.contains(dot); });
}

/// What is computed is the first operand as it lies in registers, what is loaded comes from shared memory.
void Assigner::assignWarpgroupDot(DotOp dot) {
  RankedTensorType a = tileType(dot.getA());
  bool sharesA = device::isInPanels(a) && device::readsFirstFromShared(dot, warps);
  if (device::needsFirstInShared(dot, warps))
    use(dot.getAMutable(), warpgroupSharedFor(a));
  else if (!sharesA)
    use(dot.getAMutable(), operand(FragmentRole::A, a.getElementType()));
  use(dot.getBMutable(), warpgroupSharedFor(tileType(dot.getB())));
  use(dot.getAccMutable(), accumulator());
  assign(dot.getResult(), accumulator());
}

void Assigner::assignDot(DotOp dot) {
  if (byWarpgroups.contains(dot))
    return assignWarpgroupDot(dot);
  RankedTensorType a = tileType(dot.getA()), b = tileType(dot.getB());
  use(dot.getAMutable(), dot.getTransposeA() ? Attribute(sharedFor(a)) : operand(FragmentRole::A, a.getElementType()));
  auto fragment = dyn_cast_or_null<FragmentAttr>(b.getEncoding());
  if (!fragment || fragment.getRole() != FragmentRole::B)
    use(dot.getBMutable(), sharedFor(b));
  use(dot.getAccMutable(), accumulator());
  assign(dot.getResult(), accumulator());
}

/// A load that is widened to be a second operand is widened as a fragment, on its way from shared memory. Other uses of the
/// wide tile have one of their own.
void Assigner::assignWidening(arith::ExtFOp widen) {
  auto load = widen.getIn().getDefiningOp<LoadOp>();
  auto isSecond = [](OpOperand &use) { return isa<DotOp>(use.getOwner()) && use.getOperandNumber() == 1; };
  if (!load || isVector(load.getResult()) || llvm::none_of(widen->getUses(), isSecond) ||
      !isa<SharedAttr>(tileType(load.getResult()).getEncoding()))
    return;
  OpBuilder builder(widen);
  Attribute layout = FragmentAttr::get(context, FragmentRole::B, 8, warps);
  Value narrow = in(load.getResult(), layout);
  auto fragment =
      arith::ExtFOp::create(builder, widen.getLoc(), withLayout(tileType(widen.getOut()), layout), narrow);
  widen.getOut().replaceUsesWithIf(fragment.getOut(), isSecond);
}

/// Moves an operation, and what is computed for it alone, up to where its operands are there.
static void moveUp(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != op->getBlock())
      continue;
    if (source->hasOneUse() && isPure(source) && !source->hasTrait<OpTrait::ConstantLike>())
      moveUp(source);
    if (!last || last->isBeforeInBlock(source))
      last = source;
  }
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(op->getBlock(), op->getBlock()->begin());
}

/// Reductions and products as early as they can be: what they take is then free sooner, which is what registers need.
void Assigner::combineEarly() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<ReduceOp, DotOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    moveUp(op);
}

void Assigner::useComputed(Operation *op, Attribute rank1) {
  for (OpOperand &operand : op->getOpOperands())
    if (tileType(operand.get()))
      use(operand, isVector(operand.get()) ? rank1 : accumulator());
}

void Assigner::assignElementwise(Operation *op) {
  if (auto widen = dyn_cast<arith::ExtFOp>(op)) {
    assignWidening(widen);
    if (widen->use_empty())
      return widen.erase();
  }
  Value anchor;
  for (Value value : op->getResults())
    if (tileType(value))
      anchor = value;
  if (!anchor)
    return;
  useComputed(op, isVector(anchor) ? computed(anchor) : Attribute());
  assign(anchor, computed(anchor));
}

void Assigner::assignBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<arith::ConstantOp, ConvertLayoutOp, YieldOp>(op))
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      assignLoad(load);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      assignLoop(loop);
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      assignDot(dot);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      use(reduce.getSourceMutable(), accumulator());
      assign(reduce.getResult(), SliceAttr::get(context, reduce.getAxis(), warps));
    } else if (auto expand = dyn_cast<ExpandOp>(op)) {
      use(expand.getSourceMutable(), SliceAttr::get(context, expand.getAxis(), warps));
      assign(expand.getResult(), accumulator());
    } else if (auto permute = dyn_cast<PermuteColumnsOp>(op)) {
      bool vector = isVector(permute.getSource());
      if (warps.columns > 1) {
        permute.emitError() << "expected one column of warps where columns change places, but got " << warps.columns;
        failed = true;
      }
      use(permute->getOpOperand(0), vector ? Attribute(SliceAttr::get(context, 0, warps)) : accumulator());
      assign(permute.getResult(), tileType(permute.getSource()).getEncoding());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (!tileType(store.getValue()).getEncoding() || isa<SharedAttr>(tileType(store.getValue()).getEncoding()))
        use(store.getValueMutable(), computed(store.getValue()));
    } else {
      assignElementwise(&op);
    }
  }
}

void Assigner::eraseDeadConstants() {
  SmallVector<Operation *> dead;
  kernel.walk([&](arith::ConstantOp op) {
    if (op->use_empty() && isa<RankedTensorType>(op.getType()))
      dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Conversions {
  int64_t all = 0, free = 0, states = 0;
};
} // namespace

static FailureOr<Conversions> assignLayouts(KernelOp kernel, device::Products products) {
  VectorAxes axes(kernel);
  Assigner assigner(kernel, axes, products);
  if (failed(assigner.run()))
    return failure();
  return Conversions{assigner.conversions, assigner.freeConversions, device::readBackStates(kernel)};
}

LogicalResult device::layOut(KernelOp kernel, Products products) {
  if (failed(assignLayouts(kernel, products)))
    return failure();
  if (kernel.getSchedule()->getStages() == 0)
    reloadOperands(kernel);
  return success();
}

/// Rejects ops that only CPUs have code for.
static LogicalResult checkOps(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    if (!isa<AnyOp, ScanOp>(op))
      return WalkResult::advance();
    op->emitOpError() << "expected an op that threads of a GPU have a part of, but this one is for CPUs; write it as products of tiles";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AssignLayoutsPass : device::impl::AssignLayoutsBase<AssignLayoutsPass> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.getSchedule() || kernel.getSchedule()->getTarget() != TargetKind::GPU)
      return;
    if (failed(checkOps(kernel)))
      return signalPassFailure();
    FailureOr<Conversions> made = assignLayouts(kernel, products);
    if (failed(made))
      return signalPassFailure();
    ATTUNE_DEBUG() << "@" << kernel.getSymName() << ": " << made->all << " conversions through shared memory, " << made->free
                   << " free, " << made->states << " states read back";
    numConversions += made->all + made->states;
    numFree += made->free;
  }
};
} // namespace
