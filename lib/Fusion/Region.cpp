//===- Region.cpp - What one kernel computes ----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Region.h"

#include "RegionPrinter.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static LogicalResult verifySource(const TileSource &source, function_ref<InFlightDiagnostic()> emitError) {
  for (auto [position, operand] : llvm::enumerate(source.operands())) {
    std::optional<Representation> wanted = source.takes(position);
    if (wanted && *wanted != operand->gives())
      return emitError() << "expected operand " << position << " of " << source.name() << " in representation "
                         << nameOf(*wanted) << ", but got " << nameOf(operand->gives()) << " of " << operand->name()
                         << "; a conversion has to stand between";
    if (failed(verifySource(*operand, emitError)))
      return failure();
  }
  return success();
}

LogicalResult KernelRegion::verify(function_ref<InFlightDiagnostic()> emitError) const {
  for (const Source &stage : effects)
    if (failed(verifySource(*stage, emitError)))
      return failure();
  for (const RegionOutput &output : outputs)
    if (failed(verifySource(*output.source, emitError)))
      return failure();
  return success();
}

void KernelRegion::print(raw_ostream &os) const { RegionPrinter::print(os, *this); }
