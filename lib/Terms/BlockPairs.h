//===- BlockPairs.h - Pairs of neighboring blocks of a chunk -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The square of a chunk's tokens, below its diagonal, is made of the pairs of neighboring blocks of 1, 2, 4, … rows: rows of the lower
// block, columns of the upper one. These are its parts as tables of 0 and 1, which a program makes once, outside of its loops.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_BLOCKPAIRS_H
#define ATTUNE_LIB_TERMS_BLOCKPAIRS_H

#include "TileSite.h"

namespace attune::terms {

/// 1 on the diagonal.
mlir::Value diagonal(const fusion::TileSite &site, int64_t rows);
/// 1 where t ≤ i + `diagonal`, of rows i and columns t.
mlir::Value upToRow(const fusion::TileSite &site, int64_t rows, int64_t diagonal = 0);
/// 1 where row and column are in the lower and the upper one of a pair of neighboring blocks of `size` rows.
mlir::Value belowPairs(const fusion::TileSite &site, int64_t rows, int64_t size);
/// 1 at (i, t) where token t is between row i and the border of the blocks of its pair: of lower rows from the border to i, which
/// counts, of upper ones those behind i.
mlir::Value betweenBorder(const fusion::TileSite &site, int64_t rows, int64_t size);

} // namespace attune::terms

#endif // ATTUNE_LIB_TERMS_BLOCKPAIRS_H
