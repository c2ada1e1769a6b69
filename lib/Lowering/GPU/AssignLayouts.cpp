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
// and along which axis a rank-1 tile lies. The last is found first, by joining all rank-1 tiles that meet elementwise.
//
//===----------------------------------------------------------------------===//
#include "Supported.h"

#include "attune/Lowering/GPU/Passes.h"
#include "attune/Tile/TileLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace attune::device {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;
using namespace attune::tile;

static RankedTensorType tileType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }
static bool isConstant(Value value) { return value.getDefiningOp<arith::ConstantOp>() != nullptr; }
static bool isVector(Value value) { return tileType(value) && tileType(value).getRank() == 1; }

//===----------------------------------------------------------------------===//
// The axis of rank-1 tiles
//===----------------------------------------------------------------------===//

namespace {
/// Joins rank-1 tiles that meet, and remembers along which axis a group must lie. Constants lie anywhere.
class VectorAxes {
public:
  LogicalResult collect(KernelOp kernel);
  int64_t axisOf(Value value) const {
    auto found = axes.find(leader(value));
    return found == axes.end() ? 1 : found->second;
  }

private:
  void join(ValueRange values);
  void visit(Operation *op);

  void *leader(Value value) const { return classes.getOrInsertLeaderValue(value.getAsOpaquePointer()); }

  mutable llvm::EquivalenceClasses<void *> classes;
  SmallVector<std::tuple<Value, int64_t, Operation *>> anchors;
  llvm::DenseMap<void *, int64_t> axes;
};
} // namespace

void VectorAxes::join(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isVector(value) || isConstant(value))
      continue;
    classes.insert(value.getAsOpaquePointer());
    if (first)
      classes.unionSets(first.getAsOpaquePointer(), value.getAsOpaquePointer());
    first = value;
  }
}

void VectorAxes::visit(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return anchors.emplace_back(reduce.getResult(), reduce.getAxis(), op), void();
  if (auto expand = dyn_cast<ExpandOp>(op))
    return anchors.emplace_back(expand.getSource(), expand.getAxis(), op), void();
  if (auto loop = dyn_cast<LoopOp>(op)) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      join({loop.getInitArgs()[i], loop.getCarried()[i], loop.getYield()->getOperand(i), loop.getResult(i)});
    return;
  }
  if (isa<LoadOp, StoreOp, YieldOp, DotOp>(op))
    return;
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  join(values);
}

LogicalResult VectorAxes::collect(KernelOp kernel) {
  kernel.walk([&](Operation *op) { visit(op); });
  for (auto [value, axis, op] : anchors) {
    if (isConstant(value))
      continue;
    if (axes.try_emplace(leader(value), axis).first->second != axis)
      return op->emitError() << "expected a rank-1 tile along one axis, but got one that is used along both; load or "
                                "compute it once for each";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

namespace {
class Assigner {
public:
  Assigner(KernelOp kernel, const VectorAxes &axes)
      : kernel(kernel), axes(axes), context(kernel.getContext()), warps(kernel.getSchedule()->getWarps()) {}

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
  void use(OpOperand &operand, Attribute layout) { operand.set(in(operand.get(), layout)); }
  void useComputed(Operation *op, Attribute rank1);

  void combineEarly();
  void assignBlock(Block &block);
  void assignLoad(LoadOp load);
  void assignLoop(LoopOp loop);
  void assignDot(DotOp dot);
  bool assignWidening(arith::ExtFOp widen);
  void assignElementwise(Operation *op);
  void eraseDeadConstants();

  KernelOp kernel;
  const VectorAxes &axes;
  MLIRContext *context;
  int64_t warps;
  bool failed = false;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> converted;
};
} // namespace

static Value constantIn(OpBuilder &builder, arith::ConstantOp constant, Attribute layout) {
  auto type = withLayout(cast<RankedTensorType>(constant.getType()), layout);
  return arith::ConstantOp::create(builder, constant.getLoc(), constantTile(type, *splatValue(constant)));
}

Value Assigner::in(Value value, Attribute layout) {
  if (tileType(value).getEncoding() == layout)
    return value;
  Value &known = converted[{value, layout}];
  if (known)
    return known;
  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(value);
  if (splatValue(value) && !isa<SharedAttr>(layout))
    return known = constantIn(builder, value.getDefiningOp<arith::ConstantOp>(), layout);
  if (isConstant(value)) {
    value.getDefiningOp()->emitError() << "expected a constant of one value, in registers, on a GPU";
    failed = true;
    return value;
  }
  ++conversions;
  auto from = dyn_cast<FragmentAttr>(tileType(value).getEncoding()), to = dyn_cast<FragmentAttr>(layout);
  if (from && to && isFreeConversion({from, tileType(value).getShape()}, {to, tileType(value).getShape()}))
    ++freeConversions;
  return known = ConvertLayoutOp::create(builder, value.getLoc(), withLayout(tileType(value), layout), value);
}

/// True if a product takes this value from shared memory.
static bool isStaged(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return dot && (use.getOperandNumber() == 1 || (use.getOperandNumber() == 0 && dot.getTransposeA()));
}

void Assigner::assignLoad(LoadOp load) {
  Value result = load.getResult();
  bool staged = !isVector(result) && (!tileType(result).getElementType().isF32() || llvm::any_of(result.getUses(), isStaged));
  assign(result, staged ? Attribute(sharedFor(tileType(result))) : computed(result));
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

void Assigner::assignDot(DotOp dot) {
  RankedTensorType a = tileType(dot.getA()), b = tileType(dot.getB());
  use(dot.getAMutable(), dot.getTransposeA() ? Attribute(sharedFor(a)) : operand(FragmentRole::A, a.getElementType()));
  auto fragment = dyn_cast_or_null<FragmentAttr>(b.getEncoding());
  if (!fragment || fragment.getRole() != FragmentRole::B)
    use(dot.getBMutable(), sharedFor(b));
  use(dot.getAccMutable(), accumulator());
  assign(dot.getResult(), accumulator());
}

/// A load that is widened only to be the second operand is widened as a fragment, on its way from shared memory.
bool Assigner::assignWidening(arith::ExtFOp widen) {
  auto load = widen.getIn().getDefiningOp<LoadOp>();
  bool onlySecond = llvm::all_of(widen->getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && use.getOperandNumber() == 1 && !dot.getTransposeB();
  });
  if (!load || !onlySecond || isVector(widen.getOut()))
    return false;
  Attribute layout = FragmentAttr::get(context, FragmentRole::B, 8, warps);
  use(widen->getOpOperand(0), layout);
  assign(widen.getOut(), layout);
  return true;
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
  if (auto widen = dyn_cast<arith::ExtFOp>(op); widen && assignWidening(widen))
    return;
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
    } else if (auto store = dyn_cast<StoreOp>(op)) {
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
struct AssignLayoutsPass : device::impl::AssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      if (!kernel.getSchedule() || kernel.getSchedule()->getTarget() != TargetKind::GPU)
        return WalkResult::skip();
      VectorAxes axes;
      if (failed(device::checkSupported(kernel)) || failed(axes.collect(kernel)))
        return WalkResult::interrupt();
      Assigner assigner(kernel, axes);
      if (failed(assigner.run()))
        return WalkResult::interrupt();
      numConversions += assigner.conversions;
      numFree += assigner.freeConversions;
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
