//===- KernelFrame.h - What the kernels of all families begin and end with -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_KERNELFRAME_H
#define ATTUNE_LIB_KERNEL_KERNELFRAME_H

#include "Families.h"
#include "TileBuilder.h"

namespace attune::kernel {

/// A name that device code can have: of letters, digits and `_` alone; with a number where that is taken, as another
/// function, or another plan of this one, may be called what a kernel of a second part is.
std::string kernelName(mlir::Operation *module, llvm::StringRef wanted);

/// A kernel under construction: its arguments are the host's values that it was asked to take.
class KernelFrame {
public:
  /// Makes `<problem.name>_<suffix>` with an argument for each value that is not null; a value given twice is one.
  KernelFrame(BuildSite &site, const Problem &problem, llvm::StringRef suffix, llvm::ArrayRef<tile::Axis> grid,
              llvm::ArrayRef<mlir::Value> values);

  /// The kernel's argument for a value of the host; null for a null value.
  mlir::Value operator[](mlir::Value hostValue) const;

  /// Ends the kernel and launches it from the host with these grid sizes.
  tile::LaunchOp finish(BuildSite &site, mlir::ValueRange gridSizes);

  mlir::OpBuilder builder;
  TileBuilder tiles;
  tile::KernelOp kernel;

private:
  llvm::SmallVector<mlir::Value> hostValues;
};

/// The host's values that reading these tokens takes, and further ones.
llvm::SmallVector<mlir::Value> hostValues(llvm::ArrayRef<const Tokens *> tokens,
                                          llvm::ArrayRef<mlir::Value> further = {});
/// Those that storing to the output takes.
llvm::SmallVector<mlir::Value> hostValues(const Output &output);
/// Everything that a mechanism reads and writes but for states: query, key, value, lengths, output.
llvm::SmallVector<mlir::Value> hostValues(const Problem &problem, llvm::ArrayRef<mlir::Value> further = {});

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// The grid point, from the batch axis and from that of heads if there is one. With windows the batch axis counts (batch entry, window) pairs.
Point gridPoint(KernelFrame &frame, const Problem &problem);

/// How many queries, and keys, attend among themselves: a window's tokens, or all.
mlir::Value queryCount(TileBuilder &tiles, const Problem &problem, mlir::Value queryMemory);
mlir::Value keyCount(TileBuilder &tiles, const Problem &problem, mlir::Value keyMemory);
//===----------------------------------------------------------------------===//
// Memory rows of a window
//===----------------------------------------------------------------------===//

/// Rows first … first + rows − 1 of a window (or of all tokens) at memory[batch, head, …, 0 …]: [rows, width]. Rows below
/// `lower` and at or past `limit` are zero; null: below the window's first and past its end. Columns from `column` on.
mlir::Value loadRows(TileBuilder &tiles, const Problem &problem, const Point &point, mlir::Value memory,
                     mlir::Value head, mlir::Value first, llvm::ArrayRef<int64_t> shape, mlir::Value limit,
                     mlir::Value lower = mlir::Value(), int64_t column = 0);
/// The same rows of an input memory[batch, tokens, D], from a column on.
mlir::Value loadInputRows(TileBuilder &tiles, const Problem &problem, const Point &point, mlir::Value memory,
                          mlir::Value first, mlir::Value column, llvm::ArrayRef<int64_t> shape, mlir::Value limit);
void storeRows(TileBuilder &tiles, const Problem &problem, const Point &point, mlir::Value tile, mlir::Value memory,
               mlir::Value head, mlir::Value first, mlir::Value limit = mlir::Value());

/// o [rows, dv] of the queries first … with the depthwise convolution added if there is one.
mlir::Value finishOutput(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                         mlir::Value first, mlir::Value o);

/// Writes o [rows, dv] of the queries first … to the output, after adding the depthwise convolution if there is one. Rows
/// at or past `limit` are not written; null: those past the window's or the sequence's end.
void storeOutput(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                 mlir::Value first, mlir::Value o, mlir::Value limit = mlir::Value());

//===----------------------------------------------------------------------===//
// Who sees whom
//===----------------------------------------------------------------------===//

/// The keys that queries i … i + rows − 1 can see, counted from the window's first.
struct VisibleKeys {
  mlir::Value limit;    ///< keys at or past it do not exist
  mlir::Value full;     ///< keys below are seen by all rows; a multiple of the key tile
  mlir::Value last;     ///< keys at or past are seen by none
  mlir::Value diagonal; ///< row r sees key j if j ≤ r + diagonal; null unless causal
  mlir::Value begin = {}; ///< the first of them; null: 0
};

/// The key length of a batch entry, which has `count` tokens: within 0 … count whatever the memory holds, as it may change
/// after the runtime has looked at it, and on a device nobody has.
mlir::Value lengthOf(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, mlir::Value batch,
                     mlir::Value count);

/// Keys of the window, or of all, that exist.
mlir::Value keyLimit(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, const Point &point);

//===----------------------------------------------------------------------===//
// Loops and rows
//===----------------------------------------------------------------------===//

/// What a loop over the sequence carries after its step at `first`.
using LoopStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(TileBuilder &tiles, mlir::Value first,
                                                                    mlir::ValueRange carried)>;

/// The carried tiles after the steps first = lower, lower + stride, … below upper.
llvm::SmallVector<mlir::Value> loop(TileBuilder &tiles, tile::CarryAttrInterface carry, mlir::Value lower, mlir::Value upper,
                                    int64_t stride, mlir::ValueRange carried, LoopStep step);

/// Σ_D x [rows, 64 of D] · W [64, width of the head]: [rows, width], f32. `load` makes the tile of x that begins at a
/// column.
mlir::Value projectTile(TileBuilder &tiles, mlir::Type operand, mlir::Value model, int64_t rows, mlir::Value weight,
                        mlir::Value head, int64_t width,
                        llvm::function_ref<mlir::Value(TileBuilder &tiles, mlir::Value column)> load);
/// acc + x · w. What prepare has folded with ω is f32 whatever the storage is, and keeps its bits: they are those of exponents.
mlir::Value timesWeight(TileBuilder &tiles, mlir::Type operand, mlir::Value x, mlir::Value w, mlir::Value acc);
/// x [rows, columns] + bias [columns] from `first` on; x itself if there is no bias.
mlir::Value addBias(TileBuilder &tiles, mlir::Value x, mlir::Value bias, mlir::Value first);

/// Weights [Tq, Tk] of the tile at `firstKey` with `fill` where a query does not see a key.
mlir::Value maskKeys(TileBuilder &tiles, const VisibleKeys &visible, mlir::Value weights, mlir::Value firstKey,
                     double fill);

/// ⌊x / divisor⌋ of whole numbers x in f32.
mlir::Value floorDivide(TileBuilder &tiles, mlir::Value x, int64_t divisor);

/// a · b and ⌊a / b⌋ of indices that are not negative.
mlir::Value multiply(TileBuilder &tiles, mlir::Value a, mlir::Value b);
mlir::Value divide(TileBuilder &tiles, mlir::Value a, mlir::Value b);

/// numerator [R, C] / max(denominator + bias, floor) [R], 0 where that is exactly 0.
mlir::Value normalize(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value numerator, mlir::Value denominator);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_KERNELFRAME_H
