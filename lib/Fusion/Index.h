//===- Index.h - Places and counts as formulas -*- C++ -*- --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a range of entries begins and ends, and how many there are, can depend on the sizes of memories and on the ranges of
// other axes: the keys of a block, what a block leaves of a chunk. A region says so as a formula, which the host and kernels
// compute.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_INDEX_H
#define ATTUNE_LIB_FUSION_INDEX_H

#include "Axis.h"

#include "mlir/IR/Value.h"

#include <memory>

namespace attune::tile {
class TileBuilder;
} // namespace attune::tile

namespace attune::fusion {
class TileSite;

/// A formula of whole numbers. Differences may be negative; what is divided is not, and nor are factors.
class Index {
public:
  struct Node;

  Index() = default; ///< none
  Index(int64_t number);
  /// A size of a memory of the host.
  static Index size(mlir::Value memory, unsigned dimension);
  /// The first entry of an axis at the site.
  static Index first(Axis axis);
  /// The number that a memory [batch] of i32 has for the batch entry at the site, within 0 … count.
  static Index length(mlir::Value lengths, Index count);
  /// A formula that is printed by its name, and defined before.
  static Index named(llvm::StringRef name, Index formula);

  friend Index operator+(Index a, Index b);
  friend Index operator-(Index a, Index b);
  friend Index operator*(Index a, Index b);
  friend Index operator/(Index a, Index b); ///< ⌊a / b⌋
  friend Index min(Index a, Index b);
  friend Index max(Index a, Index b);

  explicit operator bool() const { return static_cast<bool>(node); }

  /// In the outermost scope that has the ranges it depends on. The formula has to outlive the site's scopes, which know what
  /// they have built by it.
  mlir::Value at(const TileSite &site) const;
  /// On the host, where no axis has a range and a size may be 0: a divisor is 1 at least.
  mlir::Value onHost(tile::TileBuilder &host) const;

  AxisSet axes() const;
  /// The values of the host that it takes.
  void appendArguments(llvm::SmallVectorImpl<mlir::Value> &values) const;
  /// `define` gets the formulas that have a name.
  void print(llvm::raw_ostream &os, llvm::function_ref<std::string(mlir::Value)> nameOfMemory,
             llvm::function_ref<void(llvm::StringRef, const Index &)> define) const;

private:
  explicit Index(Node node);

  std::shared_ptr<const Node> node;
};

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_INDEX_H
