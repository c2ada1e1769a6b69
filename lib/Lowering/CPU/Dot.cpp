//===- Dot.cpp - Dots as functions of their shapes ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Amx.h"
#include "DotBody.h"
#include "DotForms.h"
#include "DotTail.h"
#include "KernelState.h"
#include "MemoryAccess.h"
#include "Pairs.h"
#include "RunningSums.h"

#include "attune/Lowering/CPU/Pipeline.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Arguments of a dot function before those of its store and of its fetches.
static constexpr unsigned fixedArguments = 8;

/// The function for a shape, made at its first use.
static LLVM::LLVMFuncOp dotFunction(KernelState &state, const DotShape &shape) {
  std::string name = variantName(shape.name(), state.emit.isa.name);
  if (auto known = state.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  Emit emit(state.emit.getLoc(), OpBuilder(state.module.getContext()), state.emit.isa);
  Type pointer = emit.pointerType(), i64 = emit.getI64Type();
  SmallVector<Type> arguments = {pointer, pointer, pointer, pointer, i64, i64, i64, pointer};
  if (shape.stores)
    arguments.append({i64, i64, pointer, pointer});
  if (shape.storesSum)
    arguments.push_back(pointer);
  if (shape.multiplies)
    arguments.push_back(pointer);
  for (const Fold &fold : {shape.scalarFold, shape.vectorFold, shape.storeFold})
    if (fold)
      arguments.append({i64, i64});
  if (shape.tail)
    arguments.append({pointer, i64});
  for (size_t i = 0; i < shape.fetches.size(); ++i)
    arguments.append({pointer, i64, i64});
  LLVM::LLVMFuncOp op = emit.callee(state.module, name, arguments);
  Block &block = op.getBody().front();
  auto step = [&](int64_t known, unsigned argument) -> Value {
    return known < 0 ? Value(block.getArgument(argument)) : emit.constant(known);
  };
  DotBody body{emit,
               shape,
               block.getArgument(0),
               block.getArgument(1),
               block.getArgument(2),
               block.getArgument(3),
               step(shape.rowStep, 4),
               step(shape.innerStep, 5),
               step(shape.vectorStep, 6),
               block.getArgument(7)};
  unsigned at = fixedArguments;
  if (shape.stores) {
    body.stored = {
        block.getArgument(at), block.getArgument(at + 1), block.getArgument(at + 2), block.getArgument(at + 3), {}, {}};
    at += 4;
    if (shape.storesSum)
      body.stored.addend = block.getArgument(at++);
  }
  if (shape.multiplies)
    body.factor = block.getArgument(at++);
  for (auto [fold, place] :
       {std::pair(&shape.scalarFold, &body.scalarPlace), std::pair(&shape.vectorFold, &body.vectorPlace),
        std::pair(&shape.storeFold, &body.stored.place)})
    if (*fold)
      *place = {block.getArgument(at), block.getArgument(at + 1)}, at += 2;
  if (shape.tail)
    body.tailStart = block.getArgument(at), body.tailStep = block.getArgument(at + 1), at += 2;
  for (; at < block.getNumArguments(); at += 3)
    body.fetches.push_back({block.getArgument(at), block.getArgument(at + 1), block.getArgument(at + 2)});
  body.run();
  LLVM::ReturnOp::create(emit, ValueRange());
  return op;
}

/// Strides of the rows and of the columns of A or B as the product sees it.
static std::pair<Value, Value> strides(Emit &emit, Buffer buffer, Order order, bool transposed) {
  Value one = emit.constant(1);
  bool rowsApart = (order == Order::Row) != transposed;
  return rowsApart ? std::pair(buffer.stride, one) : std::pair(one, buffer.stride);
}

/// The operand that is read number by number: S[i, k] and its strides.
static ScalarOperand requireScalars(KernelState &state, OpOperand &use) {
  auto dot = cast<tile::DotOp>(use.getOwner());
  bool rows = orderOf(dot.getResult()) == Order::Column;
  Order order = orderOfUse(use);
  Buffer scalars = state.require(use.get(), order);
  auto [rowStep, columnStep] = strides(state.emit, scalars, order, rows ? dot.getTransposeB() : dot.getTransposeA());
  if (rows) // S[i = column of B, k = row of B]
    std::swap(rowStep, columnStep);
  return {scalars.pointer, rowStep, columnStep, scalars.fold, scalars.place};
}

/// What an expansion's numbers are numbers of, as the dot function has them.
static Along alongOf(int64_t axis, bool rows) { return (axis == 1) == rows ? Along::Columns : Along::Rows; }

/// Adds what a dot fetches; `idle` is a place for steps that have nothing to fetch.
static void appendFetches(KernelState &state, tile::DotOp dot, DotShape &shape, SmallVectorImpl<Value> &arguments, Value idle) {
  for (Operation *access : state.fetches.lookup(dot)) {
    FetchPlace next = fetchPlace(state, dot, access, idle);
    FetchShape &fetch = shape.fetches.emplace_back(nextShape(access));
    fetch.near = isShallow(shape.inner) && fetch.bytes() <= nearBytes;
    arguments.append({next.base, next.rowBytes, next.first});
  }
}

void cpu::emitDot(KernelState &state, tile::DotOp dot) {
  Emit &emit = state.emit;
  ++state.dots;
  Order order = orderOf(dot.getResult());
  if (std::optional<RunningSums> sums = runningSums(dot); sums && order == Order::Row)
    return emitRunningSums(state, dot, *sums);
  bool rows = order == Order::Column;
  OpOperand &scalarUse = dot->getOpOperand(rows ? 1 : 0), &vectorUse = dot->getOpOperand(rows ? 0 : 1);
  bool pairs = takesPairs(dot, emit.isa);
  auto [scalars, rowStep, columnStep, scalarFold, scalarPlace] =
      pairs ? requirePairs(state, scalarUse) : requireScalars(state, scalarUse);
  Buffer vectors = pairs ? requireVectorPairs(state, vectorUse) : state.require(vectorUse.get(), orderOfUse(vectorUse));
  std::optional<ScaledAccumulator> scaled = scaledAccumulator(dot);
  std::optional<ScaledStore> stored = scaledStore(dot, emit.lanes());
  std::optional<SumInMemory> inMemory = sumInMemory(dot, emit.lanes());
  std::optional<MultipliedResult> multiplied = multipliedResult(dot, emit.lanes());
  bool accumulates = !inMemory && splatValue(dot.getAcc()) != 0.0;
  tile::StoreOp store = stored ? stored->store : inMemory ? inMemory->store : plainStore(dot, emit.lanes());
  std::optional<MemoryAccess> access;
  Fold storeFold = store ? foldOf(store) : Fold();
  if (store)
    access.emplace(state, store);
  // What is stored needs no place of its own, but the accumulator's stride is that of a tile of the scratch.
  Buffer result = store
                      ? Buffer{access->buffer(emit, storeFold).pointer, state.strideOf(shapeOf(dot.getResult()), order)}
                      : state.destination(lastOf(dot, emit.lanes())->getResult(0), order);
  // One number for each row or column of the result is read as such.
  auto expand = accumulates ? dot.getAcc().getDefiningOp<tile::ExpandOp>() : tile::ExpandOp();
  bool spread = expand && !isFree(expand.getSource());
  Value added = scaled ? scaled->tile : spread ? expand.getSource() : dot.getAcc();
  Buffer accumulator = accumulates ? state.require(added, spread ? Order::Row : order) : result;
  Buffer factor = scaled ? state.require(scaled->scale, Order::Row) : result;
  auto known = [](Value value) { return Emit::known(value).value_or(-1); };
  DotShape shape{rows ? dot.getN() : dot.getM(),
                 rows ? dot.getM() : dot.getN(),
                 dot.getK(),
                 known(rowStep),
                 known(columnStep),
                 known(vectors.stride),
                 known(result.stride),
                 accumulates,
                 scaled ? alongOf(scaled->axis, rows) : Along::None,
                 spread ? alongOf(expand.getAxis(), rows) : Along::None,
                 rows,
                 resultDiagonal(dot),
                 operandDiagonal(dot),
                 static_cast<bool>(store),
                 store && access->rowsThatExist(),
                 stored.has_value(),
                 stored && stored->addend,
                 inMemory.has_value(),
                 multiplied.has_value(),
                 pairs,
                 scalarFold,
                 vectors.fold,
                 storeFold,
                 tailRows(state, dot),
                 pairs && takesTiles(dot, emit.isa)};
  if (shape.tiles)
    shape.tileRest = tileNames(dot->getParentOfType<tile::KernelOp>(), emit.isa)->rest;
  SmallVector<Value> arguments = {result.pointer, accumulator.pointer, scalars,        vectors.pointer,
                                  rowStep,        columnStep,          vectors.stride, factor.pointer};
  if (store)
    arguments.append({access->stride, shape.storesBelow ? access->rowsThatExist() : emit.constant(0), state.dumpRow(),
                      stored ? state.require(stored->scale, Order::Row).pointer : result.pointer});
  if (shape.storesSum)
    arguments.push_back(state.require(stored->addend, Order::Row).pointer);
  if (multiplied)
    arguments.push_back(state.require(multiplied->factor, order).pointer);
  FoldPlace storePlace = store ? access->placeOfFold(emit) : FoldPlace();
  for (auto [fold, place] : {std::pair(shape.scalarFold, scalarPlace), std::pair(shape.vectorFold, vectors.place),
                             std::pair(shape.storeFold, storePlace)})
    if (fold)
      arguments.append({place.first, place.jump});
  if (shape.tail) {
    Buffer rowsOfA = *state.find(dot.getA(), Order::Row);
    Value first = emit.mul(rowsOfA.stride, dot.getM() - shape.tail);
    arguments.append({emit.offset(rowsOfA.pointer, first, emit.getF32Type()), rowsOfA.stride});
  }
  appendFetches(state, dot, shape, arguments, result.pointer);
  LLVM::CallOp::create(emit, dotFunction(state, shape), arguments);
}

/// From one place to another, in numbers of 32 bits.
static Value distance(Emit &emit, Value from, Value to) {
  Type i64 = emit.getI64Type();
  Value bytes = emit.sub(LLVM::PtrToIntOp::create(emit, i64, to), LLVM::PtrToIntOp::create(emit, i64, from));
  return arith::ShRSIOp::create(emit, bytes, emit.constant(2));
}

void cpu::emitRows(KernelState &state, tile::DotOp first, tile::DotOp second) {
  Emit &emit = state.emit;
  state.dots += 2;
  ScalarOperand a = requireScalars(state, first->getOpOperand(0)), b = requireScalars(state, second->getOpOperand(0));
  OpOperand &vectorUse = first->getOpOperand(1);
  Buffer vectors = state.require(vectorUse.get(), orderOfUse(vectorUse));
  Buffer result = state.destination(first.getResult(), Order::Row), other = state.destination(second.getResult(), Order::Row);
  auto known = [](Value value) { return Emit::known(value).value_or(-1); };
  DotShape shape{};
  shape.rows = 2, shape.columns = first.getN(), shape.inner = first.getK();
  shape.rowStep = -1, shape.innerStep = known(a.innerStep), shape.vectorStep = known(vectors.stride), shape.resultStep = known(result.stride);
  shape.stores = true;
  shape.vectorFold = vectors.fold;
  SmallVector<Value> arguments = {result.pointer, result.pointer, a.pointer, vectors.pointer, distance(emit, a.pointer, b.pointer), a.innerStep, vectors.stride,
                                  result.pointer, distance(emit, result.pointer, other.pointer), emit.constant(0), state.dumpRow(), result.pointer};
  if (shape.vectorFold)
    arguments.append({vectors.place.first, vectors.place.jump});
  for (tile::DotOp dot : {first, second})
    appendFetches(state, dot, shape, arguments, result.pointer);
  LLVM::CallOp::create(emit, dotFunction(state, shape), arguments);
}
