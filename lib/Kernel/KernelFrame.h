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

//===----------------------------------------------------------------------===//
// Who sees whom
//===----------------------------------------------------------------------===//

/// Rows that are those of several heads, one head's after another's.
struct HeadRows {
  int64_t count = 1; ///< heads
  mlir::Value rows = {};  ///< of each of them
  mlir::Value first = {}; ///< the first row of the tile
};

/// The keys that queries i … i + rows − 1 can see, counted from the window's first.
struct VisibleKeys {
  mlir::Value limit;    ///< keys at or past it do not exist
  mlir::Value full;     ///< keys below are seen by all rows; a multiple of the key tile
  mlir::Value last;     ///< keys at or past are seen by none
  mlir::Value diagonal; ///< row r sees key j if j ≤ r + diagonal; null unless causal
  mlir::Value begin = {}; ///< the first of them; null: 0
  mlir::Value entered = {}; ///< keys from it on and below `full` are seen by all rows; null: `begin`
  int64_t lastOnly = 0; ///< each row sees only the last so many of its keys; 0: all
  HeadRows heads = {};  ///< the diagonal is that of the first row of each
};

//===----------------------------------------------------------------------===//
// Loops and rows
//===----------------------------------------------------------------------===//

/// Weights [Tq, Tk] of the tile at `firstKey` with `fill` where a query does not see a key.
mlir::Value maskKeys(TileBuilder &tiles, const VisibleKeys &visible, mlir::Value weights, mlir::Value firstKey,
                     double fill);

/// The sizes of a memory.
llvm::ArrayRef<int64_t> sizesOf(mlir::Value memory);

/// ⌊x / divisor⌋ of whole numbers x in f32.
mlir::Value floorDivide(TileBuilder &tiles, mlir::Value x, int64_t divisor);

/// a · b and ⌊a / b⌋ of indices that are not negative.
mlir::Value multiply(TileBuilder &tiles, mlir::Value a, mlir::Value b);
mlir::Value divide(TileBuilder &tiles, mlir::Value a, mlir::Value b);

/// numerator [R, C] / max(denominator + bias, floor) [R], 0 where that is exactly 0.
mlir::Value normalize(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value numerator, mlir::Value denominator);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_KERNELFRAME_H
