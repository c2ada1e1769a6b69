//===- Demands.h - Which rows of which values are needed -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chosen rows propagate backwards from the function's results. An op that makes each row of its result out of the same
// row of an operand hands the choice on; what mixes rows (keys and values, pools, compression) needs all of them. A
// value that is needed both ways is computed in full, and its rows are chosen where it is read.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_DEMANDS_H
#define ATTUNE_LIB_REFERENCE_DEMANDS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace attune::reference {

class Demands {
public:
  Demands() = default;
  /// What the results of a function with this body need.
  explicit Demands(mlir::Block &body);

  /// Whether nobody needs more of a value than its chosen rows.
  bool wantsRows(mlir::Value value) const { return demands.lookup(value) == Demand::Rows; }

private:
  enum class Demand { Nothing, Rows, Everything };
  void add(mlir::Value value, Demand demand) { demands[value] = std::max(demands[value], demand); }

  llvm::DenseMap<mlir::Value, Demand> demands;
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_DEMANDS_H
