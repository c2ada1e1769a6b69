//===- AttnFrame.h - The values of one run of a function of attn ops -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_ATTNFRAME_H
#define ATTUNE_LIB_REFERENCE_ATTNFRAME_H

#include "attune/Attn/Attn.h"
#include "attune/Reference/EvalAttn.h"

#include "llvm/ADT/DenseMap.h"

namespace attune::reference {

/// A tensor. `queries` is n if its query dimension holds the chosen rows only, else absent.
struct AttnValue {
  Array array;
  std::optional<int64_t> queries;
};

class AttnFrame {
public:
  explicit AttnFrame(const EvalAttnOptions &options) : options(options) {}

  const Array &operator[](mlir::Value value) const { return get(value).array; }
  const AttnValue &get(mlir::Value value) const { return values.find(value)->second; }
  std::optional<Array> optional(mlir::Value value) const {
    return value ? std::optional((*this)[value]) : std::nullopt;
  }
  /// Rounds the elements to the value's element type if the mode is faithful. A null value is a result nobody asked
  /// for.
  void set(mlir::Value value, Array array, std::optional<int64_t> queries = std::nullopt);

  /// A tensor whose third dimension are queries, with the chosen rows only.
  AttnValue chosen(mlir::Value value) const;
  /// The query of each row of a tensor with these queries.
  std::vector<int64_t> rowsOf(const AttnValue &value) const;

  const EvalAttnOptions &options;

private:
  llvm::DenseMap<mlir::Value, AttnValue> values;
};

/// An error at `op` unless `array` has that shape.
mlir::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, const Array &array,
                                llvm::ArrayRef<int64_t> shape);

// Each runs an op of its kind; nullopt if the op is of another kind.
std::optional<mlir::LogicalResult> evalMechanism(AttnFrame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalSoftmaxTerm(AttnFrame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalKernelTerm(AttnFrame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalWeightTerm(AttnFrame &frame, mlir::Operation &op);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_ATTNFRAME_H
