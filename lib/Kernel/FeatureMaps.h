//===- FeatureMaps.h - Feature maps on tiles of tokens -*- C++ -*-------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of a tile of tokens are tiles side by side, one for most maps: cosformer has two. States have as many
// tiles one below the other. FAVOR whose stabilizer cancels has no features but their exponents (LogFeatures.h), and so has
// the focused map of high powers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FEATUREMAPS_H
#define ATTUNE_LIB_KERNEL_FEATUREMAPS_H

#include "KernelFrame.h"
#include "LogFeatures.h"

namespace attune::kernel {

/// Columns of φ(x) side by side: [rows, columns of the block] each, f32.
using Features = llvm::SmallVector<mlir::Value, 2>;

enum class Side { Query, Key };

/// A feature map at one grid point, its parameters loaded.
class MapAtPoint {
public:
  /// `headsOfGrid`: how many heads the grid's head axis has; 0: those of `parameterHeads`, which have a stabilizer each.
  MapAtPoint(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
             const Point &point, int64_t headsOfGrid = 0);

  /// φ of the tokens first … first + rows − 1, those at or past `limit` zero before the map.
  Features features(TileBuilder &tiles, const TokenReader &tokens, mlir::Value first, int64_t rows, Side side,
                    mlir::Value limit = mlir::Value()) const;
  /// The features as exponents [rows, m]. FAVOR's are without stabilizer and m^{-1/2}, and of queries also without
  /// −|x'|²/2: all of them cancel.
  LogFeatures logarithms(TileBuilder &tiles, const TokenReader &tokens, mlir::Value first, int64_t rows, Side side,
                         mlir::Value limit = mlir::Value()) const;

  /// The number of columns of each block.
  llvm::SmallVector<int64_t, 2> widths() const { return blockWidths(map); }
  static llvm::SmallVector<int64_t, 2> blockWidths(const FeatureMap &map);

private:
  Features writtenFeatures(TileBuilder &tiles, const TokenReader &tokens, mlir::Value first, int64_t rows,
                           mlir::Value limit) const;
  mlir::Value projection(TileBuilder &tiles, mlir::Value x, double factor, Side side) const;
  mlir::Value favor(TileBuilder &tiles, mlir::Value x, Side side) const;
  mlir::Value keyStabilizer(TileBuilder &tiles, int64_t rows) const;
  mlir::Value favorRelu(TileBuilder &tiles, mlir::Value x, Side side) const;
  Features cosformer(TileBuilder &tiles, mlir::Value x, mlir::Value first) const;

  const Problem &problem;
  const FeatureMap &map;
  const Point &point;
  mlir::Value omega;       ///< [m, d], f32
  mlir::Value inverse;     ///< 1 / softplus(focus): [d]
  mlir::Value shift;       ///< favor's c over the keys, in units of log 2: [1, 1]
  mlir::Value omegaSquares; ///< |ω_f|²/2 in units of log 2: [m]
};

/// The heads that have features of keys of their own: those of the keys, or of the queries where each maps the keys its
/// own way.
int64_t parameterHeads(const Problem &problem, const FeatureMap &map);

/// Rows at or past `rows` of each block become 0.
Features clearRows(TileBuilder &tiles, Features features, mlir::Value rows);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FEATUREMAPS_H
