//===- OpGraph.h - The ops of a function in rows ---------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function as a picture needs it: its arguments and ops in rows, each below what it reads, edges from row to row (a
// long edge has a bend in every row that it crosses), and the nodes of a row in an order with few crossings (K.
// Sugiyama et al., "Methods for visual understanding of hierarchical system structures", 1981: barycentres, some
// sweeps).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_OPGRAPH_H
#define ATTUNE_COMMANDS_OPGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::attnc {

struct OpGraph {
  struct Node {
    std::string name;   ///< "kernel", or the name of an argument; empty: a bend of a long edge
    std::string result; ///< "2x8x256x64 f32" of the first result
    std::string text;   ///< the op as MLIR prints it
    std::string key;    ///< op, attributes, types and arguments: ops with one key compute alike
    bool argument = false;
    int row = 0;
    double middle = 0; ///< across, in the picture's units
    double width = 0;

    bool bend() const { return name.empty(); }
  };

  explicit OpGraph(mlir::func::FuncOp function);

  std::vector<Node> nodes;
  std::vector<std::pair<unsigned, unsigned>> edges; ///< from a node to one of the next row
  std::vector<std::vector<unsigned>> rows;          ///< nodes, from left to right
  double width = 0;                                 ///< of the widest row

private:
  void addArguments(mlir::func::FuncOp function);
  void addOps(mlir::func::FuncOp function);
  void addEdge(unsigned from, unsigned to);
  void order();
  void place();

  /// The node that makes a value; none for a value of another function.
  std::optional<unsigned> makerOf(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, unsigned> argumentNodes;
  llvm::DenseMap<mlir::Operation *, unsigned> opNodes;
};

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_OPGRAPH_H
