//===- TileToGpu.cpp - Kernels over laid-out tiles to the code of one thread ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ElementRun.h"
#include "KernelState.h"
#include "Warpgroups.h"

#include "attune/Lowering/GPU/Passes.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Tile/Product.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune::device {
#define GEN_PASS_DEF_TILETOGPU
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// Address spaces of NVPTX.
static constexpr unsigned globalSpace = 1, sharedSpace = 3;
/// Dynamic shared memory: one external array of unknown size for all kernels of the module.
static constexpr llvm::StringLiteral sharedName = "attune_shared";

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// i1: the memory begins at a multiple of 16 bytes, and so does every row.
static Value isAligned(DeviceBuilder &code, const Memory &memory) {
  Value all = LLVM::PtrToIntOp::create(code.builder, code.loc, code.builder.getI64Type(), memory.pointer);
  for (Value stride : ArrayRef<Value>(memory.strides).drop_back())
    all = code.either(all, code.mul(stride, memory.element.getIntOrFloatBitWidth() / 8));
  return code.equal(code.both(all, code.i64(15)), 0);
}

/// Dimensions that lie one after another without gaps, taken as one: its size is their product, its stride the last one's.
static void lowerCollapse(KernelState &state, memref::CollapseShapeOp op) {
  const Memory source = state.memories[op.getSrc()];
  Memory result{source.pointer, {}, {}, source.element, source.aligned};
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    Value size = source.sizes[group.front()];
    for (int64_t dimension : group.drop_front())
      size = state.code.mul(size, source.sizes[dimension]);
    result.sizes.push_back(size);
    result.strides.push_back(source.strides[group.back()]);
  }
  result.aligned = isAligned(state.code, result);
  state.memories[op.getResult()] = result;
}

static void lowerLoad(KernelState &state, tile::LoadOp load) {
  bool shared = isa<tile::SharedAttr>(cast<RankedTensorType>(load.getResult().getType()).getEncoding());
  if (shared && state.tiles.contains(load.getResult()) && state.tileOf(load.getResult()).shared)
    return; // the loop has started its copies
  if (state.isExchanged(load.getSource()))
    state.sharedUse.beforeLoad(state.code, state.rootOf(load.getSource()));
  shared ? loadToShared(state, load) : loadToRegisters(state, load);
}

static void lowerStoreInOrder(KernelState &state, tile::StoreOp store) {
  if (state.isExchanged(store.getTarget()))
    state.sharedUse.beforeStore(state.code, state.rootOf(store.getTarget()));
  lowerStore(state, store);
}

static LogicalResult lowerOperation(KernelState &state, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp load) { return lowerLoad(state, load), success(); })
      .Case([&](tile::StoreOp store) { return lowerStoreInOrder(state, store), success(); })
      .Case([&](memref::CollapseShapeOp collapse) { return lowerCollapse(state, collapse), success(); })
      .Case([&](tile::DotOp dot) {
        return isInPanels(dot.getB().getType()) ? lowerWarpgroupDot(state, dot) : lowerDot(state, dot);
      })
      .Case([&](tile::LoopOp loop) { return lowerLoop(state, loop); })
      .Case([&](tile::ArriveOp arrive) { return lowerArrive(state, arrive), success(); })
      .Case([&](tile::ReduceOp reduce) { return lowerReduce(state, reduce), success(); })
      .Case([&](tile::ExpandOp expand) { return lowerExpand(state, expand), success(); })
      .Case([&](tile::MaskOp mask) { return lowerMask(state, mask), success(); })
      .Case([&](tile::PermuteColumnsOp permute) { return lowerPermuteColumns(state, permute), success(); })
      .Case([&](tile::ConvertLayoutOp convert) { return lowerConvertLayout(state, convert); })
      .Default([&](Operation *other) {
        bool isTile = other->getNumResults() == 1 && isa<RankedTensorType>(other->getResult(0).getType());
        return isTile ? lowerElementwise(state, other) : success(); // scalars are lowered where they are used
      });
}

/// Every tile of a kernel must have a layout by now.
static LogicalResult checkLayout(Operation *op) {
  for (Value value : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.getEncoding())
      return op->emitError() << "expected a layout on every tile; run tile-assign-layouts first";
  return success();
}

namespace {
/// When the shared buffers that a block's operations make have been used for the last time.
class BufferLives {
public:
  BufferLives(KernelState &state, Block &block) : state(state), block(block) {}
  void after(Operation &op);

private:
  KernelState &state;
  Block &block;
  llvm::MapVector<int, Operation *> last; // of the buffers in use
};
} // namespace

/// The last operation of the block that uses a value, itself or in its regions.
static Operation *lastUser(Block &block, Value value) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(here))
      last = here;
  }
  return last;
}

void BufferLives::after(Operation &op) {
  for (Value result : op.getResults()) {
    auto found = state.tiles.find(result);
    if (found == state.tiles.end() || !found->second.shared)
      continue;
    int buffer = found->second.shared->buffer;
    Operation *user = lastUser(block, result);
    bool isNewBuffer = KernelState::isShared(result) && !state.runningAhead.contains(buffer);
    if (!isNewBuffer && !last.contains(buffer))
      continue; // of a block around this one, or of the copies of a loop
    auto [entry, isNew] = last.try_emplace(buffer, user);
    if (!isNew && entry->second->isBeforeInBlock(user))
      entry->second = user;
  }
  last.remove_if([&](auto &entry) {
    if (entry.second != &op)
      return false;
    state.sharedUse.release(entry.first);
    return true;
  });
}

LogicalResult device::lowerBlock(KernelState &state, Block &block) {
  BufferLives lives(state, block);
  ElementRun run(state);
  for (Operation &op : block) {
    Location outer = state.code.loc;
    state.code.loc = op.getLoc();
    // Scalars that are used at several places are computed where they stand, so that they dominate all.
    bool isScalar = op.getNumResults() == 1 && op.getNumRegions() == 0 && op.getResult(0).getType().isIntOrIndexOrFloat();
    if (isScalar && !isa<tile::ArriveOp>(op))
      state.scalar(op.getResult(0));
    if (failed(checkLayout(&op)))
      return failure();
    if (!run.take(&op)) {
      run.flushBefore(&op);
      if (failed(lowerOperation(state, &op)))
        return failure();
    }
    lives.after(op);
    state.code.loc = outer;
  }
  run.flush();
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static SmallVector<Type> parameterTypes(tile::KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  Type word = IntegerType::get(context, 64), pointer = LLVM::LLVMPointerType::get(context, globalSpace);
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    auto memory = dyn_cast<MemRefType>(type);
    types.push_back(memory ? pointer : word);
    if (memory)
      types.append(2 * memory.getRank(), word);
  }
  return types;
}

static Memory takeMemory(DeviceBuilder &code, MemRefType type, ValueRange slots) {
  Memory memory;
  memory.pointer = slots.front();
  memory.element = type.getElementType();
  for (int64_t i = 0; i < type.getRank(); ++i) {
    memory.sizes.push_back(type.isDynamicDim(i) ? slots[1 + i] : code.i64(type.getDimSize(i)));
    memory.strides.push_back(i + 1 < type.getRank() ? slots[1 + type.getRank() + i] : code.i64(1));
  }
  memory.aligned = isAligned(code, memory);
  return memory;
}

static void takeArguments(KernelState &state, ValueRange slots) {
  DeviceBuilder &code = state.code;
  for (BlockArgument argument : state.kernel.getBody().getArguments()) {
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      int64_t count = 1 + 2 * type.getRank();
      state.memories[argument] = takeMemory(code, type, slots.take_front(count));
      slots = slots.drop_front(count);
      continue;
    }
    Value value = slots.front();
    if (argument.getType().isF32())
      value = code.bitcast(arith::TruncIOp::create(code.builder, code.loc, code.builder.getI32Type(), value),
                           code.builder.getF32Type());
    state.scalars[argument] = value;
    slots = slots.drop_front();
  }
}

static void takeThread(KernelState &state) {
  DeviceBuilder &code = state.code;
  OpBuilder &builder = code.builder;
  state.thread = NVVM::ThreadIdXOp::create(builder, code.loc, builder.getI32Type());
  state.warp = code.div(state.thread, tile::lanesPerWarp);
  state.lane = code.rem(state.thread, tile::lanesPerWarp);
  tile::WarpGrid grid = state.grid;
  state.gridRow = grid.rows == 1 ? code.i32(0) : grid.columns == 1 ? state.warp : code.rem(state.warp, grid.rows);
  state.gridColumn = grid.columns == 1 ? code.i32(0) : code.div(state.warp, grid.rows);
  state.group = code.div(state.lane, 4);
  state.quad = code.rem(state.lane, 4);
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  state.sharedBase = LLVM::AddressOfOp::create(builder, code.loc, shared, sharedName);
}

/// Whether a kernel keeps what it made of all keys while it goes through the queries. One whose last block merges has
/// stored it.
static bool keepsState(tile::KernelOp kernel) {
  bool made = false;
  if (!kernel.getBody().getOps<tile::ArriveOp>().empty())
    return false;
  for (auto loop : kernel.getBody().front().getOps<tile::LoopOp>()) {
    if (made && loop.getNumResults() == 0)
      return true;
    made |= loop.getNumResults() != 0;
  }
  return false;
}

/// Whether the grid has one block for each head: there are seldom enough of them for a second one beside.
static bool hasFewBlocks(tile::KernelOp kernel) {
  auto folded = kernel->getAttrOfType<ArrayAttr>(device::foldedAxes);
  auto has = [&](tile::Axis axis) {
    return kernel.getGridPosition(axis) ||
           (folded && llvm::is_contained(folded, tile::AxisAttr::get(kernel.getContext(), axis)));
  };
  return !has(tile::Axis::QueryBlock) && !has(tile::Axis::KeyPiece);
}

/// Whether a kernel sums neighbouring rows, which are loaded once for each neighbour: only those may begin before the first.
static bool convolves(tile::KernelOp kernel) {
  auto beginsEarlier = [](tile::LoadOp load) { return load.getLower() ? WalkResult::interrupt() : WalkResult::advance(); };
  return kernel.walk(beginsEarlier).wasInterrupted();
}

static LLVM::LLVMFuncOp makeFunction(tile::KernelOp kernel, OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameterTypes(kernel));
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), kernel.getSymName(), type);
  int32_t threads = kernel.getSchedule()->getWarps() * tile::lanesPerWarp;
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr({threads, 1, 1}));
  // Kernels of f32 hold the parts of their operands besides, others a state, or there is no other block: the assembler may
  // not spill to fit one more block beside. Of f32 with several columns of warps it spills if it may have all registers.
  bool isF32 = kernel.getSchedule()->getOperand().isF32(), oneColumn = kernel.getSchedule()->getWarpColumns() == 1;
  bool holdsMore = oneColumn && (isF32 || keepsState(kernel));
  if (holdsMore || (hasFewBlocks(kernel) && !isF32))
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  if (convolves(kernel))
    function.setPassthroughAttr(builder.getStrArrayAttr({sumsLoadsName}));
  function->setAttr(blockSizeName, builder.getI64IntegerAttr(threads));
  if (std::optional<tile::Product> product = tile::Product::of(kernel))
    product->mark(function);
  return function;
}

static LogicalResult refuse(tile::KernelOp kernel, int64_t needed, int64_t limit) {
  tile::ScheduleAttr schedule = *kernel.getSchedule();
  InFlightDiagnostic diagnostic = kernel.emitError() << tile::noScheduleFits << "expected at most " << limit
                                                     << " bytes of shared memory, but got " << needed;
  diagnostic.attachNote() << "the tiles of " << schedule.getQueryTile() << " queries and " << schedule.getKeyTile()
                          << " keys do not fit, even in one stage; narrower heads, fewer features and 16-bit types have smaller "
                             "ones, and `--target cpu` has limits that are far wider (docs/Limits.md)";
  return diagnostic;
}

/// The function of a kernel with copies running ahead by `stages`.
static FailureOr<LLVM::LLVMFuncOp> lowerKernel(tile::KernelOp kernel, OpBuilder &moduleBuilder, int64_t stages,
                                               int64_t &sharedBytes) {
  LLVM::LLVMFuncOp function = makeFunction(kernel, moduleBuilder);
  OpBuilder builder = OpBuilder::atBlockBegin(function.addEntryBlock(moduleBuilder));
  KernelState state(kernel, builder);
  state.stages = stages;
  takeThread(state);
  takeArguments(state, function.getArguments());
  if (failed(lowerBlock(state, kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange());
  sharedBytes = state.sharedUse.peak();
  function->setAttr(sharedBytesName, builder.getI64IntegerAttr(sharedBytes));
  return function;
}

/// The function of a kernel, if it fits with copies running ahead by `stages`; null if it does not.
static FailureOr<LLVM::LLVMFuncOp> lowerIfItFits(tile::KernelOp kernel, OpBuilder &moduleBuilder, int64_t stages,
                                                 int64_t sharedLimit, int64_t &sharedBytes) {
  FailureOr<LLVM::LLVMFuncOp> function = lowerKernel(kernel, moduleBuilder, stages, sharedBytes);
  if (failed(function) || sharedBytes <= sharedLimit)
    return function;
  function->erase();
  return LLVM::LLVMFuncOp();
}

/// Stages, and operands that stay, are worth less than not running at all: where the schedule's do not fit, fewer are taken,
/// and with none operands are loaded for each product.
static LogicalResult lowerKernel(tile::KernelOp kernel, OpBuilder &moduleBuilder, int64_t sharedLimit) {
  int64_t sharedBytes = 0;
  for (int64_t stages = kernel.getSchedule()->getStages(); stages >= 0; --stages) {
    if (stages == 0)
      reloadOperands(kernel);
    FailureOr<LLVM::LLVMFuncOp> function =
        lowerIfItFits(kernel, moduleBuilder, std::max<int64_t>(stages, 1), sharedLimit, sharedBytes);
    if (failed(function) || *function)
      return function;
  }
  return refuse(kernel, sharedBytes, sharedLimit);
}

/// Aligned for tiles in panels, where there are any: to the pattern of eight rows of 128 bytes.
static void declareShared(OpBuilder &builder, Location loc, ArrayRef<tile::KernelOp> kernels) {
  int64_t alignment = llvm::any_of(kernels, hasPanels) ? 1024 : SharedMemoryUse::smallestAlignment;
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false, LLVM::Linkage::External, sharedName, Attribute(),
                         alignment, sharedSpace);
}

/// The host functions of the kernels go with them; they are lowered in a copy of the module.
static void eraseHosts(ModuleOp module) {
  SmallVector<Operation *> hosts;
  for (Operation &op : *module.getBody())
    if (!isa<tile::KernelOp>(op) && op.walk([](tile::LaunchOp) { return WalkResult::interrupt(); }).wasInterrupted())
      hosts.push_back(&op);
  for (Operation *host : hosts)
    host->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct TileToGpuPass : device::impl::TileToGpuBase<TileToGpuPass> {
  using TileToGpuBase::TileToGpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::KernelOp> kernels;
    for (auto kernel : module.getOps<tile::KernelOp>())
      if (kernel.getSchedule() && kernel.getSchedule()->getTarget() == tile::TargetKind::GPU)
        kernels.push_back(kernel);
    if (kernels.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto device = mlir::gpu::GPUModuleOp::create(builder, module.getLoc(), kernelModuleName);
    builder.setInsertionPointToEnd(device.getBody());
    declareShared(builder, module.getLoc(), kernels);
    for (tile::KernelOp kernel : kernels)
      if (failed(lowerKernel(kernel, builder, sharedLimit)))
        return signalPassFailure();
    eraseHosts(module);
    for (tile::KernelOp kernel : kernels)
      kernel.erase();
    numKernels += kernels.size();
  }
};
} // namespace
