//===- Explain.h - A selection for people and for programs -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_EXPLAIN_H
#define ATTUNE_GRAPH_EXPLAIN_H

#include "attune/Graph/PrintNumbers.h"
#include "attune/Graph/Selection.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::graph {

/// A page a function: first what answers (the plan and its price, exact softmax beside it, the next plan), then every
/// form that was weighed, the kernels, and what approximations by consent would buy.
void explain(const Selection &selection, llvm::raw_ostream &out);

/// Only what answers, a line each.
void answer(const FunctionSelection &function, llvm::raw_ostream &out);

/// The same as JSON.
llvm::json::Value explainAsJson(const Selection &selection);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_EXPLAIN_H
