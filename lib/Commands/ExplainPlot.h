//===- ExplainPlot.h - Prices over the length -----------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_EXPLAINPLOT_H
#define ATTUNE_COMMANDS_EXPLAINPLOT_H

#include "attune/Graph/Selection.h"

namespace attune::attnc {

/// Predicted times of every form, of exact softmax and of what is taken over the length, with the lengths at which a
/// library changes its plan.
void drawPrices(const graph::FunctionSelection &function, llvm::raw_ostream &os);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_EXPLAINPLOT_H
