//===- QuadChunks.h - Rows of a quad in pieces of 16 bytes -*- C++ -*-----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a row of a `c` fragment a lane has two neighbouring columns in each block of 8, which is 4 or 8 bytes. Memory is
// best asked for 16 a lane, so the four lanes of a quad transpose among themselves what they have of several blocks:
//
//     16-bit elements, blocks b … b + 3: word w(c, t) holds the columns 2t, 2t + 1 of block c
//         lane t has         w(b, t)  w(b + 1, t)  w(b + 2, t)  w(b + 3, t)
//         lane t is to have  w(b + t, 0)  w(b + t, 1)  w(b + t, 2)  w(b + t, 3)      8 columns of block b + t
//     f32, blocks b and b + 1, and pairs of words in place of words
//         lane t has         w(b, t)  w(b + 1, t)
//         lane t is to have  w(b + t mod 2, 2 ⌊t / 2⌋)  w(b + t mod 2, 2 ⌊t / 2⌋ + 1)  4 columns of block b + t mod 2
//
// A transposition is its own inverse, so loads and stores exchange alike: 4 shuffles and 12 selects for 16 bytes a lane
// of 16-bit elements, 2 and 6 of f32. By way of shared memory they would take as many stores, a wide load in four
// phases, a barrier of the warp and a place of their own, where a shuffle takes one pass through the same unit.
//
// Where blocks are left over, both halves of a fragment's rows come together if they fit, else lanes stay idle.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_QUADCHUNKS_H
#define ATTUNE_LIB_LOWERING_GPU_QUADCHUNKS_H

#include "KernelState.h"

namespace attune::device {

/// The rows of a tile on their way between memory and a `c` fragment, in chunks of 16 bytes.
class QuadChunks {
public:
  QuadChunks(KernelState &state, const TileAccess &access, tile::FragmentLayout layout);

  /// False if no memory could be aligned for it, whatever its strides.
  bool possible() const;
  /// i1, alike in the whole block: every row of the tile consists of whole aligned chunks.
  mlir::Value aligned();
  /// The elements of the fragment, zeros outside.
  llvm::SmallVector<mlir::Value> load();
  void store(llvm::ArrayRef<mlir::Value> elements);

  /// Units that a quad exchanges: unit u of a group is half `half`, or half u / blocks, of the rows in block
  /// `block` + u mod `blocks`.
  struct Group {
    int64_t rowBlock, block, blocks, half;
    bool bothHalves;
    int64_t units() const { return bothHalves ? 2 * blocks : blocks; }
    int64_t blockOf(int64_t unit) const { return block + unit % blocks; }
    int64_t halfOf(int64_t unit) const { return bothHalves ? unit / blocks : half; }
  };

private:
  /// Where this lane's chunk lies, and whether it is inside; no condition: always.
  struct Place {
    mlir::Value pointer, inside;
  };
  using Words = llvm::SmallVector<mlir::Value, 4>;

  int64_t elementAt(const Group &group, int64_t unit) const;
  Place placeOf(const Group &group);
  mlir::Value loadChunk(const Place &place);
  Words wordsOf(const Group &group, llvm::ArrayRef<mlir::Value> elements);
  void takeWords(const Group &group, const Words &words, llvm::MutableArrayRef<mlir::Value> elements);
  void transpose(Words &words);
  void swap(mlir::Value upper, int64_t mask, mlir::Value &first, mlir::Value &second);

  KernelState &state;
  DeviceBuilder &code;
  const TileAccess &access;
  tile::FragmentLayout layout;
  mlir::Type element, word;
  int64_t bytes, unitsOfQuad, wordsOfUnit, chunkElements;
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_QUADCHUNKS_H
