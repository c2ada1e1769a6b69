//===- LimitNote.h - Which attention no schedule fits, and what would fit -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_LIMITNOTE_H
#define ATTUNE_LIB_GRAPH_LIMITNOTE_H

#include "attune/Cost/DeviceDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace attune::graph {

/// An attention whose tiles are more than a block of the device has (docs/Limits.md).
struct Limit {
  mlir::Location place; ///< of the attention
  std::string remedy;   ///< the largest sizes that would fit, each with the others as they are
};

/// The first of a plan's attentions for which there is no schedule; none if each has one.
std::optional<Limit> limitOf(mlir::func::FuncOp plan, const cost::DeviceDescription &device);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_LIMITNOTE_H
