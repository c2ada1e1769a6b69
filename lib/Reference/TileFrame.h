//===- TileFrame.h - The values of one run of a host function or program ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_TILEFRAME_H
#define ATTUNE_LIB_REFERENCE_TILEFRAME_H

#include "RaceCheck.h"

#include "attune/Reference/EvalTile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace attune::reference {

/// An immutable tile, row-major. i1 elements are 0 and 1.
struct TileValue {
  llvm::SmallVector<int64_t, 2> shape;
  std::vector<double> elements;

  int64_t rows() const { return shape.front(); }
  int64_t columns() const { return shape.back(); }
};

/// What an SSA value holds, by its type: integers and indices, scalars of floats, memories, tiles.
using Value = std::variant<int64_t, double, Array, std::shared_ptr<const TileValue>>;

class Arrivals;

/// The values that are known so far, and where the run stands in the grid.
class Frame {
public:
  Frame(const EvalTileOptions &options, RaceCheck *races) : options(options), races(races) {}

  int64_t integer(mlir::Value value) const { return std::get<int64_t>(values.at(value)); }
  double number(mlir::Value value) const { return std::get<double>(values.at(value)); }
  const Array &memory(mlir::Value value) const { return std::get<Array>(values.at(value)); }
  const TileValue &tile(mlir::Value value) const {
    return *std::get<std::shared_ptr<const TileValue>>(values.at(value));
  }
  const Value &get(mlir::Value value) const { return values.at(value); }

  void set(mlir::Value value, Value held) { values.insert_or_assign(value, std::move(held)); }
  /// Rounds the elements to the value's element type if the mode is faithful.
  void setTile(mlir::Value value, TileValue tile);

  bool faithful() const { return options.precision == Precision::Faithful; }

  const EvalTileOptions &options;
  RaceCheck *races; ///< null outside kernels, or if not asked for
  tile::KernelOp kernel;
  llvm::SmallVector<int64_t, 3> point;
  int64_t pointNumber = 0;      ///< among those of the launch
  Arrivals *arrivals = nullptr; ///< of the launch; null outside kernels

private:
  llvm::DenseMap<mlir::Value, Value> values;
};

/// Runs the ops of a block, its terminator excluded.
mlir::LogicalResult evalBlock(Frame &frame, mlir::Block &block);

// Each runs an op of its kind; nullopt if the op is of another kind.
std::optional<mlir::LogicalResult> evalIndexOp(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalElementwise(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalMemoryOp(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalArriveOp(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalTileOp(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalControl(Frame &frame, mlir::Operation &op);
std::optional<mlir::LogicalResult> evalHostOp(Frame &frame, mlir::Operation &op);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_TILEFRAME_H
