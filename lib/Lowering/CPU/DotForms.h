//===- DotForms.h - What a dot takes over from the ops around it ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_DOTFORMS_H
#define ATTUNE_LOWERING_CPU_DOTFORMS_H

#include "Isa.h"
#include "Orders.h"

namespace attune::cpu {

/// An accumulator of the form tile · expand(scale): the dot multiplies as it adds.
struct ScaledAccumulator {
  Operation *product;
  Value tile, scale;
  int64_t axis; ///< of the expansion
};
std::optional<ScaledAccumulator> scaledAccumulator(tile::DotOp dot);

/// The op that alone uses the op's result, if it is one of the same block; else null.
Operation *onlyUser(Operation *op);

/// Whether a vector of the tile is stored without a mask, to a place that the kernel does not read.
bool storesWholeVectors(tile::StoreOp store, int64_t lanes);

/// A result whose rows are scaled, tile · expand(scale), to which another tile may be added, and which is then only
/// stored: the dot does all of it as it ends a block.
struct ScaledStore {
  Operation *product;
  Value scale;
  tile::StoreOp store;
  Operation *sum = nullptr; ///< of the product and the addend
  Value addend = {};

  bool does(Operation *op) const { return op == product || op == store || (sum && op == sum); }
};
std::optional<ScaledStore> scaledStore(tile::DotOp dot, int64_t lanes);
/// The dot that does the op's work: the product, the sum or the store of a scaled store.
tile::DotOp dotThatStores(Operation *op, int64_t lanes);

/// A result that is nothing but a factor of a tile, which others read, too: the dot multiplies as it ends a block.
struct MultipliedResult {
  Operation *product;
  Value factor;
};
std::optional<MultipliedResult> multipliedResult(tile::DotOp dot, int64_t lanes);
/// The op whose result the dot leaves: itself, or that product.
Operation *lastOf(tile::DotOp dot, int64_t lanes);

/// Whether both name the same elements of one memory.
bool haveSameElements(tile::LoadOp load, tile::StoreOp store);

/// A sum that lies in memory, tile.load + a · b, stored to the elements that were loaded: the dot adds to them as it ends a block, and neither has a
/// place of its own.
struct SumInMemory {
  tile::LoadOp load;
  tile::StoreOp store;
};
std::optional<SumInMemory> sumInMemory(tile::DotOp dot, int64_t lanes);

/// The store of what a dot leaves, where that is not read again: the dot stores it as it ends a block. Null: there is none.
tile::StoreOp plainStore(tile::DotOp dot, int64_t lanes);

/// The dot that does the op's work as it ends a block: the product with a tile, the load or the store of a sum in memory, a plain store.
tile::DotOp dotThatEndsWith(Operation *op, int64_t lanes);

/// A result that is masked to j ≤ i + diagonal wherever it is used: what is masked need not be computed.
std::optional<int64_t> resultDiagonal(tile::DotOp dot);
/// A left operand that is zero where k > i + diagonal: those products need not be computed.
std::optional<int64_t> operandDiagonal(tile::DotOp dot);

/// Whether the dot multiplies one row by a tile, adds nothing and leaves what it computes in the scratch.
bool isRowAlone(tile::DotOp dot, const Isa &target);

/// Whether the tile can be read where it is in memory, by dots and transposes alone; if not all of its rows exist it is
/// copied at run time.
bool readInPlace(tile::LoadOp load, const Isa &target);

/// Whether the dot multiplies pairs of bf16 numbers in one instruction.
bool takesPairs(tile::DotOp dot, const Isa &target);
/// Whether a tile lies in the scratch as bf16: only such dots read it.
bool heldAsBf16(Value tile, const Isa &target);
/// The dimension of a dot's operand, 0 or 1, along which its products are summed.
int64_t depthAxis(tile::DotOp dot, unsigned operand);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_DOTFORMS_H
