//===- Laws.h - The laws a spec can name, and their forms ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_LAWS_H
#define ATTUNE_SUPPORT_LAWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace attune {

/// A rewriting of the attention graph that `pin` and `allow` can name. Only laws that have something to choose or that
/// need consent are listed.
struct Law {
  llvm::StringLiteral name;
  llvm::ArrayRef<llvm::StringLiteral> forms;
};

/// φ(Q)(φ(K)ᵀV), of kernel attention and of polysketch, whose φ is the square of a sketch: the product in the order
/// written, through the state, in several kernels, in one, or with the merge of its pieces in the kernel that makes them, chunk
/// by chunk, so in several parts of the sequence side by side, or for all query heads of a key-value head at once.
inline constexpr llvm::StringLiteral linearizeForms[] = {"quadratic", "state", "fused_state", "merged_state",
                                                         "chunked",   "split", "grouped"};

/// A projection whose tokens meet random features at once: x W and then ω, or x (W ωᵀ) with the product made by `prepare`.
inline constexpr llvm::StringLiteral foldForms[] = {"apart", "folded"};

/// Low rank of projected tokens: E (x W), or (E x) W.
inline constexpr llvm::StringLiteral lowRankForms[] = {"project_first", "compress_first"};

/// Projections: a kernel stores x W, or whoever reads a tile of its tokens computes it.
inline constexpr llvm::StringLiteral projectForms[] = {"materialized", "fused"};

/// The output projection: a kernel of its own, or an epilogue of the one that computes the heads.
inline constexpr llvm::StringLiteral projectOutForms[] = {"materialized", "epilogue"};

/// Features of keys: whoever reads a tile of keys maps it, or a kernel stores φ(K) for all readers.
inline constexpr llvm::StringLiteral mapForms[] = {"fused", "materialized"};

/// Parts of a mixture: one after another, or the kernels of all of them in common launches.
inline constexpr llvm::StringLiteral launchForms[] = {"sequential", "co_launched"};

/// Keys of exact attention: a grid point has all that a block of queries sees, or pieces of them run side by side.
inline constexpr llvm::StringLiteral keysForms[] = {"in_order", "split"};

inline constexpr Law laws[] = {
    {"linearize", linearizeForms},
    {"fold", foldForms},
    {"low_rank", lowRankForms},
    {"project", projectForms},
    {"project_out", projectOutForms},
    {"map", mapForms},
    {"launch", launchForms},
    {"keys", keysForms},
};

/// Rewritings to another function, which `allow` can name (docs/Laws.md).
inline constexpr llvm::StringLiteral approximateLaws[] = {"efficient", "local", "agents", "drop_guards"};

inline bool findApproximateLaw(llvm::StringRef name) { return llvm::is_contained(approximateLaws, name); }

/// The law of that name, or null.
inline const Law *findLaw(llvm::StringRef name) {
  const Law *found = llvm::find_if(laws, [&](const Law &law) { return law.name == name; });
  return found == std::end(laws) ? nullptr : found;
}

inline llvm::SmallVector<llvm::StringRef> lawNames() {
  return llvm::map_to_vector(laws, [](const Law &law) { return llvm::StringRef(law.name); });
}

/// The forms of a law; none if there is no such law.
inline llvm::SmallVector<llvm::StringRef> formsOf(llvm::StringRef law) {
  const Law *found = findLaw(law);
  return found ? llvm::SmallVector<llvm::StringRef>(found->forms.begin(), found->forms.end())
               : llvm::SmallVector<llvm::StringRef>();
}

} // namespace attune

#endif // ATTUNE_SUPPORT_LAWS_H
