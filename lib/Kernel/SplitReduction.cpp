//===- SplitReduction.cpp - Streams in pieces, side by side ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (grid of the kernel, piece)
//     what stands before the stream
//     span of the piece, stored
//     the last of the pieces to arrive:  state = inits;  for each piece in order:  state = apply(its span, state)
//                                        what stands behind the stream
//
// Which piece is the last differs from run to run; what it does, and in which order, does not.
//
//===----------------------------------------------------------------------===//
#include "LastPiece.h"
#include "StepStream.h"
#include "attune/Kernel/Passes.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune::kernel {
#define GEN_PASS_DEF_TILESPLITREDUCTION
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

using Launches = SmallVector<tile::LaunchOp, 1>;

namespace {
/// A kernel whose stream is split, and its launches.
class Splitter {
public:
  Splitter(tile::KernelOp kernel, StepStream &stream, ArrayRef<tile::LaunchOp> launches, int64_t pieces)
      : kernel(kernel), stream(stream), launches(launches), pieces(pieces), hasAxis(kernel.getGrid().size() < mostAxes) {}

  LogicalResult split();

private:
  /// Axes of a grid. Where they are taken the pieces of a point follow one another along the last one.
  static constexpr size_t mostAxes = 3;

  // Host.
  void addMemories(ArrayRef<Type> spans);
  void addGridSizes();
  Value addMemory(MemRefType type);

  // Kernel.
  void addPiece(TileBuilder &tiles);
  SmallVector<Value> placeOf(TileBuilder &tiles, Value number, Type span) const;
  void buildEnding(TileBuilder &tiles);

  tile::KernelOp kernel;
  StepStream &stream;
  ArrayRef<tile::LaunchOp> launches;
  int64_t pieces;
  bool hasAxis;
  SmallVector<Value> memories; ///< of spans [grid of the kernel, pieces, tile], arguments of the kernel
  Value counters;              ///< [grid of the kernel, 2]
  SmallVector<Value> point;    ///< in the kernel's own grid
  Value piece;
};
} // namespace

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// A further argument of the kernel, for which each launch gives a workspace. Its leading sizes are those of the grid.
Value Splitter::addMemory(MemRefType type) {
  for (tile::LaunchOp launch : launches) {
    OpBuilder host(launch);
    Value memory = tile::WorkspaceOp::create(host, launch.getLoc(), type, launch.getGrid());
    launch.getArgumentsMutable().append(memory);
  }
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(type);
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  return kernel.getBody().addArgument(type, kernel.getLoc());
}

void Splitter::addMemories(ArrayRef<Type> spans) {
  SmallVector<int64_t> grid(kernel.getGrid().size(), ShapedType::kDynamic);
  for (Type span : spans) {
    auto tile = cast<RankedTensorType>(span);
    SmallVector<int64_t> shape(grid);
    shape.push_back(pieces);
    llvm::append_range(shape, tile.getShape());
    memories.push_back(addMemory(MemRefType::get(shape, tile.getElementType())));
  }
  grid.push_back(2);
  counters = addMemory(MemRefType::get(grid, IntegerType::get(kernel.getContext(), 32)));
}

void Splitter::addGridSizes() {
  for (tile::LaunchOp launch : launches) {
    OpBuilder builder(launch);
    TileBuilder host(builder, launch.getLoc());
    SmallVector<Value> sizes(launch.getGrid());
    if (hasAxis)
      sizes.push_back(host.index(pieces));
    else
      sizes.back() = host.mul(sizes.back(), pieces);
    launch.getGridMutable().assign(sizes);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// This point's place in the kernel's own grid, and its piece.
void Splitter::addPiece(TileBuilder &tiles) {
  SmallVector<Attribute> axes(kernel.getGrid().getValue());
  for (Attribute axis : axes)
    point.push_back(tiles.programId(cast<tile::AxisAttr>(axis).getValue()));
  if (hasAxis) {
    axes.push_back(tile::AxisAttr::get(kernel.getContext(), tile::Axis::KeyPiece));
    kernel.setGridAttr(tiles.builder.getArrayAttr(axes));
    piece = tiles.programId(tile::Axis::KeyPiece);
    return;
  }
  Value number = point.back();
  point.back() = tiles.div(number, pieces);
  piece = tiles.sub(number, tiles.mul(point.back(), pieces));
  kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxisAttr() == axes.back() && id.getResult() != number)
      id.replaceAllUsesWith(point.back());
  });
}

/// Where a piece leaves a tile.
SmallVector<Value> Splitter::placeOf(TileBuilder &tiles, Value number, Type span) const {
  SmallVector<Value> place(point);
  place.push_back(number);
  place.append(cast<RankedTensorType>(span).getRank(), tiles.index(0));
  return place;
}

/// The state behind the last piece and what becomes of it, by the last point to arrive.
void Splitter::buildEnding(TileBuilder &tiles) {
  SmallVector<Operation *> behind;
  for (Operation *op = stream.last()->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    behind.push_back(op);
  SmallVector<Type> spans = stream.spanTypes();
  inLastPiece(tiles, counters, point, tiles.index(pieces), [&](TileBuilder &inner) {
    auto add = [&](TileBuilder &step, Value number, ValueRange state) {
      SmallVector<Value> span;
      for (auto [memory, type] : llvm::zip_equal(memories, spans))
        span.push_back(step.load(memory, placeOf(step, number, type), cast<RankedTensorType>(type).getShape()));
      return stream.carry().buildApply(step.builder, step.loc, span, state);
    };
    SmallVector<Value> state = loop(inner, stream.carry(), inner.index(0), inner.index(pieces), 1, stream.inits(), add);
    stream.last()->replaceAllUsesWith(state);
    for (Operation *op : behind)
      op->moveBefore(inner.builder.getInsertionBlock(), inner.builder.getInsertionPoint());
  });
}

LogicalResult Splitter::split() {
  SmallVector<Type> spans = stream.spanTypes();
  addMemories(spans);
  addGridSizes();
  OpBuilder begin = OpBuilder::atBlockBegin(&kernel.getBody().front()), builder(stream.last());
  TileBuilder first(begin, kernel.getLoc()), tiles(builder, stream.last().getLoc());
  addPiece(first);
  stream.unmark();
  FailureOr<SmallVector<Value>> span = stream.buildSpan(builder, piece, pieces);
  if (failed(span))
    return failure();
  for (auto [tile, memory] : llvm::zip_equal(*span, memories))
    tiles.store(tile, memory, placeOf(tiles, piece, tile.getType()));
  buildEnding(tiles);
  stream.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Points wait for each other once.
static LogicalResult verifyArrivals(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([](tile::ArriveOp arrive) {
    arrive.emitOpError() << "expected no order between the programs of a kernel that is split";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// In how many pieces a kernel is split; fewer than two: not at all.
static int64_t pieceCount(tile::KernelOp kernel, int64_t asked) {
  if (asked > 0)
    return asked;
  return kernel.getSchedule() ? kernel.getSchedule()->getParts() : 1;
}

namespace {
struct TileSplitReduction : public kernel::impl::TileSplitReductionBase<TileSplitReduction> {
  using TileSplitReductionBase::TileSplitReductionBase;

  void runOnOperation() override {
    llvm::DenseMap<StringAttr, Launches> launches;
    getOperation().walk([&](tile::LaunchOp launch) { launches[launch.getCalleeAttr().getAttr()].push_back(launch); });
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (failed(splitKernel(kernel, launches.lookup(kernel.getSymNameAttr()))))
        return signalPassFailure();
  }

private:
  LogicalResult splitKernel(tile::KernelOp kernel, ArrayRef<tile::LaunchOp> launchesOf) {
    FailureOr<StepStream> stream = StepStream::find(kernel);
    if (failed(stream) || stream->empty())
      return failure(failed(stream));
    int64_t count = pieceCount(kernel, pieces);
    if (count < 2)
      return stream->unmark(), success();
    if (failed(verifyArrivals(kernel)) || failed(Splitter(kernel, *stream, launchesOf, count).split()))
      return failure();
    ++numKernels;
    return success();
  }
};
} // namespace
