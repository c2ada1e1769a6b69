//===- CpuProducts.cpp - Multiply-adds that a CPU executes for a dot ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelCounts.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;
using namespace attune::cost;

/// The multiply-adds that are executed for a dot, over those of the dot: vectors are computed whole (lib/Lowering/CPU/DotBody.cpp).
static double executedPart(tile::DotOp dot, int64_t lanes) {
  auto rows = static_cast<double>(dot.getM()), columns = static_cast<double>(dot.getN());
  auto wholeColumns = static_cast<double>(llvm::alignTo(dot.getN(), lanes)) / columns;
  auto wholeRows = static_cast<double>(llvm::alignTo(dot.getM(), lanes)) / rows;
  // Vectors lie along the dimension that they fill better, unless a tile has too few rows for a vector.
  return dot.getM() >= lanes ? std::min(wholeColumns, wholeRows) : wholeColumns;
}

Issued CpuInstructions::issuedFor(mlir::Operation *op) const {
  Issued issued = Instructions::issuedFor(op), result;
  auto dot = llvm::dyn_cast<tile::DotOp>(op);
  auto scan = llvm::dyn_cast<tile::ScanOp>(op);
  auto columns = [&] { return static_cast<double>(llvm::alignTo(scan.getColumns(), lanes)) / static_cast<double>(scan.getColumns()); };
  result.add(issued, dot ? executedPart(dot, lanes) : scan ? columns() : 1);
  return result;
}
