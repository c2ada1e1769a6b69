//===- KernelFrame.cpp - What the kernels of all families begin with -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

std::string kernel::kernelName(Operation *module, StringRef wanted) {
  std::string name = wanted.str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  std::string free = name;
  for (int number = 2; SymbolTable::lookupSymbolIn(module, free); ++number)
    free = name + "_" + std::to_string(number);
  return free;
}

KernelFrame::KernelFrame(BuildSite &site, const Problem &problem, StringRef suffix, ArrayRef<tile::Axis> grid,
                         ArrayRef<Value> values)
    : builder(site.module.getContext()), tiles(builder, site.loc) {
  for (Value value : values)
    if (value && !llvm::is_contained(hostValues, value))
      hostValues.push_back(value);
  builder.setInsertionPointToEnd(site.module.getBody());
  kernel = tile::KernelOp::create(builder, site.loc, kernelName(site.module, problem.name + "_" + suffix.str()),
                                  ValueRange(hostValues).getTypes(), grid, problem.schedule);
  builder.setInsertionPointToStart(&kernel.getBody().front());
}

Value KernelFrame::operator[](Value hostValue) const {
  for (auto [position, value] : llvm::enumerate(hostValues))
    if (value == hostValue)
      return tile::KernelOp(kernel).getBody().front().getArgument(position);
  return Value();
}

/// Where storage has 16 bits, f32 operands of products keep no more of them than f16 has, unless a product says otherwise.
static void relaxProducts(tile::KernelOp kernel) {
  if (kernel.getSchedule()->getOperand().isF32())
    return;
  kernel.walk([](tile::DotOp dot) {
    if (!dot.getPrecision() && cast<RankedTensorType>(dot.getA().getType()).getElementType().isF32())
      dot.setPrecision(tile::Precision::TF32);
  });
}

/// Whether the value becomes an exponent, or the base of a power, before a product reads it as a factor.
static bool becomesExponent(Value value, llvm::SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(value.getAsOpaquePointer()).second)
    return false;
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    unsigned position = use.getOperandNumber();
    if (isa<math::Exp2Op>(user) || (isa<arith::MulFOp>(user) && user->getOperand(0) == user->getOperand(1)))
      return true;
    if (isa<tile::YieldOp>(user)) {
      auto loop = cast<tile::LoopOp>(user->getParentOp());
      return becomesExponent(loop.getResult(position), seen) || becomesExponent(loop.getCarried()[position], seen);
    }
    if (auto loop = dyn_cast<tile::LoopOp>(user))
      return becomesExponent(loop.getCarried()[position - 2], seen);
    if (isa<tile::DotOp>(user) && position < 2)
      return false;
    return llvm::any_of(user->getResults(), [&](Value result) { return becomesExponent(result, seen); });
  });
}

/// The tile before it was rounded to 16 bits, or what is stored so in f32.
static Value widened(OpBuilder &builder, Value tile) {
  if (auto rounded = tile.getDefiningOp<arith::TruncFOp>())
    return rounded.getIn();
  auto type = cast<RankedTensorType>(tile.getType()).clone(builder.getF32Type());
  return arith::ExtFOp::create(builder, tile.getLoc(), type, tile);
}

/// What becomes an exponent is a product of f32 on a CPU unless both operands are stored in 16 bits: logits are as large as
/// 900 √d, and of a rounded operand two digits would be lost.
static void keepExponents(tile::KernelOp kernel) {
  if (kernel.getSchedule()->getTarget() != tile::TargetKind::CPU)
    return;
  llvm::SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) {
    llvm::SmallPtrSet<void *, 16> seen;
    if ((dot.getA().getDefiningOp<arith::TruncFOp>() || dot.getB().getDefiningOp<arith::TruncFOp>()) &&
        becomesExponent(dot.getResult(), seen))
      dots.push_back(dot);
  });
  for (tile::DotOp dot : dots) {
    OpBuilder builder(dot);
    Value rounded[] = {dot.getA(), dot.getB()};
    for (unsigned operand : {0u, 1u})
      dot->setOperand(operand, widened(builder, rounded[operand]));
    for (Value value : rounded)
      if (value.use_empty() && value.getDefiningOp<arith::TruncFOp>())
        value.getDefiningOp()->erase();
  }
}

tile::LaunchOp KernelFrame::finish(BuildSite &site, ValueRange gridSizes) {
  relaxProducts(kernel);
  keepExponents(kernel);
  tile::ReturnOp::create(builder, site.loc);
  return tile::LaunchOp::create(site.host, site.loc, kernel.getSymName(), gridSizes, hostValues);
}

Value kernel::multiply(TileBuilder &tiles, Value a, Value b) {
  return arith::MulIOp::create(tiles.builder, tiles.loc, a, b);
}
Value kernel::divide(TileBuilder &tiles, Value a, Value b) {
  return arith::DivUIOp::create(tiles.builder, tiles.loc, a, b);
}

Value BuildSite::workspace(ArrayRef<int64_t> shape, ValueRange dynamicSizes, Type element) {
  return tile::WorkspaceOp::create(host, loc, MemRefType::get(shape, element ? element : host.getF32Type()), dynamicSizes);
}

//===----------------------------------------------------------------------===//
// Loops and rows
//===----------------------------------------------------------------------===//

Value kernel::normalize(TileBuilder &tiles, attn::DenominatorAttr guard, Value numerator, Value denominator) {
  ArrayRef<int64_t> rows = tiles.shape(denominator);
  if (guard.getBias() != 0)
    denominator = tiles.plus(denominator, tiles.constant(rows, guard.getBias()));
  if (guard.getFloor() != 0)
    denominator = tiles.maximum(denominator, tiles.constant(rows, guard.getFloor()));
  Value inverse = tiles.over(tiles.constant(rows, 1), denominator);
  // Of a denominator below 2^-128 the inverse would be infinite, and so the output of finite inputs. A sum of weights is
  // that small only beyond the range of the tolerances; there the output is finite, no more.
  if (std::max(guard.getBias(), guard.getFloor()) < std::numeric_limits<float>::min())
    inverse = tiles.minimum(inverse, tiles.constant(rows, std::numeric_limits<float>::max()));
  inverse = tiles.selectEqual(denominator, 0, tiles.constant(rows, 0), inverse);
  return tiles.times(numerator, tiles.expand(inverse, 1, tiles.shape(numerator)));
}
