//===- EvalTile.cpp - Host functions, launches and grids -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/EvalTile.h"

#include "Arrivals.h"
#include "TileFrame.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

void Frame::setTile(mlir::Value value, TileValue tile) {
  if (faithful()) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    for (double &x : tile.elements)
      x = roundTo(x, element);
  }
  set(value, std::make_shared<const TileValue>(std::move(tile)));
}

/// Whether an op of a kernel is only counted; its results are tiles without elements.
static bool isOnlyCounted(Frame &frame, Operation &op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  bool ofTiles = isa<tile::StoreOp>(op) || llvm::any_of(op.getResultTypes(), isTile);
  if (!frame.kernel || !frame.options.count || op.getNumRegions() || !ofTiles)
    return false;
  auto integer = [&](mlir::Value value) { return frame.integer(value); };
  auto memory = [&](mlir::Value value) -> const Array & { return frame.memory(value); };
  frame.options.count({op, integer, memory});
  for (mlir::Value result : op.getResults())
    frame.set(result, std::make_shared<const TileValue>());
  return true;
}

LogicalResult attune::reference::evalBlock(Frame &frame, mlir::Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isOnlyCounted(frame, op))
      continue;
    std::optional<LogicalResult> result;
    for (auto eval : {evalIndexOp, evalElementwise, evalMemoryOp, evalTileOp, evalArriveOp, evalControl, evalHostOp})
      if ((result = eval(frame, op)))
        break;
    if (!result)
      return op.emitOpError() << "expected an op that the interpreter of the tile dialect knows";
    if (failed(*result))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool fitsMemory(const Array &array, MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (array.rank() != type.getRank() || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (int64_t i = 0; i < array.rank(); ++i) {
    auto agrees = [](int64_t expected, int64_t got) { return ShapedType::isDynamic(expected) || expected == got; };
    // The stride of a dimension of one element is never used.
    if (!agrees(type.getDimSize(i), array.size(i)) || (array.size(i) > 1 && !agrees(strides[i], array.stride(i))))
      return false;
  }
  return true;
}

static bool fits(const Argument &argument, Type type) {
  if (auto memory = dyn_cast<MemRefType>(type))
    return std::holds_alternative<Array>(argument) && fitsMemory(std::get<Array>(argument), memory);
  return isa<FloatType>(type) ? std::holds_alternative<double>(argument) : std::holds_alternative<int64_t>(argument);
}

/// Gives the arguments of `op` their values in a new frame.
static LogicalResult bindArguments(Frame &frame, Operation *op, mlir::Block &entry, ArrayRef<Argument> arguments) {
  if (entry.getNumArguments() != arguments.size())
    return op->emitOpError() << "expected " << entry.getNumArguments() << " arguments, but got " << arguments.size();
  for (auto [value, argument] : llvm::zip_equal(entry.getArguments(), arguments)) {
    if (!fits(argument, value.getType()))
      return op->emitOpError() << "expected argument " << value.getArgNumber() << " to fit " << value.getType();
    std::visit([&, value = value](const auto &held) { frame.set(value, held); }, argument);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// 0 … count − 1 in an order that depends on the seed alone (Fisher and Yates, with the SplitMix64 generator).
static std::vector<int32_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<int32_t> order(count);
  for (int64_t i = 0; i < count; ++i)
    order[i] = static_cast<int32_t>(i);
  for (uint64_t i = count; i > 1; --i) {
    uint64_t x = seed += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    std::swap(order[i - 1], order[(x ^ x >> 31) % i]);
  }
  return order;
}

LogicalResult attune::reference::evalKernel(tile::KernelOp kernel, ArrayRef<int64_t> grid,
                                            ArrayRef<Argument> arguments, const EvalTileOptions &options) {
  std::optional<int64_t> points = elementCount(grid);
  if (grid.size() != kernel.getGrid().size() || !points || *points > std::numeric_limits<int32_t>::max())
    return kernel.emitOpError() << "expected " << kernel.getGrid().size() << " grid sizes of a product below 2^31";
  RaceCheck races;
  Arrivals arrivals;
  mlir::Block &body = kernel.getBody().front();
  for (int32_t index : shuffled(*points, options.seed)) {
    races.enter(index);
    Frame frame(options, options.checkRaces ? &races : nullptr);
    frame.kernel = kernel, frame.pointNumber = index, frame.arrivals = &arrivals;
    for (int64_t size : llvm::reverse(grid)) {
      frame.point.insert(frame.point.begin(), index % size);
      index /= size;
    }
    if (failed(bindArguments(frame, kernel, body, arguments)) || failed(evalBlock(frame, body)))
      return failure();
  }
  if (const Arrivals::Group *group = arrivals.incomplete())
    return kernel.emitOpError() << "expected all " << group->count << " programs of a group to arrive, but "
                                << group->here.size() << " have";
  return success();
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

static LogicalResult evalLaunch(Frame &frame, tile::LaunchOp op) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(op, op.getCalleeAttr());
  SmallVector<int64_t> grid;
  for (mlir::Value size : op.getGrid()) {
    grid.push_back(frame.integer(size));
    if (grid.back() < 0)
      return op.emitOpError() << "expected grid sizes from 0 on, but got " << grid.back();
  }
  SmallVector<Argument> arguments;
  for (mlir::Value operand : op.getArguments()) {
    if (isa<MemRefType>(operand.getType()))
      arguments.push_back(frame.memory(operand));
    else if (isa<FloatType>(operand.getType()))
      arguments.push_back(frame.number(operand));
    else
      arguments.push_back(frame.integer(operand));
  }
  return evalKernel(kernel, grid, arguments, frame.options);
}

/// Memory that nobody has written is NaN, so that who reads it gives itself away.
static LogicalResult evalWorkspace(Frame &frame, tile::WorkspaceOp op) {
  SmallVector<int64_t> shape(cast<MemRefType>(op.getType()).getShape());
  auto sizes = op.getSizes().begin();
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = frame.integer(*sizes++);
  if (!elementCount(shape))
    return op.emitOpError() << "expected sizes from 0 on whose product memory can hold";
  frame.set(op, Array(shape, std::numeric_limits<double>::quiet_NaN()));
  return success();
}

static LogicalResult evalEither(Frame &frame, tile::EitherOp op) {
  const Array &given = frame.memory(op.getGiven());
  frame.set(op, given.size(0) > 0 ? given : frame.memory(op.getOther()));
  return success();
}

static LogicalResult evalGroupHeads(Frame &frame, tile::GroupHeadsOp op) {
  std::optional<Array> result = frame.memory(op.getSource()).withHeadsAsRows(op.getResult().getType().getDimSize(1));
  if (!result)
    return op.emitOpError() << "expected heads of one token each, or whose tokens follow one another densely";
  frame.set(op, *result);
  return success();
}

std::optional<LogicalResult> attune::reference::evalHostOp(Frame &frame, Operation &op) {
  if (frame.kernel)
    return std::nullopt;
  if (auto either = dyn_cast<tile::EitherOp>(op))
    return evalEither(frame, either);
  if (auto group = dyn_cast<tile::GroupHeadsOp>(op))
    return evalGroupHeads(frame, group);
  if (auto launch = dyn_cast<tile::LaunchOp>(op))
    return evalLaunch(frame, launch);
  if (auto workspace = dyn_cast<tile::WorkspaceOp>(op))
    return evalWorkspace(frame, workspace);
  return std::nullopt;
}

LogicalResult attune::reference::evalTile(func::FuncOp host, ArrayRef<Argument> arguments,
                                          const EvalTileOptions &options) {
  if (host.getBody().getBlocks().size() != 1 || host.getNumResults() != 0)
    return host.emitOpError() << "expected a host function of one block and no results";
  Frame frame(options, nullptr);
  mlir::Block &body = host.getBody().front();
  return failed(bindArguments(frame, host, body, arguments)) ? failure() : evalBlock(frame, body);
}
