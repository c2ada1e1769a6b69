//===- HostBound.cpp - What the host knows of an index of a kernel --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostBound.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The size of what the launch gives for an argument.
static Value sizeOnHost(TileBuilder &host, memref::DimOp dim, tile::LaunchOp launch) {
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> dimension = dim.getConstantIndex();
  if (!argument || !dimension || !isa<tile::KernelOp>(argument.getOwner()->getParentOp()))
    return Value();
  return host.dim(launch.getArguments()[argument.getArgNumber()], *dimension);
}

Value kernel::boundOnHost(TileBuilder &host, Value index, tile::LaunchOp launch) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return host.index(constant.getSExtValue());
  Operation *op = index.getDefiningOp();
  if (!op)
    return Value();
  auto bound = [&](unsigned operand) { return boundOnHost(host, op->getOperand(operand), launch); };
  auto ofBoth = [&](auto combine) {
    Value a = bound(0), b = a ? bound(1) : Value();
    return b ? combine(a, b) : Value();
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](memref::DimOp dim) { return sizeOnHost(host, dim, launch); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](Operation *) {
        Value a = bound(0), b = bound(1);
        return a && b ? host.min(a, b) : a ? a : b;
      })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *) {
        return ofBoth([&](Value a, Value b) { return host.max(a, b); });
      })
      .Case<arith::AddIOp>([&](Operation *) { return ofBoth([&](Value a, Value b) { return host.add(a, b); }); })
      .Case<arith::DivUIOp, arith::CeilDivUIOp>([&](Operation *quotient) {
        Value a = matchPattern(quotient->getOperand(1), m_ConstantInt(&constant)) ? bound(0) : Value();
        if (!a)
          return Value();
        int64_t divisor = constant.getSExtValue();
        return isa<arith::DivUIOp>(quotient) ? host.div(a, divisor) : host.ceilDiv(a, divisor);
      })
      .Default([](Operation *) { return Value(); });
}
