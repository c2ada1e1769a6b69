//===- Nest.cpp - A run of elementwise ops as one loop nest --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   keepsInner (or rank 1)            otherwise
//     for strip of vectors              for outer
//       for outer                         for strip of vectors
//         the ops, vector by vector         the ops
//       store reductions                  sum across the lanes, store
//
// A convolution reads the same rows in several loads, each from another row on (ShiftedLoads.h). There
//
//     for block of rows
//       for vector
//         for row of the block: of every run of loads the last, the others from the row before; the ops
//
// so that a row is read once a run and what all rows share, as weights of channels, stays in registers. The rows of a
// block are few enough that the first-level cache holds what they read until their last vector.
//
// Loops cover the whole vectors; the rest, with the vector that is not whole, follows as straight-line code. A
// permutation of columns needs to know its place: with one, all strips are straight-line code.
//
//===----------------------------------------------------------------------===//
#include "DotForms.h"
#include "KernelState.h"
#include "MemoryAccess.h"
#include "ShiftedLoads.h"
#include "VectorOps.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Vectors of a strip: enough independent work to hide the latency of exp2, few enough for the registers.
static constexpr int64_t stripVectors = 4;
/// Rows of a block where rows slide.
static constexpr int64_t slidingRows = 16;

namespace {
/// A vector of the nest.
struct Place {
  Value outer, inner;   ///< element (outer, inner …)
  int64_t valid;        ///< lanes that are part of the tile
  int64_t position = 0; ///< the vector's number in its strip
};

class NestEmitter {
public:
  NestEmitter(KernelState &state, const Stages &stages, const Stage &stage)
      : state(state), emit(state.emit), stages(stages), stage(stage) {}
  void run();

private:
  KernelState &state;
  Emit &emit;
  const Stages &stages;
  const Stage &stage;
  llvm::DenseMap<Operation *, MemoryAccess> accesses;
  llvm::DenseMap<Operation *, Buffer> results; ///< of reductions and of tiles that leave the nest
  SmallVector<tile::ReduceOp> reductions;
  SmallVector<RunOfLoads> runs;          ///< of loads that slide
  llvm::DenseMap<Value, Value> computed; ///< vectors of the current place
  llvm::DenseMap<Value, Value> kept;     ///< vectors of the current place that other rows have, too

  int64_t outerExtent() const { return stage.shape.size() == 1 ? 1 : outerSize(stage.shape, stage.order); }
  int64_t innerExtent() const { return innerSize(stage.shape, stage.order); }

  bool permutes() const;
  SmallVector<Value> wholeStrips(int64_t vectors, ValueRange sums,
                                 function_ref<SmallVector<Value>(Value, ValueRange)> body);
  void prepare();
  void outerLoop();
  void slidingLoop();
  void slide(Value from, Value to, SmallVector<Place> places);
  llvm::DenseMap<Value, Value> sharedByRows(const Place &place);
  void stripLoop();
  SmallVector<Value> strips(Value outer, ValueRange sums);
  SmallVector<Value> strip(Value outer, Value inner, int64_t vectors, int64_t validInLast, ValueRange sums);
  void sumStrip(Value inner, int64_t vectors, int64_t validInLast);
  void vector(const Place &place, SmallVectorImpl<Value> &sums, int64_t stripSize, int64_t position);
  Value initial(tile::ReduceOp reduce, bool scalar = false);

  Value evaluate(Value tile, const Place &place);
  Value expand(tile::ExpandOp op, const Place &place);
  Value mask(tile::MaskOp op, const Place &place);
  Value iota(tile::IotaOp op, const Place &place);
  Value permute(tile::PermuteColumnsOp op, const Place &place);
  Value evaluateAt(Value tile, int64_t inner, const Place &place);
  Value compute(Operation *op, const Place &place);
  Value readBuffer(Value tile, Buffer buffer, const Place &place);
  Value address(Buffer buffer, const Place &place, Type element = Type());
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A vector of f32 unless said otherwise.
Value NestEmitter::address(Buffer buffer, const Place &place, Type element) {
  return emit.offset(buffer.pointer, emit.add(emit.mul(place.outer, buffer.stride), place.inner),
                     element ? element : emit.getF32Type());
}

/// The element type as which a tile lies in the scratch: 16 bits are widened, truth values are 0 and 1.
static Type heldAs(Emit &emit, Value tile) {
  Type element = tileType(tile).getElementType();
  return element.isInteger(32) ? element : Type(emit.getF32Type());
}

/// What has been read as it is held, as a value of the tile.
static Value asHeld(Emit &emit, Value tile, Value vector) {
  return tileType(tile).getElementType().isInteger(1) ? isNotZero(emit, vector) : vector;
}

/// A vector of equal elements as they are held.
static Value heldSplat(Emit &emit, Value tile, double value) {
  if (!heldAs(emit, tile).isInteger(32))
    return emit.splat(value);
  auto type = emit.vectorOf(emit.getI32Type());
  return arith::ConstantOp::create(emit, DenseElementsAttr::get(type, static_cast<int32_t>(value)));
}

Value NestEmitter::readBuffer(Value tile, Buffer buffer, const Place &place) {
  return asHeld(emit, tile, emit.load(address(buffer, place), emit.vectorOf(heldAs(emit, tile))));
}

Value NestEmitter::expand(tile::ExpandOp op, const Place &place) {
  if (auto value = splatValue(op.getSource()))
    return asHeld(emit, op.getSource(), heldSplat(emit, op.getSource(), *value));
  Buffer buffer = state.require(op.getSource(), Order::Row);
  // Axis 1: the row's element; the row is the outer index of a row-major nest.
  bool scalar = (op.getAxis() == 1) == (stage.order == Order::Row);
  if (!scalar)
    return readBuffer(op.getSource(), buffer, {emit.constant(0), place.inner, place.valid});
  Type held = heldAs(emit, op.getSource());
  return asHeld(emit, op.getSource(), emit.splat(emit.load(emit.offset(buffer.pointer, place.outer, held), held)));
}

Value NestEmitter::evaluate(Value tile, const Place &place) {
  if (Value known = computed.lookup(tile))
    return known;
  Value result;
  Operation *definition = tile.getDefiningOp();
  if (auto value = splatValue(tile))
    result = asHeld(emit, tile, heldSplat(emit, tile, *value));
  else if (auto op = tile.getDefiningOp<tile::ExpandOp>())
    result = expand(op, place);
  else if (definition && llvm::is_contained(stage.ops, definition)) // a load that a permutation reads again
    result = compute(definition, place);
  else
    result = readBuffer(tile, state.require(tile, stage.order), place);
  computed[tile] = result;
  return result;
}

/// Row-major: j < cols, j ≤ i + diagonal, all of it only if i < rows; column-major: i < rows, i ≥ j − diagonal, …
Value NestEmitter::mask(tile::MaskOp op, const Place &place) {
  auto bound = [&](Value value) { return value ? state.scalars.lookup(value) : Value(); };
  Value rows = bound(op.getRows()), cols = bound(op.getCols()), diagonal = bound(op.getDiagonal());
  bool rowMajor = stage.order == Order::Row && stage.shape.size() == 2;
  Value below = rowMajor ? cols : rows, outerBound = rowMajor ? rows : cols;
  if (rowMajor && diagonal) {
    Value limit = emit.add(emit.add(place.outer, diagonal), 1);
    below = below ? emit.min(below, limit) : limit;
  }
  bool wholeRows = outerBound && !below; // the same lanes of all vectors of a row
  if (outerBound) {
    Value inside = emit.less(place.outer, outerBound);
    below = emit.select(inside, below ? below : emit.constant(emit.lanes()), emit.constant(0));
  }
  Value keep = below ? emit.lanesBelow(wholeRows ? below : emit.sub(below, place.inner)) : Value();
  if (!rowMajor && diagonal) {
    Value hidden = emit.lanesBelow(emit.sub(emit.sub(place.outer, diagonal), place.inner));
    keep = keep ? andNot(emit, keep, hidden) : andNot(emit, emit.lanesBelow(emit.lanes()), hidden);
  }
  return emit.select(keep, evaluate(op.getSource(), place), emit.splat(op.getFill().convertToFloat()));
}

Value NestEmitter::iota(tile::IotaOp op, const Place &place) {
  VectorType words = emit.vectorOf(emit.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, emit.lanes()));
  Value lane = arith::ConstantOp::create(emit, DenseElementsAttr::get(words, ArrayRef<int32_t>(numbers)));
  Value first =
      arith::TruncIOp::create(emit, emit.getI32Type(), emit.add(state.scalars.lookup(op.getBase()), place.inner));
  Value sum = arith::AddIOp::create(emit, emit.splat(first), lane);
  bool isInteger = tileType(op.getResult()).getElementType().isInteger();
  return isInteger ? sum : arith::SIToFPOp::create(emit, emit.floats(), sum).getResult();
}

/// The tile's vector from column `inner` on of the row at `place`.
Value NestEmitter::evaluateAt(Value tile, int64_t inner, const Place &place) {
  if (Emit::known(place.inner) == inner)
    return evaluate(tile, place);
  llvm::DenseMap<Value, Value> here;
  std::swap(here, computed);
  Value result = evaluate(tile, {place.outer, emit.constant(inner), std::min(emit.lanes(), innerExtent() - inner)});
  std::swap(here, computed);
  return result;
}

/// A shuffle for each vector of the source that has a part in it, and none for a vector that is one of the source's.
Value NestEmitter::permute(tile::PermuteColumnsOp op, const Place &place) {
  int64_t lanes = emit.lanes();
  ArrayRef<int64_t> from = op.getPermutation().slice(*Emit::known(place.inner), place.valid);
  auto vectorOf = [&](int64_t column) { return column / lanes; };
  SmallVector<int64_t> sources(llvm::map_range(from, vectorOf));
  llvm::sort(sources);
  sources.erase(llvm::unique(sources), sources.end());
  Value result;
  for (int64_t source : sources) {
    Value read = evaluateAt(op.getSource(), source * lanes, place);
    // Lanes that are not this vector's stay as they are; those past the tile's end are anything.
    SmallVector<int64_t> choice = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    bool moves = false;
    for (auto [lane, column] : llvm::enumerate(from))
      if (vectorOf(column) == source) {
        moves |= column % lanes != static_cast<int64_t>(lane);
        choice[lane] = column % lanes + (result ? lanes : 0);
      }
    result = result || moves ? emit.shuffle(result ? result : read, read, choice) : read;
  }
  return result;
}

Value NestEmitter::compute(Operation *op, const Place &place) {
  if (auto op1 = dyn_cast<tile::MaskOp>(op))
    return mask(op1, place);
  if (auto op1 = dyn_cast<tile::IotaOp>(op))
    return iota(op1, place);
  if (auto op1 = dyn_cast<tile::PermuteColumnsOp>(op))
    return permute(op1, place);
  if (isa<tile::LoadOp>(op)) {
    const MemoryAccess &access = accesses.at(op);
    if (place.position * emit.lanes() % access.lineElements() == 0)
      access.prefetchNext(emit, place.outer, place.inner);
    return access.load(emit, place.outer, place.inner, place.valid);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand, place));
  return emitElementwise(emit, op, operands);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value NestEmitter::initial(tile::ReduceOp reduce, bool scalar) {
  return emit.splat(reduce.getKind() == tile::ReduceKind::Add ? 0.0 : -std::numeric_limits<double>::infinity());
}

void NestEmitter::vector(const Place &place, SmallVectorImpl<Value> &sums, int64_t stripSize, int64_t position) {
  computed = kept;
  SmallVector<std::pair<Value, Operation *>> stores;
  for (Operation *op : stage.ops) {
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      stores.push_back({evaluate(store.getValue(), place), op});
      continue;
    }
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      unsigned index = llvm::find(reductions, reduce) - reductions.begin();
      Value &sum = sums[index * stripSize + position];
      Value next = evaluate(reduce.getSource(), place);
      if (stage.keepsOuter && place.valid < emit.lanes())
        next = emit.select(emit.lanesBelow(place.valid), next, initial(reduce));
      sum = emitReduction(emit, reduce.getKind(), sum, next);
      continue;
    }
    Value result = kept.lookup(op->getResult(0));
    if (!result)
      result = compute(op, place);
    computed[op->getResult(0)] = result;
    if (results.count(op))
      stores.push_back({result, op});
  }
  // Last, as a carried tile's buffer may be that of a tile that was read above.
  for (auto [value, op] : stores) {
    if (isa<tile::StoreOp>(op))
      accesses.at(op).store(emit, value, place.outer, place.inner, place.valid);
    else if (heldAsBf16(op->getResult(0), emit.isa))
      emit.store(roundedToBf16(emit, value), address(results.lookup(op), place, emit.getI16Type()), 2);
    else
      emit.store(value.getType() == emit.vectorOf(emit.getI1Type()) ? asFloats(emit, value) : value,
                 address(results.lookup(op), place));
  }
}

SmallVector<Value> NestEmitter::strip(Value outer, Value inner, int64_t vectors, int64_t validInLast, ValueRange sums) {
  SmallVector<Value> next(sums);
  for (int64_t position = 0; position < vectors; ++position)
    vector({outer, emit.add(inner, position * emit.lanes()), position + 1 == vectors ? validInLast : emit.lanes(),
            position},
           next, vectors, position);
  return next;
}

bool NestEmitter::permutes() const {
  return llvm::any_of(stage.ops, [](Operation *op) { return isa<tile::PermuteColumnsOp>(op); });
}

/// The strips of the first `vectors` vectors, from the first to the last.
SmallVector<Value> NestEmitter::wholeStrips(int64_t vectors, ValueRange sums,
                                            function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  int64_t width = stripVectors * emit.lanes(), end = vectors * emit.lanes();
  if (!permutes())
    return emit.loop(emit.constant(0), emit.constant(end), width, sums, body);
  SmallVector<Value> result(sums);
  for (int64_t inner = 0; inner < end; inner += width)
    result = body(emit.constant(inner), result);
  return result;
}

/// All strips of one outer index, with one vector of partial sums a reduction.
SmallVector<Value> NestEmitter::strips(Value outer, ValueRange sums) {
  int64_t lanes = emit.lanes(), whole = innerExtent() / lanes, vectors = (innerExtent() + lanes - 1) / lanes;
  int64_t looped = vectors <= stripVectors + 2 ? 0 : whole / stripVectors * stripVectors;
  auto one = [&](Value inner, int64_t count, int64_t validInLast, ValueRange before) {
    SmallVector<Value> next;
    for (Value sum : before)
      for (int64_t i = 0; i < count; ++i)
        next.push_back(i == 0 ? sum : Value());
    for (auto [index, reduce] : llvm::enumerate(reductions))
      for (int64_t i = 1; i < count; ++i)
        next[index * count + i] = initial(reduce);
    next = strip(outer, inner, count, validInLast, next);
    SmallVector<Value> folded;
    for (auto [index, reduce] : llvm::enumerate(reductions)) {
      Value sum = next[index * count];
      for (int64_t i = 1; i < count; ++i)
        sum = emitReduction(emit, reduce.getKind(), sum, next[index * count + i]);
      folded.push_back(sum);
    }
    return folded;
  };
  SmallVector<Value> result(sums);
  if (looped)
    result = wholeStrips(looped, result,
                         [&](Value inner, ValueRange before) { return one(inner, stripVectors, lanes, before); });
  if (vectors > looped)
    result = one(emit.constant(looped * lanes), vectors - looped, innerExtent() - (vectors - 1) * lanes, result);
  return result;
}

void NestEmitter::outerLoop() {
  emit.loop(emit.constant(0), emit.constant(outerExtent()), 1, [&](Value outer) {
    SmallVector<Value> sums;
    for (tile::ReduceOp reduce : reductions)
      sums.push_back(initial(reduce));
    sums = strips(outer, sums);
    for (auto [reduce, sum] : llvm::zip_equal(reductions, sums)) {
      Value all = innerExtent() == 1 ? vector::ExtractOp::create(emit, sum, ArrayRef<int64_t>{0}).getResult()
                                     : acrossLanes(emit, reduce.getKind(), sum);
      emit.store(all, emit.offset(results.lookup(reduce).pointer, outer, emit.getF32Type()));
    }
  });
}

/// What expands the same vector to all rows.
llvm::DenseMap<Value, Value> NestEmitter::sharedByRows(const Place &place) {
  computed.clear();
  for (Operation *op : stage.ops)
    for (Value operand : op->getOperands())
      if (auto expand = operand.getDefiningOp<tile::ExpandOp>(); expand && expand.getAxis() == 0)
        evaluate(operand, place);
  return computed;
}

/// The vectors at `places` of the rows from `from` to `to`, with their outer index replaced.
void NestEmitter::slide(Value from, Value to, SmallVector<Place> places) {
  SmallVector<llvm::DenseMap<Value, Value>> shared;
  SmallVector<Value> before;
  auto read = [&](tile::LoadOp load, const Place &place) {
    return accesses.at(load).load(emit, place.outer, place.inner, place.valid);
  };
  for (Place &place : places) {
    place.outer = from;
    shared.push_back(sharedByRows(place));
    for (const RunOfLoads &run : runs)
      for (tile::LoadOp load : ArrayRef(run).drop_back())
        before.push_back(read(load, place));
  }
  emit.loop(from, to, 1, before, [&](Value row, ValueRange carried) {
    SmallVector<Value> next, none;
    for (auto [place, same] : llvm::zip_equal(places, shared)) {
      kept = same, place.outer = row;
      for (const RunOfLoads &run : runs) {
        for (tile::LoadOp load : ArrayRef(run).drop_back())
          kept[load.getResult()] = carried.front(), carried = carried.drop_front();
        tile::LoadOp last = run.back();
        kept[last.getResult()] = read(last, place);
        for (tile::LoadOp load : ArrayRef(run).drop_front())
          next.push_back(kept[load.getResult()]);
      }
      vector(place, none, 0, 0);
    }
    kept.clear();
    return next;
  });
}

void NestEmitter::slidingLoop() {
  // Of nine taps a vector keeps six rows in registers, of which there are twice as many as lanes.
  int64_t lanes = emit.lanes(), extent = innerExtent(), width = lanes / 8 * lanes, whole = extent / width * width;
  auto places = [&](Value inner, int64_t columns) {
    SmallVector<Place> result;
    for (int64_t at = 0; at < columns; at += lanes)
      result.push_back({Value(), emit.add(inner, at), std::min(lanes, columns - at), at / lanes});
    return result;
  };
  emit.loop(emit.constant(0), emit.constant(outerExtent()), slidingRows, [&](Value from) {
    Value to = emit.min(emit.add(from, slidingRows), emit.constant(outerExtent()));
    emit.loop(emit.constant(0), emit.constant(whole), width,
              [&](Value inner) { slide(from, to, places(inner, width)); });
    if (whole < extent)
      slide(from, to, places(emit.constant(whole), extent - whole));
  });
}

void NestEmitter::sumStrip(Value inner, int64_t vectors, int64_t validInLast) {
  SmallVector<Value> sums;
  for (tile::ReduceOp reduce : reductions)
    sums.append(vectors, initial(reduce));
  sums = emit.loop(emit.constant(0), emit.constant(outerExtent()), 1, sums,
                   [&](Value outer, ValueRange before) { return strip(outer, inner, vectors, validInLast, before); });
  for (auto [index, reduce] : llvm::enumerate(reductions))
    for (int64_t position = 0; position < vectors; ++position)
      emit.store(sums[index * vectors + position],
                 address(results.lookup(reduce), {emit.constant(0), emit.add(inner, position * emit.lanes()), 0}));
}

void NestEmitter::stripLoop() {
  int64_t lanes = emit.lanes(), whole = innerExtent() / lanes, vectors = (innerExtent() + lanes - 1) / lanes;
  int64_t looped = vectors <= stripVectors ? 0 : whole / stripVectors * stripVectors;
  if (looped)
    wholeStrips(looped, {}, [&](Value inner, ValueRange) {
      sumStrip(inner, stripVectors, lanes);
      return SmallVector<Value>();
    });
  if (vectors > looped)
    sumStrip(emit.constant(looped * lanes), vectors - looped, innerExtent() - (vectors - 1) * lanes);
}

void NestEmitter::prepare() {
  for (Operation *op : stage.ops) {
    if (isa<tile::LoadOp, tile::StoreOp>(op))
      accesses.try_emplace(op, state, op);
    if (isa<tile::StoreOp>(op))
      continue;
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      reductions.push_back(reduce);
      results[op] = state.destination(reduce.getResult(), Order::Row);
    } else if (stages.leavesStage(op->getResult(0))) {
      results[op] = state.destination(op->getResult(0), stage.order);
    }
  }
}

void NestEmitter::run() {
  prepare();
  ++state.nests;
  if (stage.order == Order::Row && reductions.empty() && !permutes())
    runs = runsOfLoads(stage.ops);
  if (stage.keepsInner)
    stripLoop();
  else if (!runs.empty())
    slidingLoop();
  else
    outerLoop();
}

void cpu::emitNest(KernelState &state, const Stages &stages, const Stage &stage) {
  NestEmitter(state, stages, stage).run();
}

void cpu::emitCopy(KernelState &state, Value tile, Order order, Buffer target) {
  Emit &emit = state.emit;
  ArrayRef<int64_t> shape = shapeOf(tile);
  Type f32 = emit.getF32Type();
  int64_t inner = innerSize(shape, order), outer = shape.size() == 1 ? 1 : outerSize(shape, order);
  std::optional<double> constant = splatValue(tile);
  auto expand = tile.getDefiningOp<tile::ExpandOp>();
  if (expand)
    constant = splatValue(expand.getSource());
  Buffer source = constant ? Buffer() : state.require(expand && !constant ? expand.getSource() : tile, order);
  bool scalar = expand && (expand.getAxis() == 1) == (order == Order::Row);
  emit.loop(emit.constant(0), emit.constant(outer), 1, [&](Value i) {
    emit.loop(emit.constant(0), emit.constant(inner), emit.lanes(), [&](Value j) {
      Value value;
      if (constant)
        value = heldSplat(emit, tile, *constant);
      else if (scalar)
        value = emit.splat(emit.load(emit.offset(source.pointer, i, f32), f32));
      else
        value = emit.load(emit.offset(source.pointer, expand ? j : emit.add(emit.mul(i, source.stride), j), f32),
                          emit.floats());
      emit.store(value, emit.offset(target.pointer, emit.add(emit.mul(i, target.stride), j), f32));
    });
  });
}
