//===- Supported.cpp - What device code is not made for yet --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Supported.h"

using namespace mlir;
using namespace attune;

/// What of the op is not supported; empty if all is.
template <typename Access> static StringRef unsupportedAccess(Access op) {
  return op.getFold() ? "the rows of a window" : op.getLower() ? "a lower bound of rows" : "";
}

static StringRef unsupported(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    if (StringRef what = unsupportedAccess(load); !what.empty())
      return what;
  if (auto store = dyn_cast<tile::StoreOp>(op))
    if (StringRef what = unsupportedAccess(store); !what.empty())
      return what;
  if (isa<tile::IotaOp, tile::PermuteColumnsOp, tile::SineOp, tile::CosineOp>(op))
    return op->getName().getStringRef();
  bool integers = llvm::any_of(op->getResultTypes(), [](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && tile.getElementType().isInteger(32);
  });
  return integers ? "a tile of i32" : "";
}

LogicalResult device::checkSupported(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    StringRef what = unsupported(op);
    if (what.empty())
      return WalkResult::advance();
    op->emitError() << "expected what device code can do, but got " << what << ", which is not supported yet on a GPU";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
