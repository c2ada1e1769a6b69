//===- AttnFrame.h - The values of one run of a function of attn ops -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_ATTNFRAME_H
#define ATTUNE_LIB_REFERENCE_ATTNFRAME_H

#include "Demands.h"

#include "attune/Attn/Attn.h"
#include "attune/Reference/EvalAttn.h"

#include "llvm/ADT/DenseMap.h"

namespace attune::reference {

/// A tensor. `queries` is the number of all rows if its row dimension holds the chosen ones only, else absent.
struct AttnValue {
  Array array;
  std::optional<int64_t> queries;
};

class AttnFrame {
public:
  AttnFrame(const EvalAttnOptions &options, Demands demands) : options(options), demands(std::move(demands)) {}

  const Array &operator[](mlir::Value value) const { return get(value).array; }
  const AttnValue &get(mlir::Value value) const { return values.at(value); }
  std::optional<Array> optional(mlir::Value value) const {
    return value ? std::optional((*this)[value]) : std::nullopt;
  }
  /// Rounds the elements to the value's element type if the mode is faithful. A null value is a result nobody asked
  /// for.
  void set(mlir::Value value, Array array, std::optional<int64_t> queries = std::nullopt);

  /// Whether the chosen rows of a result are all that is needed.
  bool wantsRows(mlir::Value result) const { return options.rows && demands.wantsRows(result); }
  /// An operand whose dimension `dimension` are queries, with the chosen rows only if that is all that is needed of the
  /// result, else with every row.
  AttnValue rowsFor(mlir::Value result, mlir::Value operand, int64_t dimension = 2) const;
  /// The query of each row of a tensor.
  std::vector<int64_t> rowsOf(const AttnValue &value, int64_t dimension = 2) const;
  /// Rows that the tensor has, or would have with every row.
  static int64_t tokensOf(const AttnValue &value, int64_t dimension = 2) {
    return value.queries.value_or(value.array.size(dimension));
  }

  const EvalAttnOptions &options;

private:
  Demands demands;
  llvm::DenseMap<mlir::Value, AttnValue> values;
};

/// An error at `op` unless `array` has that shape.
mlir::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, const Array &array,
                                llvm::ArrayRef<int64_t> shape);

/// An error at `op` if `problem` is not empty.
mlir::LogicalResult check(mlir::Operation *op, const std::string &problem);
/// Tokens of each batch entry that exist; an error unless the lengths (null: none) are [batch], each 0 … `tokens`.
mlir::FailureOr<std::vector<int64_t>> readLengths(AttnFrame &frame, mlir::Operation *op, mlir::Value lengths,
                                                  int64_t batch, int64_t tokens);
std::vector<Array> arraysOf(const AttnFrame &frame, mlir::ValueRange values);

mlir::LogicalResult evalLepe(AttnFrame &frame, attn::LepeOp op);
mlir::LogicalResult evalLepeGradient(AttnFrame &frame, attn::LepeGradientOp op);
/// Whether a map reads a folded projection through ω alone; and the map then.
bool readsFolded(attn::MapOp op);
mlir::LogicalResult evalFoldedMap(AttnFrame &frame, attn::MapOp op);
mlir::LogicalResult evalCompressFirst(AttnFrame &frame, attn::CompressOp op, attn::ProjectOp project);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_ATTNFRAME_H
