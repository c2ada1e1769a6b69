//===- TileBuilder.cpp - Short names for building kernels -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/TileBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune::tile;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value TileBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value TileBuilder::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value TileBuilder::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value TileBuilder::mul(Value a, int64_t b) { return arith::MulIOp::create(builder, loc, a, index(b)); }
Value TileBuilder::div(Value a, int64_t b) {
  return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, index(b)).getResult();
}
Value TileBuilder::ceilDiv(Value a, int64_t b) { return builder.createOrFold<arith::CeilDivUIOp>(loc, a, index(b)); }
Value TileBuilder::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value TileBuilder::max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
Value TileBuilder::roundDown(Value a, int64_t b) {
  return mul(arith::DivUIOp::create(builder, loc, max(a, index(0)), index(b)), b);
}
Value TileBuilder::dim(Value memory, unsigned position) {
  return builder.createOrFold<memref::DimOp>(loc, memory, static_cast<int64_t>(position));
}
Value TileBuilder::programId(Axis axis) {
  return ProgramIdOp::create(builder, loc, builder.getIndexType(), AxisAttr::get(builder.getContext(), axis));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> TileBuilder::shape(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }
Type TileBuilder::element(Value tile) { return mlir::cast<ShapedType>(tile.getType()).getElementType(); }

Value TileBuilder::constant(ArrayRef<int64_t> shape, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   constantTile(RankedTensorType::get(shape, builder.getF32Type()), value));
}

Value TileBuilder::table(ArrayRef<float> elements) {
  auto type = RankedTensorType::get(elements.size(), builder.getF32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, elements));
}

Value TileBuilder::load(Value memory, ValueRange indices, ArrayRef<int64_t> shape, Value rows) {
  return LoadOp::create(builder, loc, RankedTensorType::get(shape, element(memory)), memory, indices, rows);
}

void TileBuilder::store(Value tile, Value memory, ValueRange indices, Value rows) {
  StoreOp::create(builder, loc, cast(tile, element(memory)), memory, indices, rows);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value TileBuilder::cast(Value tile, Type to) {
  Type from = element(tile);
  if (from == to)
    return tile;
  auto type = RankedTensorType::get(shape(tile), to);
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, tile);
  return arith::TruncFOp::create(builder, loc, type, tile);
}

Value TileBuilder::dot(Value a, Value b, Value acc, bool transposeA, bool transposeB) {
  return DotOp::create(builder, loc, acc.getType(), a, b, acc, transposeA, transposeB);
}
Value TileBuilder::exactDot(Value a, Value b, Value acc, bool transposeA, bool transposeB) {
  auto product = DotOp::create(builder, loc, acc.getType(), a, b, acc, transposeA, transposeB);
  product.setPrecision(Precision::F32);
  return product;
}
Value TileBuilder::plus(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value TileBuilder::minus(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value TileBuilder::times(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value TileBuilder::over(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value TileBuilder::maximum(Value a, Value b) { return arith::MaximumFOp::create(builder, loc, a, b); }
Value TileBuilder::minimum(Value a, Value b) { return arith::MinimumFOp::create(builder, loc, a, b); }
Value TileBuilder::exp2(Value a) { return math::Exp2Op::create(builder, loc, a); }
Value TileBuilder::log2(Value a) { return math::Log2Op::create(builder, loc, a); }

Value TileBuilder::selectEqual(Value a, double value, Value then, Value otherwise) {
  Value equal =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, constant(shape(a), value));
  return arith::SelectOp::create(builder, loc, equal, then, otherwise);
}

static Value reduce(TileBuilder &tiles, ReduceKind kind, Value tile, int64_t axis) {
  auto type = RankedTensorType::get({tiles.shape(tile)[1 - axis]}, tiles.element(tile));
  return ReduceOp::create(tiles.builder, tiles.loc, type, kind, tile, axis);
}
Value TileBuilder::reduceAdd(Value tile, int64_t axis) { return reduce(*this, ReduceKind::Add, tile, axis); }
Value TileBuilder::reduceMax(Value tile, int64_t axis) { return reduce(*this, ReduceKind::Max, tile, axis); }

Value TileBuilder::expand(Value tile, int64_t axis, ArrayRef<int64_t> shape) {
  return ExpandOp::create(builder, loc, RankedTensorType::get(shape, element(tile)), tile, axis);
}

CarryAttrInterface TileBuilder::sums() { return SumAttr::get(builder.getContext()); }
CarryAttrInterface TileBuilder::maxima() { return MaximumAttr::get(builder.getContext()); }
CarryAttrInterface TileBuilder::rescaledSums(int64_t power, Unit unit) {
  return RescaledSumAttr::get(builder.getContext(), power, unit);
}

Value TileBuilder::mask(Value tile, double fill, Value rows, Value cols, Value diagonal) {
  if (!rows && !cols && !diagonal)
    return tile;
  return MaskOp::create(builder, loc, tile.getType(), tile, builder.getF32FloatAttr(static_cast<float>(fill)), rows,
                        cols, diagonal);
}

//===----------------------------------------------------------------------===//
// Windows, places, columns
//===----------------------------------------------------------------------===//

static IntegerAttr sizeOrNone(OpBuilder &builder, const TileBuilder::Rows &rows, int64_t size) {
  return rows.first ? builder.getI64IntegerAttr(size) : IntegerAttr();
}

Value TileBuilder::load(Value memory, ValueRange indices, ArrayRef<int64_t> shape, const Rows &rows) {
  auto type = RankedTensorType::get(shape, element(memory));
  return LoadOp::create(builder, loc, type, memory, indices, rows.lower, rows.limit, rows.first,
                        sizeOrNone(builder, rows, rows.columns), sizeOrNone(builder, rows, rows.stride));
}

void TileBuilder::store(Value tile, Value memory, ValueRange indices, const Rows &rows) {
  StoreOp::create(builder, loc, cast(tile, element(memory)), memory, indices, rows.lower, rows.limit, rows.first,
                  sizeOrNone(builder, rows, rows.columns), sizeOrNone(builder, rows, rows.stride));
}

Value TileBuilder::iota(Value base, int64_t count) {
  return IotaOp::create(builder, loc, RankedTensorType::get({count}, builder.getF32Type()), base);
}
Value TileBuilder::iotaIntegers(Value base, int64_t count) {
  return IotaOp::create(builder, loc, RankedTensorType::get({count}, builder.getI32Type()), base);
}

Value TileBuilder::permuteColumns(Value tile, ArrayRef<int64_t> order) {
  return PermuteColumnsOp::create(builder, loc, tile, order);
}

Value TileBuilder::swapPairs(Value tile) {
  int64_t width = shape(tile).back();
  SmallVector<int64_t> order;
  for (int64_t column = 0; column < width; ++column)
    order.push_back(std::min(column ^ 1, width - 1));
  return permuteColumns(tile, order);
}

Value TileBuilder::swapHalves(Value tile) {
  int64_t width = shape(tile).back();
  SmallVector<int64_t> order;
  for (int64_t column = 0; column < width; ++column)
    order.push_back((column + width / 2) % width);
  return permuteColumns(tile, order);
}
