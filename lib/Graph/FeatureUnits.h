//===- FeatureUnits.h - Features in units that a quotient cancels -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_FEATUREUNITS_H
#define ATTUNE_LIB_GRAPH_FEATUREUNITS_H

#include "mlir/IR/Block.h"

namespace attune::graph {

/// Gives features that may be out of the range of f32 a shift each, where all queries read all keys and a quotient cancels shifts; of other quotients
/// that cancel them features of keys stand without.
void shiftFeatures(mlir::Block &body);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_FEATUREUNITS_H
