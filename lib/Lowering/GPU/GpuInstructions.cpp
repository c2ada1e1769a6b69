//===- GpuInstructions.cpp - What ops on tiles with layouts become ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IssuedCounts.h"
#include "Places.h"
#include "ProductShape.h"

#include "attune/Lowering/GPU/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;
using cost::Issued;
using cost::Requests;
using tile::Counted;
using tile::OpCount;

static Attribute layoutOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getEncoding(); }

static double warpsOf(Operation *op) {
  return static_cast<double>(op->getParentOfType<tile::KernelOp>().getSchedule()->getWarps());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ProductShape::ProductShape(tile::DotOp dot) : element(cast<RankedTensorType>(dot.getA().getType()).getElementType()) {
  auto type = cast<RankedTensorType>(dot.getType());
  tile::FragmentLayout sums(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape());
  rowBlocks = sums.rowBlocks(), columnBlocks = sums.columnBlocks();
  kBlocks = static_cast<int64_t>(llvm::divideCeil(dot.getK(), tile::blockSize));
  isSplit = element.isF32() && dot.getPrecision().value_or(tile::Precision::F32) == tile::Precision::F32;
  isBNarrow = isa_and_present<arith::ExtFOp>(dot.getB().getDefiningOp());
}

int64_t ProductShape::multiplyAdds() const {
  constexpr int64_t block = tile::fragmentRows * tile::blockSize;
  int64_t depth = isTf32() ? kBlocks * tile::blockSize * passes() : static_cast<int64_t>(llvm::divideCeil(kBlocks, 2)) * 2 * tile::blockSize;
  return rowBlocks * columnBlocks * block * depth;
}

/// An index that no size decides; the only step of a loop is its first.
static std::optional<int64_t> known(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<tile::LoopOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    std::optional<int64_t> lower = known(loop.getLower()), upper = known(loop.getUpper());
    return lower && upper && *upper - *lower <= static_cast<int64_t>(loop.getStep()) ? lower : std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto memory = dyn_cast<MemRefType>(dim.getSource().getType());
    std::optional<int64_t> dimension = dim.getConstantIndex();
    bool isStatic = memory && dimension && !memory.isDynamicDim(*dimension);
    return isStatic ? std::optional(memory.getDimSize(*dimension)) : std::nullopt;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> value = operand.getType().isIndex() ? known(operand) : std::nullopt;
    if (!value)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *value));
  }
  SmallVector<OpFoldResult> folded;
  if (operands.empty() || failed(op->fold(operands, folded)) || folded.empty())
    return std::nullopt;
  auto same = dyn_cast<Value>(folded.front()); // an operand
  return same ? known(same) : getConstantIntValue(folded.front());
}

/// Columns of a tile that are read: nobody makes those that a mask replaces whatever the sizes are.
static int64_t columnsRead(Value tile) {
  int64_t all = cast<RankedTensorType>(tile.getType()).getDimSize(1), most = 0;
  for (Operation *user : tile.getUsers()) {
    auto mask = dyn_cast<tile::MaskOp>(user);
    std::optional<int64_t> columns = mask && mask.getCols() ? known(mask.getCols()) : std::nullopt;
    if (!columns && user->hasTrait<OpTrait::Elementwise>())
      columns = columnsRead(user->getResult(0));
    most = std::max(most, columns.value_or(all));
  }
  return std::min(most, all);
}

static OpCount productsOf(tile::DotOp dot) {
  ProductShape shape(dot);
  // Each column of warps has whole blocks from the first on.
  shape.columnBlocks = std::min(shape.columnBlocks, static_cast<int64_t>(llvm::divideCeil(columnsRead(dot), tile::blockSize)));
  Counted operands = shape.isTf32() ? Counted::MacsTF32 : shape.element.isF16() ? Counted::MacsF16 : Counted::MacsBF16;
  return OpCount::of(operands, warpsOf(dot) * static_cast<double>(shape.multiplyAdds()));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// How many warps hold the same elements.
static double copiesOf(tile::SliceAttr slice) {
  tile::WarpGrid warps = slice.getWarps();
  return static_cast<double>(slice.getAxis() == 1 ? warps.columns : warps.rows);
}

/// What each warp reads of a table.
static OpCount tableCount(arith::ConstantOp constant) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  auto slice = type ? dyn_cast_or_null<tile::SliceAttr>(type.getEncoding()) : tile::SliceAttr();
  if (!slice || tile::splatValue(constant))
    return {};
  auto elements = static_cast<double>(tableElements({slice, type.getDimSize(0)}));
  return OpCount::of(Counted::BytesLoaded, copiesOf(slice) * elements * type.getElementTypeBitWidth() / 8);
}

/// Of what goes between memory and registers. One column is moved element by element.
static Requests requestsOfRows(Value tile, bool stores) {
  auto type = cast<RankedTensorType>(tile.getType());
  tile::FragmentLayout layout(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if ((layout.columns == 1 && !stores) || (bytes != 2 && bytes != 4))
    return {};
  return {1, pieceBytes, /*onlyWholePieces=*/true, static_cast<double>(exchangesInPieces(layout, bytes))};
}

Requests GpuInstructions::requestsFor(Operation *op) const {
  auto load = dyn_cast<tile::LoadOp>(op);
  Value tile = load ? load.getResult() : cast<tile::StoreOp>(op).getValue();
  if (isa<tile::SharedAttr>(layoutOf(tile)))
    return {1, pieceBytes, /*onlyWholePieces=*/false, 0};
  if (auto slice = dyn_cast<tile::SliceAttr>(layoutOf(tile))) // of the warps that hold the same each loads, and one stores
    return {load ? copiesOf(slice) : 1};
  Requests requests = requestsOfRows(tile, !load);
  requests.shufflesInPieces *= warpsOf(op);
  return requests;
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

/// A word of a counter is exchanged by one thread, twice unless it comes first: Arrive.cpp.
static OpCount arrivalCount() {
  constexpr double wordBytes = 8;
  OpCount count = OpCount::of(Counted::BytesLoaded, wordBytes);
  count.add(OpCount::of(Counted::BytesStored, wordBytes));
  return count;
}

bool GpuInstructions::knows(Operation *op) const { return isa<tile::ConvertLayoutOp, tile::ArriveOp>(op); }

Issued GpuInstructions::issuedFor(Operation *op) const {
  Issued issued = Instructions::issuedFor(op);
  if (int64_t operations = operationsOf(op)) {
    auto elements = static_cast<double>(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
    return {OpCount::of(Counted::Elementwise, elements * static_cast<double>(operations)), 0};
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tile::DotOp dot) { issued.count = productsOf(dot); })
      .Case([&](memref::LoadOp load) { // a length, which every warp reads
        issued.count = OpCount::of(Counted::BytesLoaded, warpsOf(op) * load.getMemRefType().getElementTypeBitWidth() / 8);
      })
      .Case([&](arith::ConstantOp constant) { issued.count = tableCount(constant); })
      .Case([&](tile::ArriveOp) { issued.count = arrivalCount(); })
      .Case<tile::ReduceOp, tile::PermuteColumnsOp>(
          [&](auto exchanging) { issued.shuffles = warpsOf(op) * static_cast<double>(exchangesOf(exchanging)); });
  return issued;
}
