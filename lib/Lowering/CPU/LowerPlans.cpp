//===- LowerPlans.cpp - Host functions to plans that launch kernels ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a plan is the same for every instruction set but for its kernels, which it reads from a table:
//
//     plan0__avx2(context, arguments) = plan0__plan(context, arguments, {kernel0__avx2, kernel1__avx2, …})
//
//===----------------------------------------------------------------------===//
#include "SharedCode.h"
#include "Slots.h"

#include "attune/Lowering/CPU/Passes.h"
#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Tile/Tile.h"
#include "attune/Tile/Together.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace attune::cpu {
#define GEN_PASS_DEF_LOWERPLANS
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

static constexpr llvm::StringLiteral launchFunction = "attune_rt_launch", deviceLaunchFunction = "attune_rt_launch_device",
                                     togetherFunction = "attune_rt_launch_together";
/// Of attune_rt_grid: the kernel, its arguments, three sizes.
static constexpr int64_t gridFields = 5;

namespace {
/// A host function while it is emitted, as a plan or as the function that tells its workspace.
class PlanEmitter {
public:
  PlanEmitter(Emit &emit, LLVM::LLVMFuncOp function, bool launches, bool device)
      : emit(emit), function(function), launches(launches), device(device) {}
  LogicalResult run(func::FuncOp host);
  /// The kernels that the plan has launched, in the order of its table.
  ArrayRef<tile::KernelOp> kernels() const { return table.getArrayRef(); }

private:
  Emit &emit;
  LLVM::LLVMFuncOp function;
  bool launches; ///< false: only add up the workspace
  bool device;   ///< kernels are numbers in a kernel table, not functions
  IRMapping scalars;
  llvm::DenseMap<Value, Memory> memories;
  Value workspace; ///< bytes handed out so far, after the base address
  Value base;
  SmallVector<tile::LaunchOp> pending; ///< that run together with the next one if that says so
  llvm::SetVector<tile::KernelOp> table;

  LogicalResult block(Block &block);
  LogicalResult operation(Operation *op);
  LogicalResult conditional(scf::IfOp op);
  void allocate(tile::WorkspaceOp op);
  void choose(tile::EitherOp op);
  void groupHeads(tile::GroupHeadsOp op);
  void launch(tile::LaunchOp op);
  void launchPending();
  void launchTogether(ArrayRef<tile::LaunchOp> ops);
  Value gridSize(tile::LaunchOp op, unsigned axis);
  Value array(int64_t elements);
  Value callee(tile::LaunchOp op);
  Value slots(ValueRange arguments, int64_t &count);
};
} // namespace

/// The next part of the workspace, at a multiple of 64 bytes.
void PlanEmitter::allocate(tile::WorkspaceOp op) {
  auto type = cast<MemRefType>(op.getResult().getType());
  Memory memory{base ? emit.offset(base, workspace, emit.getI8Type()) : Value(), {}, {}, type};
  auto dynamic = op.getSizes().begin();
  for (int64_t size : type.getShape())
    memory.sizes.push_back(ShapedType::isDynamic(size) ? scalars.lookup(*dynamic++) : emit.constant(size));
  Value elements = emit.constant(1);
  for (Value size : llvm::reverse(memory.sizes)) {
    memory.strides.push_back(elements);
    elements = emit.mul(elements, size);
  }
  std::reverse(memory.strides.begin(), memory.strides.end());
  Value bytes = emit.mul(elements, type.getElementTypeBitWidth() / 8);
  Value lines = arith::DivUIOp::create(emit, emit.add(bytes, 63), emit.constant(64));
  workspace = emit.add(workspace, emit.mul(lines, 64));
  memories[op.getResult()] = memory;
}

/// That of the tensor if the run has it.
void PlanEmitter::choose(tile::EitherOp op) {
  Memory memory = memories.lookup(op.getGiven()), other = memories.lookup(op.getOther());
  Value there = arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, memory.sizes.front(), emit.constant(0));
  auto pick = [&](Value &given, Value own) { given = arith::SelectOp::create(emit, there, given, own); };
  if (launches)
    pick(memory.pointer, other.pointer);
  for (auto [given, own] : llvm::zip_equal(memory.sizes, other.sizes))
    pick(given, own);
  for (auto [given, own] : llvm::zip_equal(memory.strides, other.strides))
    pick(given, own);
  memories[op.getResult()] = memory;
}

/// From row to row as from head to head, over the tokens of a head.
void PlanEmitter::groupHeads(tile::GroupHeadsOp op) {
  Memory memory = memories.lookup(op.getSource());
  memory.type = op.getResult().getType();
  memory.sizes[1] = emit.constant(memory.type.getDimSize(1));
  Value tokens = memory.sizes[2], one = emit.constant(1);
  Value step = arith::DivUIOp::create(emit, memory.strides[1], arith::MaxUIOp::create(emit, tokens, one));
  memory.sizes[2] = emit.mul(tokens, op.getGroup());
  memory.strides[2] = step;
  memory.strides[1] = emit.mul(memory.strides[1], op.getGroup());
  memories[op.getResult()] = memory;
}

/// An array with the arguments of a kernel.
Value PlanEmitter::slots(ValueRange arguments, int64_t &count) {
  SmallVector<Value> values;
  for (Value argument : arguments) {
    auto memory = memories.find(argument);
    if (memory == memories.end()) {
      values.push_back(scalars.lookup(argument));
      continue;
    }
    values.push_back(memory->second.pointer);
    llvm::append_range(values, memory->second.sizes);
    llvm::append_range(values, memory->second.strides);
  }
  count = values.size();
  Value array = this->array(count);
  for (auto [position, value] : llvm::enumerate(values))
    emit.store(value, emit.offset(array, position * 8), 8);
  return array;
}

/// An array of 8-byte elements in the entry block, so that it is allocated once.
Value PlanEmitter::array(int64_t elements) {
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(emit, emit.pointerType(), emit.getI64Type(), emit.constant(elements), 8);
}

/// The function of a kernel; on a device, its place among the module's kernels.
Value PlanEmitter::callee(tile::LaunchOp op) {
  if (!device) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(op, op.getCalleeAttr());
    table.insert(kernel);
    int64_t place = llvm::find(table, kernel) - table.begin();
    return emit.load(emit.offset(function.getArgument(2), place * 8), emit.pointerType(), 8);
  }
  int64_t index = 0;
  for (auto kernel : op->getParentOfType<ModuleOp>().getOps<tile::KernelOp>()) {
    if (kernel.getSymName() == op.getCallee())
      break;
    ++index;
  }
  return emit.constant(index);
}

void PlanEmitter::launch(tile::LaunchOp op) {
  int64_t count;
  Value array = slots(op.getArguments(), count);
  SmallVector<Value> operands{function.getArgument(0), callee(op), array, emit.constant(count)};
  for (unsigned axis = 0; axis < 3; ++axis)
    operands.push_back(gridSize(op, axis));
  LLVM::CallOp::create(emit, TypeRange(), device ? deviceLaunchFunction : launchFunction, operands);
}

Value PlanEmitter::gridSize(tile::LaunchOp op, unsigned axis) {
  return axis < op.getGrid().size() ? scalars.lookup(op.getGrid()[axis]) : emit.constant(1);
}

/// One array of attune_rt_grid for all of them.
void PlanEmitter::launchTogether(ArrayRef<tile::LaunchOp> ops) {
  Value grids = array(gridFields * static_cast<int64_t>(ops.size()));
  int64_t place = 0, unused;
  auto push = [&](Value value) { emit.store(value, emit.offset(grids, 8 * place++), 8); };
  for (tile::LaunchOp op : ops) {
    push(callee(op));
    push(slots(op.getArguments(), unused));
    for (unsigned axis = 0; axis < 3; ++axis)
      push(gridSize(op, axis));
  }
  Value count = emit.constant(static_cast<int64_t>(ops.size()));
  LLVM::CallOp::create(emit, TypeRange(), togetherFunction, ValueRange{function.getArgument(0), grids, count});
}

/// A device has a launch for each.
void PlanEmitter::launchPending() {
  SmallVector<tile::LaunchOp> ops = std::exchange(pending, {});
  if (ops.size() > 1 && !device)
    return launchTogether(ops);
  for (tile::LaunchOp op : ops)
    launch(op);
}

LogicalResult PlanEmitter::conditional(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(type.isIndex() ? emit.getI64Type() : type);
  auto clone = scf::IfOp::create(emit, types, scalars.lookup(op.getCondition()), !op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), clone->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(emit);
    Block &target = to.front();
    if (target.empty())
      emit.setInsertionPointToEnd(&target);
    else
      emit.setInsertionPoint(target.getTerminator());
    if (failed(block(from.front())))
      return failure();
    if (!types.empty()) {
      SmallVector<Value> yielded;
      for (Value value : from.front().getTerminator()->getOperands())
        yielded.push_back(scalars.lookup(value));
      scf::YieldOp::create(emit, yielded);
    }
  }
  scalars.map(op.getResults(), clone.getResults());
  return success();
}

LogicalResult PlanEmitter::operation(Operation *op) {
  if (auto workspace = dyn_cast<tile::WorkspaceOp>(op)) {
    if (!isa<func::FuncOp>(op->getParentOp()))
      return op->emitOpError()
             << "expected to be at the top of its function, as its size may not depend on a condition";
    allocate(workspace);
    return success();
  }
  if (auto either = dyn_cast<tile::EitherOp>(op)) {
    choose(either);
    return success();
  }
  if (auto group = dyn_cast<tile::GroupHeadsOp>(op)) {
    groupHeads(group);
    return success();
  }
  if (auto launch = dyn_cast<tile::LaunchOp>(op)) {
    if (!tile::runsWithThePrevious(launch))
      launchPending();
    if (launches)
      pending.push_back(launch);
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    launchPending();
    return conditional(branch);
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  return emitScalar(emit, op, scalars, memories);
}

LogicalResult PlanEmitter::block(Block &block) {
  for (Operation &op : block)
    if (failed(operation(&op)))
      return failure();
  launchPending();
  return success();
}

LogicalResult PlanEmitter::run(func::FuncOp host) {
  emit.setInsertionPointToStart(&function.getBody().front());
  Value args = function.getArgument(launches ? 1 : 0);
  readSlots(emit, args, host.getArguments(), scalars, memories);
  int64_t count = 0;
  for (Type type : host.getArgumentTypes())
    count += slotCount(type);
  if (launches)
    base = emit.load(emit.offset(args, count * 8), emit.pointerType(), 8);
  workspace = emit.constant(0);
  if (failed(block(host.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(emit, launches ? ValueRange() : ValueRange(workspace));
  return success();
}

static void declare(ModuleOp module, StringRef name, ArrayRef<Type> arguments) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), arguments);
  LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
}

static void declareLaunch(ModuleOp module, bool device) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = IntegerType::get(module.getContext(), 64);
  declare(module, device ? deviceLaunchFunction : launchFunction,
          {pointer, device ? i64 : pointer, pointer, i64, i64, i64, i64});
  bool together = module.walk([](tile::LaunchOp op) {
    return tile::runsWithThePrevious(op) ? WalkResult::interrupt() : WalkResult::advance();
  }).wasInterrupted();
  if (together && !device)
    declare(module, togetherFunction, {pointer, pointer, i64});
}

/// The name of what the plans of all instruction sets have in common.
static std::string bodyName(StringRef plan) { return (plan + "__plan").str(); }

/// The kernels of a plan as code of an instruction set has them, as a constant array of their addresses.
static LLVM::GlobalOp kernelTable(Emit &emit, ModuleOp module, StringRef plan, ArrayRef<tile::KernelOp> kernels, ArrayRef<const Isa *> targets) {
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMArrayType::get(emit.pointerType(), kernels.size());
  auto table = LLVM::GlobalOp::create(emit, type, /*isConstant=*/true, LLVM::Linkage::Internal, (plan + "_kernels").str(), Attribute());
  emit.setInsertionPointToStart(emit.createBlock(&table.getInitializerRegion()));
  Value addresses = LLVM::UndefOp::create(emit, type);
  int64_t place = 0;
  for (tile::KernelOp kernel : kernels) {
    Value address = LLVM::AddressOfOp::create(emit, emit.pointerType(), variantName(kernel.getSymName(), codeOf(kernel, emit.isa, targets).name));
    addresses = LLVM::InsertValueOp::create(emit, addresses, address, place++);
  }
  LLVM::ReturnOp::create(emit, addresses);
  return table;
}

/// The plan of an instruction set.
static void emitVariant(func::FuncOp host, LLVM::LLVMFuncOp body, const Isa &isa, ArrayRef<tile::KernelOp> kernels, ArrayRef<const Isa *> targets) {
  auto module = host->getParentOfType<ModuleOp>();
  Emit emit(host.getLoc(), OpBuilder(host.getContext()), isa);
  std::string name = variantName(host.getName(), isa.name);
  LLVM::LLVMFuncOp plan = emit.function(module, name, {emit.pointerType(), emit.pointerType()});
  LLVM::GlobalOp table = kernelTable(emit, module, name, kernels, targets);
  emit.setInsertionPointToStart(&plan.getBody().front());
  Value addresses = LLVM::AddressOfOp::create(emit, emit.pointerType(), table.getSymName());
  LLVM::CallOp::create(emit, TypeRange(), body.getSymName(), ValueRange{plan.getArgument(0), plan.getArgument(1), addresses});
  LLVM::ReturnOp::create(emit, ValueRange());
}

static LogicalResult lowerPlan(func::FuncOp host, ArrayRef<const Isa *> targets, bool device) {
  auto module = host->getParentOfType<ModuleOp>();
  const Isa &least = *targets.front();
  Emit emit(host.getLoc(), OpBuilder(host.getContext()), least);
  Type pointer = emit.pointerType();
  SmallVector<Type> arguments(device ? 2 : 3, pointer);
  std::string ofDevice = variantName(host.getName(), least.name); // a library may have a plan of that name for a CPU, too
  LLVM::LLVMFuncOp plan = emit.function(module, device ? ofDevice : bodyName(host.getName()), arguments);
  PlanEmitter emitter(emit, plan, /*launches=*/true, device);
  if (failed(emitter.run(host)))
    return failure();
  if (!device) {
    plan.setPassthroughAttr(emit.getStrArrayAttr({sharedAttr}));
    for (const Isa *isa : targets)
      emitVariant(host, plan, *isa, emitter.kernels(), targets);
  }
  // A plan runs once the runtime has found its workspace to be one that can be; until then sizes may be anything.
  emit.saturates = true;
  LLVM::LLVMFuncOp size = emit.function(module, workspaceName(device ? StringRef(ofDevice) : host.getName()), {pointer}, emit.getI64Type());
  return PlanEmitter(emit, size, /*launches=*/false, device).run(host);
}

namespace {
struct LowerPlans : public cpu::impl::LowerPlansBase<LowerPlans> {
  using LowerPlansBase::LowerPlansBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<const Isa *>> targets = findIsas(module, isas);
    if (failed(targets))
      return signalPassFailure();
    declareLaunch(module, device);
    for (func::FuncOp host : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (failed(lowerPlan(host, *targets, device)))
        return signalPassFailure();
      host.erase();
    }
    for (tile::KernelOp kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>()))
      kernel.erase();
  }
};
} // namespace
