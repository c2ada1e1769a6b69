//===- TileVerify.cpp - Verifiers of the tile dialect -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace attune::tile;

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

bool attune::tile::isTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 1 || tensor.getRank() > 2)
    return false;
  Type element = tensor.getElementType();
  return llvm::all_of(tensor.getShape(), [](int64_t size) { return size > 0; }) &&
         (element.isF32() || element.isF16() || element.isBF16() || element.isInteger(32) || element.isInteger(1));
}

bool attune::tile::isMemory(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory || memory.getRank() < 1)
    return false;
  Type element = memory.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isInteger(32))
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(memory.getStridesAndOffset(strides, offset)) && offset == 0 && strides.back() == 1;
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, TargetKind target, int64_t queryTile,
                                   int64_t keyTile, int64_t piece, Type operand, int64_t warps, int64_t stages,
                                   int64_t warpColumns, int64_t parts, int64_t featureTile, int64_t valueTile) {
  // No stages: of what every step of a loop reads, nothing is kept.
  bool noStages = stages == 0 && target == TargetKind::GPU;
  if (queryTile < 1 || keyTile < 1 || piece < 1 || warps < 1 || (stages < 1 && !noStages))
    return emitError() << "expected positive tile sizes, piece, warps and stages";
  if (warpColumns < 1 || warps % warpColumns != 0)
    return emitError() << "expected warp_columns to divide " << warps << " warps, but got " << warpColumns;
  if (parts < 1)
    return emitError() << "expected at least 1 part, but got parts = " << parts;
  if (featureTile < 0 || valueTile < 0 || (featureTile == 0) != (valueTile == 0))
    return emitError() << "expected feature_tile and value_tile both positive or both left out, but got " << featureTile
                       << " and " << valueTile;
  if (piece % keyTile != 0)
    return emitError() << "expected a piece of whole key tiles, but got piece = " << piece
                       << " with key_tile = " << keyTile;
  if (!operand.isF32() && !operand.isF16() && !operand.isBF16())
    return emitError() << "expected operand f32, f16 or bf16, but got " << operand;
  return success();
}

ScheduleAttr ScheduleAttr::withTiles(int64_t queries, int64_t keys) const {
  return get(getContext(), getTarget(), queries, keys, getPiece(), getOperand(), getWarps(), getStages(), getWarpColumns(), getParts(), getFeatureTile(),
             getValueTile());
}

ScheduleAttr ScheduleAttr::withWarps(int64_t warps, int64_t columns) const {
  return get(getContext(), getTarget(), getQueryTile(), getKeyTile(), getPiece(), getOperand(), warps, getStages(), columns, getParts(),
             getFeatureTile(), getValueTile());
}

ScheduleAttr ScheduleAttr::withPiece(int64_t piece) const {
  return get(getContext(), getTarget(), getQueryTile(), getKeyTile(), piece, getOperand(), getWarps(), getStages(), getWarpColumns(), getParts(),
             getFeatureTile(), getValueTile());
}

ScheduleAttr ScheduleAttr::withParts(int64_t parts) const {
  return get(getContext(), getTarget(), getQueryTile(), getKeyTile(), getPiece(), getOperand(), getWarps(), getStages(),
             getWarpColumns(), parts, getFeatureTile(), getValueTile());
}

ScheduleAttr ScheduleAttr::withSlices(int64_t features, int64_t values) const {
  return get(getContext(), getTarget(), getQueryTile(), getKeyTile(), getPiece(), getOperand(), getWarps(), getStages(),
             getWarpColumns(), getParts(), features, values);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, MemRefType memory, RankedTensorType tile, size_t indices) {
  if (static_cast<int64_t>(indices) != memory.getRank())
    return op->emitOpError() << "expected an index for each of " << memory.getRank() << " dimensions, but got "
                             << indices;
  if (tile.getRank() > memory.getRank())
    return op->emitOpError() << "expected a tile of rank at most " << memory.getRank() << ", but got " << tile.getRank();
  if (tile.getElementType() != memory.getElementType())
    return op->emitOpError() << "expected elements of " << memory.getElementType() << ", but got "
                             << tile.getElementType();
  return success();
}

/// Constraints of a window's rows.
template <typename Access> static LogicalResult verifyFold(Access op, RankedTensorType tile) {
  if (bool(op.getFold()) != bool(op.getColumns()) || bool(op.getFold()) != bool(op.getStride()))
    return op.emitOpError() << "expected fold, columns and stride together";
  if (!op.getFold())
    return success();
  if (tile.getRank() != 2)
    return op.emitOpError() << "expected a fold of a tile of rank 2, but got rank " << tile.getRank();
  if (*op.getColumns() < 1 || *op.getStride() < *op.getColumns())
    return op.emitOpError() << "expected a window of at least 1 and at most " << *op.getStride()
                            << " columns, as many as its image has, but got " << *op.getColumns();
  return success();
}

LogicalResult LoadOp::verify() {
  RankedTensorType tile = getResult().getType();
  return failed(verifyAccess(*this, cast<MemRefType>(getSource().getType()), tile, getIndices().size()))
             ? failure()
             : verifyFold(*this, tile);
}

LogicalResult StoreOp::verify() {
  RankedTensorType tile = getValue().getType();
  return failed(verifyAccess(*this, cast<MemRefType>(getTarget().getType()), tile, getIndices().size()))
             ? failure()
             : verifyFold(*this, tile);
}

int64_t DotOp::getM() { return cast<RankedTensorType>(getResult().getType()).getShape()[0]; }
int64_t DotOp::getN() { return cast<RankedTensorType>(getResult().getType()).getShape()[1]; }
int64_t DotOp::getK() { return cast<RankedTensorType>(getA().getType()).getShape()[getTransposeA() ? 0 : 1]; }

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (a.getRank() != 2 || b.getRank() != 2 || result.getRank() != 2)
    return emitOpError() << "expected operands of rank 2";
  if (a.getElementType() != b.getElementType() || !isa<FloatType>(a.getElementType()))
    return emitOpError() << "expected operands of one floating-point type, but got " << a.getElementType() << " and "
                         << b.getElementType();
  if (getPrecision() && !a.getElementType().isF32())
    return emitOpError() << "expected a precision only with operands of f32, but got " << a.getElementType();
  int64_t rows = a.getShape()[getTransposeA() ? 1 : 0], columns = b.getShape()[getTransposeB() ? 0 : 1];
  int64_t inner = b.getShape()[getTransposeB() ? 1 : 0];
  if (getK() != inner)
    return emitOpError() << "expected the inner sizes to agree, but got " << getK() << " and " << inner;
  if (getM() != rows || getN() != columns)
    return emitOpError() << "expected a result of " << rows << "x" << columns << ", but got " << getM() << "x"
                         << getN();
  return success();
}

LogicalResult ReduceOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), result = cast<RankedTensorType>(getResult().getType());
  int64_t axis = getAxis();
  if (source.getRank() != 2 || axis < 0 || axis > 1)
    return emitOpError() << "expected a source of rank 2 and axis 0 or 1";
  if (result.getRank() != 1 || result.getShape()[0] != source.getShape()[1 - axis])
    return emitOpError() << "expected a result of " << source.getShape()[1 - axis] << " elements, but got " << result;
  return success();
}

LogicalResult ExpandOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), result = cast<RankedTensorType>(getResult().getType());
  int64_t axis = getAxis();
  if (source.getRank() != 1 || result.getRank() != 2 || axis < 0 || axis > 1)
    return emitOpError() << "expected a source of rank 1, a result of rank 2 and axis 0 or 1";
  if (source.getElementType() != result.getElementType() || source.getShape()[0] != result.getShape()[1 - axis])
    return emitOpError() << "expected a source of " << result.getShape()[1 - axis] << " elements of "
                         << result.getElementType() << ", but got " << source;
  return success();
}

LogicalResult IotaOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (result.getRank() != 1 || (!result.getElementType().isF32() && !result.getElementType().isInteger(32)))
    return emitOpError() << "expected a result of rank 1 of f32 or i32, but got " << result;
  return success();
}

LogicalResult PermuteColumnsOp::verify() {
  int64_t columns = cast<RankedTensorType>(getSource().getType()).getShape().back();
  if (static_cast<int64_t>(getPermutation().size()) != columns)
    return emitOpError() << "expected a permutation of " << columns << " columns, but got one of "
                         << getPermutation().size();
  SmallVector<bool> seen(columns);
  for (int64_t column : getPermutation()) {
    if (column < 0 || column >= columns || seen[column])
      return emitOpError() << "expected each column from 0 to " << columns - 1 << " once, but got " << column
                           << (column < 0 || column >= columns ? "" : " twice");
    seen[column] = true;
  }
  return success();
}

LogicalResult MaskOp::verify() {
  if (!getRows() && !getCols() && !getDiagonal())
    return emitOpError() << "expected at least one of rows, cols and diagonal";
  if (cast<RankedTensorType>(getSource().getType()).getRank() == 1 && (getCols() || getDiagonal()))
    return emitOpError() << "expected only rows on a tile of rank 1";
  return success();
}

LogicalResult LoopOp::verify() {
  if (getStep() < 1)
    return emitOpError() << "expected a positive step, but got " << getStep();
  if (!llvm::equal(getInitArgs().getTypes(), getResultTypes()))
    return emitOpError() << "expected the results to have the types of the carried tiles";
  for (Type type : getInitArgs().getTypes())
    if (!cast<RankedTensorType>(type).getElementType().isF32())
      return emitOpError() << "expected carried tiles of f32, but got " << type;
  return getCarry().verifyState(getInitArgs().getTypes(), [this] { return emitOpError(); });
}

LogicalResult LoopOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInitArgs().size() + 1 || !block.getArgument(0).getType().isIndex() ||
      !llvm::equal(TypeRange(getCarried()), getInitArgs().getTypes()))
    return emitOpError() << "expected the body to take an index and the carried tiles";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || !llvm::equal(yield.getValues().getTypes(), getInitArgs().getTypes()))
    return emitOpError() << "expected the body to yield the carried tiles";
  return success();
}

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty())
    return emitOpError() << "expected no results";
  if (getGrid().empty() || getGrid().size() > 3)
    return emitOpError() << "expected one to three grid axes, but got " << getGrid().size();
  for (unsigned i = 0; i < getGrid().size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (getGrid()[i] == getGrid()[j])
        return emitOpError() << "expected distinct grid axes, but got " << getGrid()[i] << " twice";
  for (Type type : getArgumentTypes())
    if (!isMemory(type) && !type.isIndex() && !type.isInteger(64) && !type.isF32())
      return emitOpError() << "expected memory, index, i64 or f32 arguments, but got " << type;
  return success();
}

LogicalResult ProgramIdOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError() << "expected to be inside a tile.kernel";
  if (!kernel.getGridPosition(getAxis()))
    return emitOpError() << "expected a grid with axis " << stringifyAxis(getAxis());
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel)
    return emitOpError() << "expected a tile.kernel named " << getCalleeAttr();
  if (kernel.getGrid().size() != getGrid().size())
    return emitOpError() << "expected " << kernel.getGrid().size() << " grid sizes, but got " << getGrid().size();
  if (!llvm::equal(kernel.getArgumentTypes(), getArguments().getTypes()))
    return emitOpError() << "expected operands of the kernel's argument types";
  return success();
}

LogicalResult EitherOp::verify() {
  auto given = cast<MemRefType>(getGiven().getType()), other = cast<MemRefType>(getOther().getType());
  if (given.getShape() != other.getShape() || given.getElementType() != other.getElementType())
    return emitOpError() << "expected memories of one shape and type of elements, but got " << given << " and " << other;
  return success();
}

LogicalResult GroupHeadsOp::verify() {
  MemRefType source = getSource().getType(), result = getResult().getType();
  if (source.getRank() != 4 || result.getRank() != 4 || source.getElementType() != result.getElementType() || source.getDimSize(0) != result.getDimSize(0) ||
      source.getDimSize(3) != result.getDimSize(3))
    return emitOpError() << "expected memories of rank 4 with one type of elements, batch and columns, but got " << source << " and " << result;
  int64_t heads = source.getDimSize(1), groups = result.getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(groups) || groups < 1 || heads % groups != 0)
    return emitOpError() << "expected a number of heads that divides those of the source, but got " << result << " of " << source;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!result.isDynamicDim(2) || failed(result.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return emitOpError() << "expected rows that are not known, of adjacent elements, but got " << result;
  return success();
}

LogicalResult WorkspaceOp::verify() {
  auto memory = cast<MemRefType>(getResult().getType());
  if (!memory.getLayout().isIdentity())
    return emitOpError() << "expected a row-major memref, but got " << memory;
  if (static_cast<size_t>(memory.getNumDynamicDims()) != getSizes().size())
    return emitOpError() << "expected a size for each of " << memory.getNumDynamicDims()
                         << " dynamic dimensions, but got " << getSizes().size();
  return success();
}
