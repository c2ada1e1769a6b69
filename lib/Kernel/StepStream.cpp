//===- StepStream.cpp - The steps of loops that follow one another --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StepStream.h"

#include "KernelFrame.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

FailureOr<StepStream> StepStream::find(tile::KernelOp kernel) {
  StepStream stream;
  kernel.walk<WalkOrder::PreOrder>([&](tile::LoopOp loop) {
    if (loop->hasAttr(splitStreamAttr))
      stream.segments.push_back(loop);
  });
  if (stream.empty())
    return stream;
  tile::LoopOp first = stream.segments.front();
  if (auto length = first->getAttrOfType<IntegerAttr>(splitStreamAttr))
    stream.length = length.getInt();
  if (auto kernel = first->getAttrOfType<StringAttr>(mergedByAttr))
    stream.kernel = kernel.str();
  if (failed(stream.verify()))
    return failure();
  return stream;
}

tile::CarryAttrInterface StepStream::carry() const {
  if (auto carry = last()->getAttrOfType<tile::CarryAttrInterface>(memoryCarryAttr))
    return carry;
  return last().getCarry();
}

tile::LoopOp StepStream::clearing() const {
  if (!last()->hasAttr(memoryCarryAttr))
    return {};
  for (Operation *op = last()->getPrevNode(); op; op = op->getPrevNode())
    if (auto loop = dyn_cast<tile::LoopOp>(op))
      return loop;
  return {};
}

int64_t StepStream::sliceCount(tile::LoopOp clearing) {
  APInt count;
  bool known = matchPattern(clearing.getLower(), m_Zero()) && matchPattern(clearing.getUpper(), m_ConstantInt(&count));
  return known && clearing.getStep() == 1 ? count.getSExtValue() : 0;
}

//===----------------------------------------------------------------------===//
// What can be split
//===----------------------------------------------------------------------===//

static bool writes(Operation *op) {
  return op->walk([](Operation *inner) {
             auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
             return effects && effects.hasEffect<MemoryEffects::Write>() ? WalkResult::interrupt() : WalkResult::advance();
           })
      .wasInterrupted();
}

/// Whether all that steps write is what they store, in memory that the kernel does not read, of tiles that no step before has made.
static bool storesOfItsOwn(tile::LoopOp segment) {
  if (!isa<tile::SumAttr>(segment.getCarry())) // others may run a step more than once
    return false;
  llvm::SmallPtrSet<Value, 16> carried(llvm::from_range, segment.getRegionIterArgs());
  auto isCarried = [&](Value value) { return carried.contains(value); };
  for (Operation &op : segment.getBody().front()) {
    bool reads = op.walk([&](Operation *inner) {
                     return llvm::any_of(inner->getOperands(), isCarried) ? WalkResult::interrupt() : WalkResult::advance();
                   }).wasInterrupted();
    if (reads)
      carried.insert_range(op.getResults());
    if (!writes(&op))
      continue;
    auto store = dyn_cast<tile::StoreOp>(op);
    if (reads || !store || !llvm::all_of(store.getTarget().getUsers(), llvm::IsaPred<tile::StoreOp, memref::DimOp>))
      return false;
  }
  return true;
}

/// A segment, behind `before` if it is not the first.
static LogicalResult verifySegment(tile::LoopOp segment, tile::LoopOp before) {
  if (!isa<tile::KernelOp>(segment->getParentOp()))
    return segment.emitOpError() << "expected a loop that is split to stand in the kernel's own block, but got one inside "
                                 << segment->getParentOp()->getName();
  if (segment->getNumResults() == 0 && !segment->hasAttr(memoryCarryAttr))
    return segment.emitOpError() << "expected a loop that is split to carry tiles, but got none";
  if (!before)
    return success();
  if (segment.getCarry() != before.getCarry())
    return segment.emitOpError() << "expected segments of one stream to have one carry, but got " << segment.getCarry()
                                 << " behind " << before.getCarry();
  auto isNext = [&](Operation *user) { return user == segment.getOperation(); };
  if (!llvm::equal(segment.getInitArgs(), before.getResults()) || !llvm::all_of(before->getUsers(), isNext))
    return segment.emitOpError() << "expected to begin with what the segment before leaves, and nobody else to read that";
  return success();
}

/// A piece has whole steps of one segment, which begins with the first entry.
LogicalResult StepStream::verifyLength() const {
  tile::LoopOp segment = segments.front();
  Attribute mark = segment->getAttr(splitStreamAttr);
  if (isa<UnitAttr>(mark))
    return success();
  auto length = dyn_cast<IntegerAttr>(mark);
  auto step = static_cast<int64_t>(segment.getStep());
  if (!length || length.getInt() <= 0 || length.getInt() % step != 0)
    return segment.emitOpError() << "expected " << splitStreamAttr << " to be a unit, or the length of a piece, a multiple of the step "
                                 << step << ", but got " << mark;
  if (segments.size() > 1 || segment.getReverse() || !matchPattern(segment.getLower(), m_Zero()))
    return segment.emitOpError() << "expected one loop from 0 on, forwards, where pieces have a length";
  return success();
}

/// The loop before stores, of a known number of slices, tiles that the carry can have and that stand before it; all else that is
/// done with their memories are loads and stores.
LogicalResult StepStream::verifyMemory() const {
  tile::LoopOp clear = clearing();
  auto fail = [&] {
    return last().emitOpError() << "expected a loop before what is split that stores the state of no entries in " << carry()
                                << ", slice by slice, and a length of pieces and a kernel that merges them";
  };
  if (!clear || sliceCount(clear) == 0 || !pieceLength() || mergedBy().empty())
    return fail();
  SmallVector<Type> types;
  size_t axes = last()->getParentOfType<tile::KernelOp>().getGrid().size();
  for (auto store : clear.getBody().front().getOps<tile::StoreOp>()) {
    types.push_back(store.getValue().getType());
    auto isOutside = [&](Value value) { return value.getParentRegion()->isProperAncestor(&clear.getBody()); };
    auto isAccess = [](Operation *user) { return isa<tile::LoadOp, tile::StoreOp>(user); };
    if (!isOutside(store.getValue()) || !llvm::all_of(store.getIndices().take_front(axes), isOutside) || !isa<BlockArgument>(store.getTarget()) ||
        !llvm::all_of(store.getTarget().getUsers(), isAccess))
      return fail();
  }
  return carry().verifyState(types, [&] { return last().emitOpError(); });
}

LogicalResult StepStream::verify() const {
  tile::LoopOp before;
  for (tile::LoopOp segment : segments) {
    if (failed(verifySegment(segment, before)))
      return failure();
    before = segment;
  }
  if (empty())
    return success();
  if (failed(verifyLength()))
    return failure();
  if (last()->hasAttr(memoryCarryAttr))
    return verifyMemory();
  // Every piece runs what stands before the last step, but only one of them a step, and what stands behind the last one.
  for (Operation &op : *last()->getBlock()) {
    bool mayStore = llvm::is_contained(segments, &op) && storesOfItsOwn(cast<tile::LoopOp>(op));
    if (writes(&op) && !mayStore)
      return op.emitOpError() << "expected nothing to be written before the last step of what is split, but what a step stores of its own entries "
                                 "in memory that nothing reads";
    if (&op == last().getOperation())
      break;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// max(0, min(x, most)).
static Value within(TileBuilder &tiles, Value x, Value most) { return tiles.min(tiles.max(x, tiles.index(0)), most); }

/// The span of a segment's steps first ≤ i < end of `count`, numbered in its order.
static FailureOr<SmallVector<Value>> spanOf(TileBuilder &tiles, tile::LoopOp segment, Value first, Value end, Value count) {
  auto step = static_cast<int64_t>(segment.getStep());
  if (segment.getReverse())
    std::tie(first, end) = std::pair(tiles.sub(count, end), tiles.sub(count, first));
  auto place = [&](Value number) { return tiles.add(segment.getLower(), tiles.mul(number, step)); };
  return segment.getCarry().buildSpan(tiles.builder, segment, place(first), tiles.min(place(end), segment.getUpper()));
}

static Value stepCount(TileBuilder &tiles, tile::LoopOp segment) {
  Value length = tiles.max(tiles.sub(segment.getUpper(), segment.getLower()), tiles.index(0));
  return tiles.ceilDiv(length, static_cast<int64_t>(segment.getStep()));
}

FailureOr<SmallVector<Value>> StepStream::spanOfLength(OpBuilder &builder, Value piece) const {
  TileBuilder tiles(builder, last().getLoc());
  Value length = tiles.index(pieceLength()), first = multiply(tiles, piece, length);
  return carry().buildSpan(builder, last(), first, tiles.min(tiles.add(first, length), end()));
}

FailureOr<SmallVector<Value>> StepStream::buildSpan(OpBuilder &builder, Value piece, int64_t pieces) const {
  if (pieceLength())
    return spanOfLength(builder, piece);
  TileBuilder tiles(builder, last().getLoc());
  SmallVector<Value> counts =
      llvm::map_to_vector(segments, [&](tile::LoopOp segment) { return stepCount(tiles, segment); });
  Value all = counts.front();
  for (Value count : ArrayRef(counts).drop_front())
    all = tiles.add(all, count);
  Value length = tiles.ceilDiv(all, pieces), first = multiply(tiles, piece, length), end = tiles.add(first, length);
  SmallVector<Value> span;
  for (auto [segment, count] : llvm::zip_equal(segments, counts)) {
    FailureOr<SmallVector<Value>> part = spanOf(tiles, segment, within(tiles, first, count), within(tiles, end, count), count);
    if (failed(part))
      return failure();
    span = span.empty() ? *part : carry().buildCompose(builder, tiles.loc, span, *part);
    first = tiles.sub(first, count), end = tiles.sub(end, count);
  }
  return span;
}

void StepStream::unmark() {
  for (tile::LoopOp segment : segments) {
    segment->removeAttr(splitStreamAttr);
    segment->removeAttr(mergedByAttr);
    segment->removeAttr(memoryCarryAttr);
  }
}

void StepStream::erase() {
  while (!segments.empty())
    segments.pop_back_val()->erase();
}

SmallVector<Value> kernel::loop(TileBuilder &tiles, tile::CarryAttrInterface carry, Value lower, Value upper, int64_t stride,
                                ValueRange carried, LoopStep step) {
  auto body = [&](OpBuilder &builder, Location loc, Value first, ValueRange inner) {
    TileBuilder inside(builder, loc);
    tile::YieldOp::create(builder, loc, step(inside, first, inner));
  };
  auto op = tile::LoopOp::create(tiles.builder, tiles.loc, carry, lower, upper, stride, carried, body);
  return SmallVector<Value>(op.getResults());
}
