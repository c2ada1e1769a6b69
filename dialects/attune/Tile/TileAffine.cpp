//===- TileAffine.cpp - Carries that decay or are erased ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LinearPart.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

static ArrayRef<int64_t> shapeOf(Type tile) { return cast<RankedTensorType>(tile).getShape(); }

LogicalResult AffineAttr::verifyState(TypeRange types, function_ref<InFlightDiagnostic()> emitError) const {
  if (types.empty() || shapeOf(types[0]).size() != 2)
    return emitError() << "expected " << *this << " to carry a tile of rank 2 first, but got " << types;
  int64_t rows = shapeOf(types[0])[0];
  for (Type type : types)
    if (shapeOf(type)[0] != rows)
      return emitError() << "expected " << *this << " to carry tiles of " << rows << " rows, but got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Transitions
//===----------------------------------------------------------------------===//

/// [m, m] or [m, 1].
static RankedTensorType transitionType(AffineAttr carry, TypeRange state) {
  int64_t rows = shapeOf(state[0])[0];
  return RankedTensorType::get({rows, carry.getTransition() == Transition::Matrix ? rows : 1},
                               cast<RankedTensorType>(state[0]).getElementType());
}

/// The transition that leaves a state alone: I [m, m], or ones [m, 1].
static Value identityTransition(TileBuilder &tiles, RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  Value one = tiles.constant(shape, 1);
  if (shape[1] == 1)
    return one;
  Value numbers = tiles.iota(tiles.index(0), shape[0]); // [m]
  Value rows = tiles.expand(numbers, 1, shape), columns = tiles.expand(numbers, 0, shape);
  Value diagonal = tiles.compare(arith::CmpFPredicate::OEQ, rows, columns);
  return tiles.select(diagonal, one, tiles.constant(shape, 0));
}

/// A x + b, of tiles with m rows.
static Value act(TileBuilder &tiles, Transition kind, Value a, Value x, Value b) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  if (kind == Transition::Matrix && shape.size() == 2)
    return tiles.exactDot(a, x, b);
  if (kind == Transition::Matrix)
    return tiles.plus(tiles.reduceAdd(tiles.times(a, tiles.expand(x, 0, tiles.shape(a))), 1), b);
  Value factors = tiles.reduceAdd(a, 1); // [m]
  return tiles.plus(tiles.times(shape.size() == 2 ? tiles.expand(factors, 1, shape) : factors, x), b);
}

//===----------------------------------------------------------------------===//
// #tile.affine
//===----------------------------------------------------------------------===//

SmallVector<Value> AffineAttr::buildIdentityState(OpBuilder &builder, Location loc, TypeRange types) const {
  TileBuilder tiles(builder, loc);
  return llvm::map_to_vector(types, [&](Type type) { return tiles.constant(shapeOf(type), 0); });
}

SmallVector<Type> AffineAttr::getSpanTypes(TypeRange types) const {
  SmallVector<Type> span{transitionType(*this, types)};
  llvm::append_range(span, types);
  return span;
}

SmallVector<Value> AffineAttr::buildIdentitySpan(OpBuilder &builder, Location loc, TypeRange types) const {
  TileBuilder tiles(builder, loc);
  SmallVector<Value> span{identityTransition(tiles, transitionType(*this, types))};
  llvm::append_range(span, buildIdentityState(builder, loc, types));
  return span;
}

SmallVector<Value> AffineAttr::buildApply(OpBuilder &builder, Location loc, ValueRange span, ValueRange state) const {
  TileBuilder tiles(builder, loc);
  return llvm::map_to_vector(llvm::zip_equal(state, span.drop_front()), [&](auto pair) {
    return act(tiles, getTransition(), span[0], std::get<0>(pair), std::get<1>(pair));
  });
}

SmallVector<Value> AffineAttr::buildCompose(OpBuilder &builder, Location loc, ValueRange earlier,
                                            ValueRange later) const {
  TileBuilder tiles(builder, loc);
  Value nothing = tiles.constant(tiles.shape(earlier[0]), 0);
  SmallVector<Value> span{act(tiles, getTransition(), later[0], earlier[0], nothing)};
  llvm::append_range(span, buildApply(builder, loc, later, earlier.drop_front()));
  return span;
}

/// The body of `loop` on (X, S, z, …): what it does to the columns X beside what it does.
static LogicalResult buildSpanBody(OpBuilder &builder, LoopOp loop, LoopOp span) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArguments(), llvm::to_vector(llvm::concat<Value>(
      ValueRange(span.getInductionVar()), ValueRange(span.getCarried().drop_front()))));
  builder.setInsertionPointToEnd(&span.getBody().front());
  for (Operation &op : loop.getBody().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> next;
  for (Value value : loop.getYield()->getOperands())
    next.push_back(mapping.lookupOrDefault(value));
  FailureOr<Value> columns = LinearPart(builder, span, span.getCarried()[1], span.getCarried()[0]).of(next[0]);
  if (failed(columns))
    return failure();
  next.insert(next.begin(), *columns);
  YieldOp::create(builder, loop.getLoc(), next);
  return success();
}

FailureOr<SmallVector<Value>> AffineAttr::buildSpan(OpBuilder &builder, Operation *op, Value lower, Value upper) const {
  auto loop = cast<LoopOp>(op);
  SmallVector<Value> inits = buildIdentitySpan(builder, loop.getLoc(), loop.getResultTypes());
  auto span = LoopOp::create(builder, loop.getLoc(), *this, lower, upper, loop.getStep(), inits, /*body=*/nullptr,
                             loop.getReverse());
  OpBuilder::InsertionGuard guard(builder);
  if (failed(buildSpanBody(builder, loop, span))) {
    span.erase();
    return failure();
  }
  return SmallVector<Value>(span.getResults());
}
