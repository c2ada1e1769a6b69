//===- Layouts.h - Tiles with layouts, and what becomes of them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where every tile of a kernel lives decides which instruction moves or multiplies what. So it can be said of kernels whose tiles have
// layouts what their instructions do, without making them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_GPU_LAYOUTS_H
#define ATTUNE_LOWERING_GPU_LAYOUTS_H

#include "attune/Cost/Instructions.h"
#include "attune/Lowering/GPU/Passes.h"

namespace attune::device {

/// Gives every tile of a kernel a layout, as `tile-assign-layouts` does. With no stages in its schedule operands of products in loops are
/// loaded anew for each product.
mlir::LogicalResult layOut(tile::KernelOp kernel, Products products = Products::MmaSync);

/// Of ops on tiles with layouts: products in whole fragments, operands of f32 in parts; what lanes exchange; the pieces in which tiles
/// come and go.
class GpuInstructions : public cost::Instructions {
public:
  cost::Issued issuedFor(mlir::Operation *op) const override;
  cost::Requests requestsFor(mlir::Operation *op) const override;
  bool knows(mlir::Operation *op) const override;
};

} // namespace attune::device

#endif // ATTUNE_LOWERING_GPU_LAYOUTS_H
