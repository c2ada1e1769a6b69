//===- EvalAttn.h - Interpreter of the attn dialect ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a function of attn ops, mechanisms and terms alike, in f64. In the faithful mode inputs are taken as they are
// (rounded to their storage type by whoever made them) and every result of an op is rounded to its element type.
//
// With chosen rows, what belongs to queries is computed for those alone: mechanisms stream over the keys, and of the
// terms, those that make something of each query out of full inputs (weights, partial results, readouts) select.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_EVALATTN_H
#define ATTUNE_REFERENCE_EVALATTN_H

#include "attune/Reference/Array.h"
#include "attune/Reference/Rounding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace attune::reference {

struct EvalAttnOptions {
  Precision precision = Precision::Ideal;
  std::optional<std::vector<int64_t>> rows; ///< queries to compute, the same for every batch entry and head
};

/// The results of the function. Errors are diagnostics at the op: sizes that do not fit, key lengths out of range, an
/// op of another dialect.
mlir::FailureOr<std::vector<Array>> evalAttn(mlir::func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                             const EvalAttnOptions &options = {});

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_EVALATTN_H
