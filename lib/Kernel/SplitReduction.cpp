//===- SplitReduction.cpp - A stream of tokens in pieces -----------------===//
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
// Which piece is the last differs from run to run; what it does, and in which order, does not. Where the stream says so a kernel of
// its own does that instead:
//
//   parallel over (grid of the kernel)
//     what stands before the stream
//     state = inits;  for each piece in order:  state = apply(its span, state)
//     what stands behind the stream
//
//===----------------------------------------------------------------------===//
#include "SplitReduction.h"

#include "HostBound.h"
#include "KernelFrame.h"
#include "LaunchedKernel.h"
#include "SplitMemory.h"
#include "StepStream.h"
#include "attune/Kernel/Passes.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/ControlFlowSinkUtils.h"

namespace attune::kernel {
#define GEN_PASS_DEF_TILESPLITREDUCTION
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

using Launches = SmallVector<tile::LaunchOp, 1>;

namespace {
class Splitter {
public:
  /// `pieces`: how many there are, unless the stream says how long they are.
  Splitter(LaunchedKernel whole, StepStream stream, int64_t pieces)
      : whole(whole), stream(std::move(stream)), pieces(pieces), axes(whole.kernel.getGrid().size()) {}

  LogicalResult split();

private:
  /// Axes of a grid. Where they are taken pieces follow one another along the last one.
  static constexpr size_t mostAxes = 3;
  bool hasAxis() const { return axes < mostAxes; }

  // Host.
  LogicalResult countPieces();
  SmallVector<Value> workspaces(MemRefType type) const;
  void makeMemories();
  void addGridSizes();

  // Kernels.
  SmallVector<Value> addSpans(LaunchedKernel &to) const;
  Value countIn(TileBuilder &tiles, ValueRange memories) const;
  SmallVector<Value> buildApplied(TileBuilder &tiles, const StepStream &of, ValueRange memories, ArrayRef<Value> program) const;
  void addPiece(TileBuilder &tiles);
  LogicalResult storeSpan();
  void buildEnding();
  LogicalResult buildOwnKernel();

  LaunchedKernel whole;
  StepStream stream;
  int64_t pieces;
  size_t axes;
  SmallVector<Value> counts;             ///< of pieces, for each launch
  SmallVector<MemRefType> spanTypes;     ///< [grid of the kernel, pieces, tile] of each tile of a span
  SmallVector<SmallVector<Value>> spans; ///< memories of each, for each launch
  MemRefType counterType;                ///< [grid of the kernel, 2]
  SmallVector<Value> counters;           ///< for each launch
  SmallVector<Value> memories;           ///< those, as arguments of the kernel
  SmallVector<Value> program;            ///< its indices in the kernel's own grid
  Value piece;
};
} // namespace

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Of pieces with a length there are as many as entries exist in any program. Some program has to arrive last, so there is one at least.
LogicalResult Splitter::countPieces() {
  for (tile::LaunchOp launch : whole.launches) {
    OpBuilder builder(launch);
    TileBuilder host(builder, launch.getLoc());
    Value count = host.index(pieces);
    if (int64_t length = stream.pieceLength()) {
      Value entries = boundOnHost(host, stream.end(), launch);
      if (!entries)
        return stream.last().emitOpError() << "expected an end that sizes of the kernel's arguments bound, as their number says how "
                                              "many pieces of "
                                           << length << " entries there are";
      count = host.ceilDiv(entries, length);
      if (stream.mergedBy().empty())
        count = host.max(count, host.index(1));
    }
    counts.push_back(count);
  }
  return success();
}

/// A memory for each launch, with sizes of the grid and how many pieces there are where its type has none.
SmallVector<Value> Splitter::workspaces(MemRefType type) const {
  SmallVector<Value> result;
  for (auto [launch, count] : llvm::zip_equal(whole.launches, counts)) {
    SmallVector<Value> sizes;
    for (unsigned axis = 0; axis < axes; ++axis)
      if (type.isDynamicDim(axis))
        sizes.push_back(tile::LaunchOp(launch).getGrid()[axis]);
    if (type.isDynamicDim(axes))
      sizes.push_back(count);
    OpBuilder host(launch);
    result.push_back(tile::WorkspaceOp::create(host, launch->getLoc(), type, sizes));
  }
  return result;
}

void Splitter::makeMemories() {
  for (Type span : stream.spanTypes()) {
    auto tile = cast<RankedTensorType>(span);
    SmallVector<int64_t> shape = whole.gridShape();
    shape.push_back(stream.pieceLength() ? ShapedType::kDynamic : pieces);
    llvm::append_range(shape, tile.getShape());
    spanTypes.push_back(MemRefType::get(shape, tile.getElementType()));
    spans.push_back(workspaces(spanTypes.back()));
  }
  if (!stream.mergedBy().empty())
    return;
  SmallVector<int64_t> shape = whole.gridShape();
  shape.push_back(2);
  counterType = MemRefType::get(shape, IntegerType::get(whole.kernel.getContext(), 32));
  counters = workspaces(counterType);
}

void Splitter::addGridSizes() {
  for (auto [launch, count] : llvm::zip_equal(whole.launches, counts)) {
    OpBuilder builder(launch);
    TileBuilder host(builder, launch->getLoc());
    SmallVector<Value> sizes(tile::LaunchOp(launch).getGrid());
    if (hasAxis())
      sizes.push_back(count);
    else
      sizes.back() = multiply(host, sizes.back(), count);
    tile::LaunchOp(launch).getGridMutable().assign(sizes);
  }
}

//===----------------------------------------------------------------------===//
// Spans in a kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> Splitter::addSpans(LaunchedKernel &to) const {
  SmallVector<Value> result;
  for (auto [type, values] : llvm::zip_equal(spanTypes, spans))
    result.push_back(to.addArgument(type, values));
  return result;
}

/// The indices of a program.
static SmallVector<Value> programOf(TileBuilder &tiles, tile::KernelOp kernel) {
  return llvm::map_to_vector(kernel.getGrid().getAsRange<tile::AxisAttr>(),
                             [&](tile::AxisAttr axis) { return tiles.programId(axis.getValue()); });
}

/// Where a program leaves a tile of a span: [its indices, number of the piece, 0, …].
static SmallVector<Value> indicesOf(TileBuilder &tiles, ArrayRef<Value> program, Value number, Type span) {
  SmallVector<Value> indices(program);
  indices.push_back(number);
  indices.append(cast<RankedTensorType>(span).getRank(), tiles.index(0));
  return indices;
}

Value Splitter::countIn(TileBuilder &tiles, ValueRange memories) const {
  return stream.pieceLength() ? tiles.dim(memories.front(), axes) : tiles.index(pieces);
}

/// The state behind the last piece.
SmallVector<Value> Splitter::buildApplied(TileBuilder &tiles, const StepStream &of, ValueRange memories,
                                          ArrayRef<Value> program) const {
  SmallVector<Type> types = of.spanTypes();
  auto add = [&](TileBuilder &step, Value number, ValueRange state) {
    SmallVector<Value> span;
    for (auto [memory, type] : llvm::zip_equal(memories, types))
      span.push_back(step.load(memory, indicesOf(step, program, number, type), cast<RankedTensorType>(type).getShape()));
    return of.carry().buildApply(step.builder, step.loc, span, state);
  };
  return loop(tiles, of.carry(), tiles.index(0), countIn(tiles, memories), 1, of.inits(), add);
}

/// This program's indices in the kernel's own grid, and its piece.
void Splitter::addPiece(TileBuilder &tiles) {
  tile::KernelOp kernel = whole.kernel;
  SmallVector<Attribute> all(kernel.getGrid().getValue());
  program = programOf(tiles, kernel);
  if (hasAxis()) {
    all.push_back(tile::AxisAttr::get(kernel.getContext(), tile::Axis::KeyPiece));
    kernel.setGridAttr(tiles.builder.getArrayAttr(all));
    piece = tiles.programId(tile::Axis::KeyPiece);
    return;
  }
  // Neighbors are programs of one piece, which may read the same.
  Value number = program.back(), count = tiles.dim(memories.front(), axes - 1);
  piece = divide(tiles, number, count);
  program.back() = tiles.sub(number, multiply(tiles, piece, count));
  kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxisAttr() == all.back() && id.getResult() != number)
      id.replaceAllUsesWith(program.back());
  });
}

LogicalResult Splitter::storeSpan() {
  OpBuilder begin = OpBuilder::atBlockBegin(&whole.kernel.getBody().front()), builder(stream.last());
  TileBuilder first(begin, whole.kernel.getLoc()), tiles(builder, stream.last().getLoc());
  addPiece(first);
  FailureOr<SmallVector<Value>> span = stream.buildSpan(builder, piece, pieces);
  if (failed(span))
    return failure();
  for (auto [tile, memory] : llvm::zip_equal(*span, memories))
    tiles.store(tile, memory, indicesOf(tiles, program, piece, tile.getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Endings
//===----------------------------------------------------------------------===//

static SmallVector<Operation *> opsBehind(Operation *op) {
  SmallVector<Operation *> behind;
  for (op = op->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    behind.push_back(op);
  return behind;
}

/// By the last program to arrive: the state behind the last piece and what becomes of it, with what only that reads.
void Splitter::buildEnding() {
  OpBuilder builder(stream.last());
  TileBuilder tiles(builder, stream.last().getLoc());
  SmallVector<Operation *> behind = opsBehind(stream.last());
  Value counter = whole.addArgument(counterType, counters);
  Value last = tile::ArriveOp::create(builder, tiles.loc, builder.getIndexType(), counter, program, countIn(tiles, memories));
  // Once, or not at all.
  loop(tiles, tiles.sums(), tiles.index(0), last, 1, {}, [&](TileBuilder &inner, Value, ValueRange) {
    stream.last()->replaceAllUsesWith(buildApplied(inner, stream, memories, program));
    for (Operation *op : behind)
      op->moveBefore(inner.builder.getInsertionBlock(), inner.builder.getInsertionPoint());
    return SmallVector<Value>();
  });
  auto ending = cast<tile::LoopOp>(stream.last()->getPrevNode());
  DominanceInfo dominance(whole.kernel);
  auto mayMove = [](Operation *op, Region *) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    return effects && (effects.hasNoEffect() || effects.onlyHasEffect<MemoryEffects::Read>()) && !isa<tile::LoopOp>(op);
  };
  auto move = [](Operation *op, Region *region) { op->moveBefore(&region->front(), region->front().begin()); };
  controlFlowSink(ending->getRegions(), dominance, mayMove, move);
}

/// The kernel that does so after this one, which keeps nothing of it.
LogicalResult Splitter::buildOwnKernel() {
  LaunchedKernel ending = whole.clone(stream.mergedBy());
  FailureOr<StepStream> cloned = StepStream::find(ending.kernel);
  if (failed(cloned))
    return failure();
  OpBuilder begin = OpBuilder::atBlockBegin(&ending.kernel.getBody().front()), builder(cloned->last());
  TileBuilder first(begin, ending.kernel.getLoc()), tiles(builder, cloned->last().getLoc());
  SmallVector<Value> at = programOf(first, ending.kernel);
  cloned->last()->replaceAllUsesWith(buildApplied(tiles, *cloned, addSpans(ending), at));
  cloned->erase();
  ending.removeUnused();
  SmallVector<Operation *> behind = opsBehind(stream.last());
  for (Operation *op : llvm::reverse(behind))
    op->erase();
  return success();
}

LogicalResult Splitter::split() {
  if (failed(countPieces()))
    return failure();
  if (stream.clearing()) {
    splitInMemory(whole, stream, counts);
    return success();
  }
  makeMemories();
  if (!stream.mergedBy().empty() && failed(buildOwnKernel()))
    return failure();
  stream.unmark();
  memories = addSpans(whole);
  addGridSizes();
  if (failed(storeSpan()))
    return failure();
  if (stream.mergedBy().empty())
    buildEnding();
  stream.erase();
  whole.removeUnused();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The last-block ticket of a split kernel is the only one that it can have.
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

FailureOr<bool> kernel::splitReduction(tile::KernelOp kernel, ArrayRef<tile::LaunchOp> launches, int64_t pieces) {
  FailureOr<StepStream> stream = StepStream::find(kernel);
  if (failed(stream) || stream->empty())
    return failed(stream) ? FailureOr<bool>(failure()) : FailureOr<bool>(false);
  int64_t count = pieceCount(kernel, pieces);
  if (count < 2 && !stream->pieceLength()) {
    stream->unmark();
    return false;
  }
  if (failed(verifyArrivals(kernel)) || failed(Splitter({kernel, Launches(launches)}, *stream, count).split()))
    return failure();
  return true;
}

namespace {
struct TileSplitReduction : public kernel::impl::TileSplitReductionBase<TileSplitReduction> {
  using TileSplitReductionBase::TileSplitReductionBase;

  void runOnOperation() override {
    llvm::DenseMap<StringAttr, Launches> launches;
    getOperation().walk([&](tile::LaunchOp launch) { launches[launch.getCalleeAttr().getAttr()].push_back(launch); });
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      FailureOr<bool> split = splitReduction(kernel, launches.lookup(kernel.getSymNameAttr()), pieces);
      if (failed(split))
        return signalPassFailure();
      numKernels += *split;
    }
  }
};
} // namespace
