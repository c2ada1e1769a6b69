//===- SplitMemory.cpp - Pieces of a stream whose state lies in memory ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (grid of the kernel, piece)
//     the slices of no entries into the piece's own memories;  the steps of the piece, on those
//
//   parallel over (grid of the kernel, slice)
//     state = no entries;  for each piece in order:  state = apply(its slice, state);  the slice of the kernel's memories = state
//
// Memories are [grid of the kernel, slices, tile], or of pieces [grid of the kernel, pieces, slices, tile].
//
//===----------------------------------------------------------------------===//
#include "SplitMemory.h"

#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static SmallVector<tile::StoreOp> storesOf(tile::LoopOp clearing) {
  return llvm::to_vector(clearing.getBody().front().getOps<tile::StoreOp>());
}

static MemRefType ofPieces(MemRefType type, size_t axes) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axes, ShapedType::kDynamic);
  return MemRefType::get(shape, type.getElementType());
}

/// Memories of the pieces, for each launch.
static SmallVector<Value> workspaces(const LaunchedKernel &whole, MemRefType type, size_t axes, ArrayRef<Value> counts) {
  SmallVector<Value> result;
  for (auto [launch, count] : llvm::zip_equal(whole.launches, counts)) {
    SmallVector<Value> sizes;
    for (size_t axis = 0; axis < axes; ++axis)
      if (type.isDynamicDim(axis))
        sizes.push_back(tile::LaunchOp(launch).getGrid()[axis]);
    sizes.push_back(count);
    OpBuilder host(launch);
    result.push_back(tile::WorkspaceOp::create(host, tile::LaunchOp(launch).getLoc(), type, sizes));
  }
  return result;
}

/// A further axis of the grid, of which `sizes` are those of each launch.
static Value addAxis(const LaunchedKernel &whole, tile::Axis axis, ArrayRef<Value> sizes) {
  tile::KernelOp kernel = whole.kernel;
  SmallVector<Attribute> axes(kernel.getGrid().getValue());
  axes.push_back(tile::AxisAttr::get(kernel.getContext(), axis));
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  kernel.setGridAttr(builder.getArrayAttr(axes));
  for (auto [launch, size] : llvm::zip_equal(whole.launches, sizes))
    tile::LaunchOp(launch).getGridMutable().append(size);
  return TileBuilder(builder, kernel.getLoc()).programId(axis);
}

/// The kernel that puts the pieces together, from a copy of the whole.
static void buildMerge(LaunchedKernel merge, size_t axes, ArrayRef<SmallVector<Value>> spans) {
  StepStream stream = *StepStream::find(merge.kernel);
  tile::LoopOp clearing = stream.clearing();
  tile::CarryAttrInterface carry = stream.carry();
  for (Operation *op = merge.kernel.getBody().front().getTerminator()->getPrevNode(); op != clearing.getOperation();) {
    Operation *before = op->getPrevNode();
    op->erase();
    op = before;
  }
  OpBuilder builder(clearing);
  TileBuilder tiles(builder, clearing.getLoc());
  SmallVector<Value> counts;
  for (tile::LaunchOp launch : merge.launches) {
    OpBuilder host(launch);
    counts.push_back(TileBuilder(host, launch.getLoc()).index(StepStream::sliceCount(clearing)));
  }
  Value slice = addAxis(merge, tile::Axis::ValueBlock, counts);
  SmallVector<tile::StoreOp> stores = storesOf(clearing);
  SmallVector<Value> state, memories;
  for (auto [store, values] : llvm::zip_equal(stores, spans)) {
    state.push_back(store.getValue());
    memories.push_back(merge.addArgument(cast<MemRefType>(values[0].getType()), values));
  }
  Value c0 = tiles.index(0);
  auto placeOf = [&](tile::StoreOp store, Value piece) {
    SmallVector<Value> place(store.getIndices().take_front(axes));
    if (piece)
      place.push_back(piece);
    place.push_back(slice);
    place.append(store.getIndices().size() - axes - 1, c0);
    return place;
  };
  auto add = [&](TileBuilder &step, Value piece, ValueRange before) {
    SmallVector<Value> span;
    for (auto [store, memory] : llvm::zip_equal(stores, memories))
      span.push_back(step.load(memory, placeOf(store, piece), step.shape(store.getValue())));
    return carry.buildApply(step.builder, step.loc, span, before);
  };
  state = loop(tiles, carry, tiles.index(0), tiles.dim(memories[0], axes), 1, state, add);
  for (auto [store, tile] : llvm::zip_equal(stores, state))
    tiles.store(tile, store.getTarget(), placeOf(store, Value()));
  clearing.erase();
  merge.removeUnused();
}

/// A kernel's argument with the piece behind the grid, and other values in the launches.
static void insertPiece(const LaunchedKernel &whole, BlockArgument memory, MemRefType type, size_t axes, Value piece, ArrayRef<Value> values) {
  tile::KernelOp kernel = whole.kernel;
  memory.setType(type);
  SmallVector<Type> types(kernel.getArgumentTypes());
  types[memory.getArgNumber()] = type;
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  for (auto [launch, value] : llvm::zip_equal(whole.launches, values))
    tile::LaunchOp(launch).getArgumentsMutable()[memory.getArgNumber()].set(value);
  for (Operation *user : llvm::to_vector(memory.getUsers())) {
    auto load = dyn_cast<tile::LoadOp>(user);
    MutableOperandRange indices = load ? load.getIndicesMutable() : cast<tile::StoreOp>(user).getIndicesMutable();
    SmallVector<Value> place(load ? load.getIndices() : cast<tile::StoreOp>(user).getIndices());
    place.insert(place.begin() + axes, piece);
    indices.assign(place);
  }
}

void kernel::splitInMemory(LaunchedKernel whole, StepStream stream, ArrayRef<Value> counts) {
  size_t axes = whole.kernel.getGrid().size();
  SmallVector<tile::StoreOp> stores = storesOf(stream.clearing());
  SmallVector<SmallVector<Value>> spans;
  for (tile::StoreOp store : stores)
    spans.push_back(workspaces(whole, ofPieces(cast<MemRefType>(store.getTarget().getType()), axes), axes, counts));
  buildMerge(whole.clone(stream.mergedBy()), axes, spans);
  stream.unmark();
  Value piece = addAxis(whole, tile::Axis::KeyPiece, counts);
  for (auto [store, values] : llvm::zip_equal(stores, spans))
    insertPiece(whole, cast<BlockArgument>(store.getTarget()), cast<MemRefType>(values[0].getType()), axes, piece, values);
  tile::LoopOp steps = stream.last();
  OpBuilder builder(steps);
  TileBuilder tiles(builder, steps.getLoc());
  Value length = tiles.index(stream.pieceLength()), first = multiply(tiles, piece, length);
  steps.getLowerMutable().assign(first);
  steps.getUpperMutable().assign(tiles.min(tiles.add(first, length), steps.getUpper()));
  whole.removeUnused();
}
