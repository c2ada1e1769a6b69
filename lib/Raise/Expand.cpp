//===- Expand.cpp - What an op computes for one entry of its result --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune::raise;

TermRef Terms::readElement(TermRef element) {
  Operation *op = element->value.getDefiningOp();
  if (!op)
    return nullptr;
  auto result = cast<OpResult>(element->value);
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (!constant.isSplat() || constant.getNumElements() == 0)
      return nullptr;
    Attribute splat = constant.getSplatValue<Attribute>();
    if (auto number = dyn_cast<FloatAttr>(splat))
      return this->number(number.getValueAsDouble());
    auto integer = dyn_cast<IntegerAttr>(splat);
    return integer ? this->number(integer.getType().isInteger(1) ? integer.getValue().getBoolValue()
                                                                 : integer.getValue().getSExtValue())
                   : nullptr;
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return softmax->getNumResults() == 1 ? readSoftmax(softmax, element->at) : nullptr;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return readLinalg(linalgOp, result, element->at);
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1) {
    SmallVector<TermRef> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<TensorType>(operand.getType()) ? this->element(operand, element->at) : scalar(operand));
    return readOp(op, operands);
  }
  return readReshape(op, element->at);
}

/// exp(x − max x) / Σ exp(x − max x), which is what the op says.
TermRef Terms::readSoftmax(linalg::SoftmaxOp op, ArrayRef<AffineExpr> at) {
  int64_t dimension = op.getDimension(), size = cast<ShapedType>(op.getInput().getType()).getDimSize(dimension);
  auto inputAt = [&](unsigned index) {
    SmallVector<AffineExpr> places(at);
    places[dimension] = expr(index);
    return element(op.getInput(), places);
  };
  unsigned ofMaximum = newIndex(size), ofSum = newIndex(size);
  TermRef maximum = over(Kind::Maximum, {ofMaximum}, inputAt(ofMaximum));
  auto exponential = [&](TermRef x) { return apply(Function::Exp, {apply(Function::Subtract, {x, maximum})}); };
  TermRef sum = over(Kind::Sum, {ofSum}, exponential(inputAt(ofSum)));
  return apply(Function::Divide, {exponential(element(op.getInput(), at)), sum});
}

TermRef Terms::readLinalg(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> at) {
  if (!op.hasPureTensorSemantics())
    return nullptr;
  AffineMap map = op.getIndexingMapMatchingResult(result);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<AffineExpr> places(op.getNumLoops());
  for (auto [place, coordinate] : llvm::zip_equal(map.getResults(), at)) {
    if (auto dim = dyn_cast<AffineDimExpr>(place))
      places[dim.getPosition()] = coordinate;
    else if (!isa<AffineConstantExpr>(place))
      return nullptr;
  }
  SmallVector<unsigned> reduced;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < places.size(); ++loop) {
    if (places[loop])
      continue;
    if (iterators[loop] != utils::IteratorType::reduction && sizes[loop] != 1)
      return nullptr;
    unsigned index = newIndex(sizes[loop]);
    places[loop] = expr(index);
    if (iterators[loop] == utils::IteratorType::reduction)
      reduced.push_back(index);
  }
  return readReduction(op, result, at, places, reduced);
}

/// The operand of `combined` that is not the accumulator, and how they are combined.
static std::pair<Value, Kind> combinedWith(Value combined, Value accumulator) {
  Operation *op = combined.getDefiningOp();
  bool sum = isa_and_nonnull<arith::AddFOp>(op), maximum = isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(op);
  // Of truth values "or" is the maximum.
  maximum |= isa_and_nonnull<arith::OrIOp>(op) && accumulator.getType().isInteger(1);
  if ((!sum && !maximum) || (op->getOperand(0) == accumulator) == (op->getOperand(1) == accumulator))
    return {};
  return {op->getOperand(op->getOperand(0) == accumulator ? 1 : 0), sum ? Kind::Sum : Kind::Maximum};
}

TermRef Terms::readReduction(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> at, ArrayRef<AffineExpr> places,
                             ArrayRef<unsigned> reduced) {
  Block *body = op.getBlock();
  DenseMap<Value, TermRef> known;
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.getOperandNumber() >= body->getNumArguments())
      return nullptr;
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> coordinates;
    for (AffineExpr expr : map.getResults())
      coordinates.push_back(expr.replaceDims(places));
    bool accumulator = op.isDpsInit(&operand) && !reduced.empty();
    if (accumulator)
      known[argument] = nullptr;
    else if (isa<TensorType>(operand.get().getType()))
      known[argument] = element(operand.get(), coordinates);
    else {
      DenseMap<Value, TermRef> outside;
      known[argument] = readScalar(operand.get(), nullptr, outside, {});
    }
  }
  Value yielded = body->getTerminator()->getOperand(result.getResultNumber());
  if (reduced.empty())
    return readScalar(yielded, body, known, places);
  auto [entry, kind] = combinedWith(yielded, op.getRegionOutputArgs()[result.getResultNumber()]);
  TermRef inside = entry ? readScalar(entry, body, known, places) : nullptr;
  if (!inside)
    return nullptr;
  TermRef all = over(kind, reduced, inside);
  TermRef initial = element(op.getDpsInits()[result.getResultNumber()], at);
  std::optional<double> start = constant(initial);
  bool ofTruth = yielded.getType().isInteger(1);
  bool neutral = start && (kind == Kind::Sum || ofTruth ? *start == 0 : *start <= -65504);
  return neutral ? all : apply(kind == Kind::Sum ? Function::Add : Function::Max, {initial, all});
}

/// An index over all of `sizes` is one index over each of them from now on.
static void splitIndex(Terms &terms, unsigned index, ArrayRef<int64_t> sizes) {
  int64_t total = 1;
  for (int64_t size : sizes)
    total = ShapedType::isDynamic(size) || ShapedType::isDynamic(total) ? ShapedType::kDynamic : total * size;
  if (total != terms.extent(index))
    return;
  while (sizes.size() > 1) {
    bool rest = llvm::any_of(sizes.drop_back(), [](int64_t size) { return size != 1; });
    if (rest && sizes.back() != 1)
      index = terms.split(index, sizes.back()).first;
    sizes = sizes.drop_back();
  }
}

/// The coordinates before a collapse of dimensions of `sizes` into one.
static bool splitCoordinate(Terms &terms, AffineExpr place, ArrayRef<int64_t> sizes, SmallVectorImpl<AffineExpr> &at) {
  if (llvm::is_contained(sizes.drop_front(), ShapedType::kDynamic))
    return false;
  if (auto dim = dyn_cast<AffineDimExpr>(terms.simplify(place)))
    splitIndex(terms, dim.getPosition(), sizes);
  place = terms.simplify(place);
  int64_t stride = 1;
  SmallVector<AffineExpr> reversed;
  for (size_t part = sizes.size(); part-- > 1; stride *= sizes[part])
    reversed.push_back(terms.simplify(terms.simplify(place.floorDiv(stride)) % sizes[part]));
  reversed.push_back(terms.simplify(place.floorDiv(stride)));
  at.append(reversed.rbegin(), reversed.rend());
  return true;
}

TermRef Terms::readReshape(Operation *op, ArrayRef<AffineExpr> at) {
  SmallVector<AffineExpr> places;
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) ? element(cast.getSource(), at) : nullptr;
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    DenseMap<Value, TermRef> known;
    return readScalar(splat.getInput(), nullptr, known, {});
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (ReassociationIndices group : expand.getReassociationIndices()) {
      AffineExpr place = getAffineConstantExpr(0, context);
      for (int64_t dim : group) {
        if (dim != group.front() && ShapedType::isDynamic(shape[dim]))
          return nullptr;
        place = dim == group.front() ? at[dim] : place * shape[dim] + at[dim];
      }
      places.push_back(place);
    }
    return element(expand.getSrc(), places);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    for (auto [group, place] : llvm::zip_equal(collapse.getReassociationIndices(), at))
      if (!splitCoordinate(*this, place, shape.slice(group.front(), group.size()), places))
        return nullptr;
    // A scalar tensor made of unit dimensions has no coordinates to split.
    places.resize(shape.size(), getAffineConstantExpr(0, context));
    return element(collapse.getSrc(), places);
  }
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || slice.getSourceType().getRank() != slice.getResultType().getRank())
    return nullptr;
  for (auto [place, offset, stride] : llvm::zip_equal(at, slice.getStaticOffsets(), slice.getStaticStrides())) {
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
      return nullptr;
    places.push_back(place * stride + offset);
  }
  return element(slice.getSource(), places);
}
