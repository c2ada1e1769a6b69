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

/// Of rows of whole vectors.
static double wholeVectors(int64_t size, int64_t lanes) { return static_cast<double>(llvm::alignTo(size, lanes)) / static_cast<double>(size); }

/// The multiply-adds that are executed for a dot, over those of the dot: vectors are computed whole (lib/Lowering/CPU/DotBody.cpp).
static double executedPart(tile::DotOp dot, int64_t lanes) {
  double wholeColumns = wholeVectors(dot.getN(), lanes), wholeRows = wholeVectors(dot.getM(), lanes);
  // Vectors lie along the dimension that they fill better, unless a tile has too few rows for a vector.
  return dot.getM() >= lanes ? std::min(wholeColumns, wholeRows) : wholeColumns;
}

Issued CpuInstructions::issuedFor(mlir::Operation *op) const {
  Issued issued = Instructions::issuedFor(op), result;
  auto dot = llvm::dyn_cast<tile::DotOp>(op);
  auto scan = llvm::dyn_cast<tile::ScanOp>(op);
  result.add(issued, dot ? executedPart(dot, lanes) : scan ? wholeVectors(scan.getColumns(), lanes) : 1);
  return result;
}
