//===- CostModels.cpp - What ops of arith and math do ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops that kernels use; of another one the walk says that it does not know what it does. On indices nothing is
// counted.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;
using tile::Counted;

namespace {
/// One operation for each element of the result.
template <typename Op, Counted what>
struct ElementModel : tile::CostOpInterface::ExternalModel<ElementModel<Op, what>, Op> {
  tile::OpCount getCount(Operation *op) const {
    auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    return tile ? tile::OpCount::of(what, static_cast<double>(tile.getNumElements())) : tile::OpCount();
  }
};
} // namespace

template <Counted what, typename... Ops> static void attach(MLIRContext *context) {
  (Ops::template attachInterface<ElementModel<Ops, what>>(*context), ...);
}

static void attachToArith(MLIRContext *context, arith::ArithDialect *) {
  attach<Counted::Elementwise, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
         arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
         arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
         arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::CmpIOp>(context);
}

static void attachToMath(MLIRContext *context, math::MathDialect *) {
  attach<Counted::Exponentials, math::Exp2Op, math::ExpOp>(context);
  attach<Counted::Logarithms, math::Log2Op, math::LogOp>(context);
  attach<Counted::Elementwise, math::AbsFOp, math::CeilOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
         math::RsqrtOp, math::SqrtOp>(context);
}

void cost::registerCostModels(DialectRegistry &registry) {
  registry.addExtension(attachToArith);
  registry.addExtension(attachToMath);
}
