//===- Explain.h - A selection for people and for programs -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_EXPLAIN_H
#define ATTUNE_GRAPH_EXPLAIN_H

#include "attune/Graph/Selection.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::graph {

/// A table a function: every form that was considered, its operations, bytes and predicted time, whether it was taken
/// and why not, and the lengths at which that would change.
void explain(const Selection &selection, llvm::raw_ostream &out);

/// The same as JSON.
llvm::json::Value explainAsJson(const Selection &selection);

/// Three digits and a unit: "1.25 ms".
std::string printSeconds(double seconds);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_EXPLAIN_H
