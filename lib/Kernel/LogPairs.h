//===- LogPairs.h - Causal weights of pairs from logarithms of features -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a block of T tokens row i needs w_ij = Σ_f 2^(Lq_if + Lk_jf − c_i) for j ≤ i, where c_i is about the largest exponent
// of the row. As a product of two matrices, with some R_f,
//
//     w_ij = Σ_f 2^(Lq_if + R_f − c_i) · 2^(Lk_jf − R_f)
//
// (times g of either side, which changes no range),
// both factors must be in the range of f32 for all pairs that count. If R_f is the maximum over the whole block, a later
// key that raises it pushes the keys that an earlier row sees out of range: at rows of 6√d their L differ by hundreds of
// powers of two. So the exponents are cut into bands below the maximum M'_f, of `bandWidth` each: band k holds the keys
// with Lk_jf − M'_f in (−(k + 1) bandWidth, −k bandWidth], with R_f in its middle, and each band has a product of its own.
// The left factor may pass any bound where a row sees no key of the band; there it is cut off.
//
// c_i comes from a product as well: Σ_f 2^((Lq_if + Lk_jf)/p) spans a p-th of the range, and p times its
// logarithm is above the largest exponent by at most p log2 m. Half of that is taken off.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_LOGPAIRS_H
#define ATTUNE_LIB_KERNEL_LOGPAIRS_H

#include "LogFeatures.h"
#include "attune/Attn/Exponents.h"

namespace attune::kernel {

/// What the features of the first band are above g 2^(Lk − M').
inline constexpr double stateOffset = attn::bandWidth / 2;

/// c [T] of features [T, m], Lk −∞ of keys that do not exist; `maximum`: M' [m], at least every Lk.
mlir::Value unitOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, mlir::Value maximum,
                        int64_t bands);

/// w [T, T] in units 2^scale [T], `scale` being at least c; 0 for j > i.
mlir::Value weightsOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, mlir::Value maximum,
                           mlir::Value scale, int64_t bands);

/// The same of any pairs, nothing cut off below the diagonal: of pairs that are seen at most about 2^100, `scale` [Tq] being about the logarithm of
/// what those of a row come to, or above it. With 0 bands one product: every row sees all keys, or those of a row that does not exist are −∞.
mlir::Value productsOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, mlir::Value maximum,
                            mlir::Value scale, int64_t bands);

/// What weights p̄ [Tq, Tk] of pairs, 0 of those that are not seen, make of the other side's features, times the own ones: of queries
/// Σ_j a_if b_jf p̄_ij [Tq, m] in units 2^scale, `transposed` of keys Σ_i a_if b_jf p̄_ij [Tk, m]. Where all products a b of pairs are in
/// range, so are these.
mlir::Value pairSumsOf(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, mlir::Value maximum,
                       mlir::Value scale, int64_t bands, mlir::Value pairs, bool transposed);

/// The features of the first band, g 2^(Lk − M' + stateOffset) [T, m]: the keys' part of a state.
mlir::Value firstBand(TileBuilder &tiles, const LogFeatures &keys, mlir::Value maximum, int64_t bands);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LOGPAIRS_H
