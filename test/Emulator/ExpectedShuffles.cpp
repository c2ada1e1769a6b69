//===- ExpectedShuffles.cpp - Shuffles that layouts call for -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels are executed as ops on tiles, each of which has a layout, and each op says what a warp must shuffle for
// it:
//
//     a sum or maximum along rows      2 for each row that a lane has: a quad has the row
//     the same along columns           3 for each column that a lane has: eight lanes have the column
//     rows from or to aligned memory   1 for each word of 4 bytes that a quad transposes, whole pieces of 16 bytes a
//     lane columns in another order         1 for each register that an element may come from, none if it is at home
//
// The code of threads is made by other files and counted by the emulator; both must find the same number.
//
//===----------------------------------------------------------------------===//
#include "ExpectedShuffles.h"

#include "attune-rt/PickPlan.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Pipeline/Describe.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Reference/HostArrays.h"
#include "attune/Tile/TileLayouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <map>
#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Array;
using reference::ExecutedOp;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Of one op, by one warp
//===----------------------------------------------------------------------===//

static tile::FragmentLayout layoutOf(RankedTensorType type) {
  return {cast<tile::FragmentAttr>(type.getEncoding()), type.getShape()};
}

static int64_t ofReduction(tile::ReduceOp reduce) {
  tile::FragmentLayout layout = layoutOf(cast<RankedTensorType>(reduce.getSource().getType()));
  return reduce.getAxis() == 1 ? 2 * 2 * layout.rowBlocks() : 3 * 2 * layout.columnBlocks();
}

/// Registers that the elements of register `index` come from, of all lanes; none if it is where it belongs.
static int64_t ofRegister(int64_t index, ArrayRef<int64_t> order, const tile::FragmentLayout &layout) {
  std::set<int64_t> sources;
  bool atHome = true;
  for (int64_t lane = 0; lane < tile::lanesPerWarp; ++lane) {
    auto [row, column] = *layout.elementAt({0, lane, index});
    tile::RegisterPlace from = layout.placeOf(row, column < int64_t(order.size()) ? order[column] : column);
    atHome &= from.lane == lane;
    sources.insert(from.index);
  }
  return atHome && sources.size() == 1 ? 0 : sources.size();
}

/// A rank-1 tile along columns lies as each row of a tile of 16 rows does.
static int64_t ofPermutation(tile::PermuteColumnsOp permute) {
  auto type = cast<RankedTensorType>(permute.getType());
  bool isVector = type.getRank() == 1;
  int64_t columns = ceilDiv(type.getShape().back(), tile::blockSize) * tile::blockSize; // padding moves, too
  tile::FragmentLayout rows(tile::FragmentAttr::get(type.getContext(), tile::FragmentRole::C, 16, {}), {16, columns});
  int64_t shuffles = 0;
  for (int64_t index = 0; index < rows.registers(); ++index)
    if (!isVector || index % 4 < 2) // those of the first row
      shuffles += ofRegister(index, permute.getPermutation(), rows);
  return isVector ? shuffles : shuffles * layoutOf(type).rowBlocks();
}

/// Whether rows of a tile meet memory in whole pieces of 16 bytes.
static bool isAligned(const Array &memory, int64_t column, int64_t columns, bool fromStart, int64_t bytes) {
  int64_t rank = memory.rank(), limit = std::min(columns, memory.size(rank - 1) - column);
  bool aligned = fromStart || column % 8 == 0;
  for (int64_t i = 0; i + 1 < rank; ++i)
    aligned &= memory.stride(i) * bytes % 16 == 0;
  return aligned && limit * bytes % 16 == 0;
}

/// Rows of a tile in registers from memory, or to it.
template <typename Op> static int64_t ofRows(const ExecutedOp &executed, Op op, Value memory, RankedTensorType tile) {
  if (!isa<tile::FragmentAttr>(tile.getEncoding()))
    return 0;
  bool isLoad = std::is_same_v<Op, tile::LoadOp>;
  if (isLoad && tile.getDimSize(1) == 1)
    return 0;
  int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  int64_t column = executed.integer(op.getIndices().back());
  if (!isAligned(executed.memory(memory), column, tile.getDimSize(1), column == 0, bytes))
    return 0;
  tile::FragmentLayout layout = layoutOf(tile);
  // A lane's piece is what a quad has of 4 blocks of 16-bit elements in a row, or of 2 of f32.
  int64_t blocks = bytes == 2 ? 4 : 2, words = blocks;
  return layout.rowBlocks() * ceilDiv(2 * layout.columnBlocks(), blocks) * words;
}

static int64_t shufflesOf(const ExecutedOp &executed) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(executed.op))
    return ofReduction(reduce);
  if (auto permute = dyn_cast<tile::PermuteColumnsOp>(executed.op))
    return ofPermutation(permute);
  if (auto load = dyn_cast<tile::LoadOp>(executed.op))
    return ofRows(executed, load, load.getSource(), cast<RankedTensorType>(load.getType()));
  if (auto store = dyn_cast<tile::StoreOp>(executed.op))
    return ofRows(executed, store, store.getTarget(), cast<RankedTensorType>(store.getValue().getType()));
  return 0;
}

//===----------------------------------------------------------------------===//
// Of a run
//===----------------------------------------------------------------------===//

namespace {
/// The plans of a compilation with layouts on their tiles, executed on tensors by name.
struct CountedRun {
  ModuleOp module;
  attnc::RunTensors &tensors;
  std::map<std::string, Array> arrays = {};
  uint64_t shuffles = 0;

  Array arrayOf(StringRef name, MemRefType type);
  LogicalResult run(func::FuncOp plan);
};
} // namespace

Array CountedRun::arrayOf(StringRef name, MemRefType type) {
  auto found = arrays.find(name.str());
  if (found != arrays.end())
    return found->second;
  HostTensor *tensor = tensors.find(name);
  SmallVector<int64_t> absent = llvm::map_to_vector(type.getShape(), [](int64_t n) { return std::max<int64_t>(n, 0); });
  return arrays[name.str()] = tensor ? reference::toArray(*tensor, type.getElementType()) : Array(absent);
}

LogicalResult CountedRun::run(func::FuncOp plan) {
  SmallVector<reference::Argument> arguments;
  for (unsigned i = 0; i < plan.getNumArguments(); ++i)
    arguments.push_back(arrayOf(plan.getArgAttrOfType<StringAttr>(i, kernel::argumentNameAttr).getValue(),
                                cast<MemRefType>(plan.getArgumentTypes()[i])));
  reference::EvalTileOptions options;
  options.checkRaces = false;
  options.count = [&](const ExecutedOp &executed) {
    auto kernel = executed.op.getParentOfType<tile::KernelOp>();
    shuffles += shufflesOf(executed) * kernel.getSchedule()->getWarpGrid().count();
  };
  return reference::evalTile(plan, arguments, options);
}

/// The plan that the runtime would take.
static func::FuncOp chosenPlan(Compilation &compilation, ModuleOp module, attnc::RunTensors &tensors) {
  auto sizes = bindSizes(compilation.interface(), tensors.all(compilation.interface()));
  auto plans = planNames(module);
  uint32_t picked = rt::pickPlan(
      static_cast<uint32_t>(plans.size()), [&](uint32_t i) { return plans[i].from; }, sizes[ATTUNE_RT_QUERIES],
      sizes[ATTUNE_RT_KEYS]);
  return module.lookupSymbol<func::FuncOp>(plans[picked].function);
}

std::optional<uint64_t> test::expectedShuffles(Compilation &compilation, attnc::RunTensors &tensors) {
  OwningOpRef<ModuleOp> module(compilation.module().clone());
  PassManager manager(&compilation.context());
  OpPassManager &kernels = manager.nest<tile::KernelOp>();
  kernels.addPass(createCSEPass());
  device::AssignLayoutsOptions layouts;
  layouts.products = compilation.products() == "wgmma" ? device::Products::Wgmma : device::Products::MmaSync;
  kernels.addPass(device::createAssignLayouts(layouts));
  if (failed(manager.run(*module)))
    return std::nullopt;
  CountedRun counted{*module, tensors};
  if (func::FuncOp prepare = prepareFunction(*module); prepare && failed(counted.run(prepare)))
    return std::nullopt;
  if (failed(counted.run(chosenPlan(compilation, *module, tensors))))
    return std::nullopt;
  return counted.shuffles;
}
