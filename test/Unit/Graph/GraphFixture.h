//===- GraphFixture.h - Modules of kernel attention for the tests -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_GRAPH_GRAPHFIXTURE_H
#define ATTUNE_TEST_UNIT_GRAPH_GRAPHFIXTURE_H

#include "attune/Graph/Selection.h"
#include "attune/Reference/Array.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

namespace attune::test {

/// One kernel attention; sizes of 0 are unknown.
struct KernelCase {
  int64_t batch = 1, heads = 1, sharedHeads = 1, queries = 0, keys = 0, width = 8, valueWidth = 8;
  bool causal = false, lengths = false, initial = false, final = false;
  double bias = 0, floor = 0;
  std::string element = "f32";
  std::string map = "elu1";            ///< the text of a feature map
  std::vector<int64_t> parameter = {}; ///< sizes of what the map reads; none: nothing
  int64_t slots = 0;                   ///< of E = F, the naive low rank; 0: none
  int64_t window = 0;
  bool decay = false;                  ///< of each head of φ(K)
  bool divides = true;
};

class GraphTest : public ::testing::Test {
protected:
  GraphTest();

  /// `func.func @attention` of one attn.kernel; arguments q, k, v, then lengths, the parameter, E, the
  /// initial state, the decay.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const KernelCase &c);
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);

  /// The machine on which only products take time, one a second.
  graph::SelectOptions options(std::vector<graph::Pin> pins = {}) const;

  mlir::MLIRContext context;
};

/// The IR as text.
std::string print(mlir::Operation *op);

/// ‖a − b‖ / ‖b‖; ‖a‖ where b is 0.
double difference(const reference::Array &a, const reference::Array &b);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_GRAPH_GRAPHFIXTURE_H
