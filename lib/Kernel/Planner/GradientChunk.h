//===- GradientChunk.h - A chunk of a causal readout and its cotangents -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_GRADIENTCHUNK_H
#define ATTUNE_LIB_KERNEL_PLANNER_GRADIENTCHUNK_H

#include "Regions/StateMemory.h"
#include "StateRules.h"

namespace attune::kernel {

/// What the passes over chunks leave for the one that makes gradients of decay; null where nobody asks for these.
struct DecayShares {
  explicit operator bool() const { return static_cast<bool>(ofQueries); }

  mlir::Value ofQueries, ofKeys; ///< ⟨a_i, ā_i⟩ and ⟨b_i, b̄_i⟩ of each row, [batch, H, n], or of each of its features, [batch, H, n, m]
  mlir::Value ofState;           ///< ⟨S, S̄⟩ before the first token, [batch, H, 1 or m]; null: S is 0
};

/// What the pass over queries leaves of a quotient for that over keys: g and w̄ of each row [batch, H, n], or δ in the place of w̄ where there are units;
/// null where the op has cotangents of both.
struct QuotientRows {
  mlir::Value divisors, cotangents;
  mlir::Value units = {}; ///< c of features that are exponents, in whose units g is; null: they are numbers
};

/// What all passes over the chunks of a readout's gradient read at the chunk of a site (the formulas: Terms/ReadoutGradients.cpp).
class GradientChunk {
public:
  /// Cotangents of a quotient's parts are read from `quotient`, or else made by `divide`.
  GradientChunk(attn::CausalReadoutGradientOp op, RegionDraft &draft, const Place &rows, const Place &keys, QuotientRows quotient = {});

  /// Whether every feature decays in its own way: then decay stands inside of sums over features, and not in weights of pairs.
  bool ofChannels() const { return decaysChannels(decay); }
  /// x with what decay leaves of it over a span.
  fusion::Source left(fusion::Source x, terms::DecaySpan span) const;
  /// p of pairs j ≤ i, with their decay.
  fusion::Source pairs() const;
  /// p̄ of pairs j ≤ i, with their decay but where every feature has its own.
  fusion::Source cotangents() const;
  /// 1 for each of these pairs, in the same way.
  fusion::Source counts() const;
  /// ⟨x_i, y_j⟩ in the same way.
  fusion::Source products(fusion::Source x, fusion::Source y) const;
  /// What the chunks before, or behind, give to each row: x with their state, and its sum as often as w says if the state `weighs`.
  fusion::Source carried(fusion::Source x, fusion::Source state, terms::DecaySpan span, terms::Carried what) const;
  /// `begin` and sums over the pairs p of the chunk: p x, or pᵀ x. Of others: without those of a token with itself.
  struct Sums {
    fusion::Source all, ofOthers; ///< of others: null where nobody asks for them
  };
  Sums sums(fusion::Source begin, fusion::Source p, fusion::Source x, bool transposed, bool ofOthers) const;
  /// Makes ū of ō, of a quotient with these sums of weights.
  void divideBy(fusion::Source divisors);
  /// ā from the state of the chunks before, and of a quotient u, w and g.
  Sums queryGradients(fusion::Source state, bool ofOthers);
  fusion::Source sumsOfOthers(fusion::Source begin, fusion::Source p, fusion::Source x, bool transposed) const;
  /// The stores of what the pass over queries, which makes these ā, leaves for others.
  llvm::SmallVector<fusion::RegionOutput, 3> leftByQueries(const Sums &sums, const QuotientRows &quotient, const DecayShares &shares) const;
  /// ⟨x, y⟩ of each row, or of each of its features.
  fusion::Source shares(fusion::Source x, fusion::Source y) const;

private:
  /// Products of pairs j ≤ i.
  fusion::Source visible(fusion::Source products) const;

  Sums divide(fusion::Source state, bool ofOthers);

  RegionDraft &draft;
  Place at; ///< of keys, with the slice of features that tiles have
  mlir::Value decay;          ///< null: nothing decays
  attn::DenominatorAttr guard; ///< of a quotient whose cotangent u is until it is divided; null: there is none

public:
  fusion::Source a, b, v, u, w, g; ///< of features, values, cotangents and divisors; w null without denominators, g of other than quotients
  bool divides;
};

/// A place with the slice of features, or of values, that tiles have, where these have some of them.
Place placeOfFeatures(const RegionDraft &draft, attn::CausalReadoutGradientOp op, const Place &at);
Place placeOfValues(const RegionDraft &draft, attn::CausalReadoutGradientOp op, const Place &at);
/// The store of numbers of rows [batch, H, n], or of tokens [batch, H, n, c], of each query head.
fusion::RegionOutput storedRows(fusion::Source source, fusion::Axis rows, mlir::Value memory);
/// S̄ and z̄ of the state behind the last token; null: it has none.
fusion::Source cotangentOfState(attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at);
/// The part of them that each query head begins with: their sum over those that share a state is the cotangent.
fusion::Source shareOfCotangent(attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at);
/// Stores ⟨S, S̄⟩ of the state before the first token, of which a region of chunks from the last down has the cotangent, `unless` that is above 0; null:
/// always.
void storeStateShares(fusion::KernelRegion &region, const fusion::Source &cotangent, attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at, mlir::Value memory,
                      const fusion::Index &unless = {});
/// R and ζ, with the rows of a chunk.
fusion::StepForm rowSums(const GradientChunk &chunk, attn::CausalReadoutGradientOp op, RegionDraft &draft, const Place &keys);
/// The result of a reduction that a value is made of.
mlir::OpResult resultBehind(mlir::Value value, mlir::Operation *reduction);
/// All tiles of a source.
Tiles blocksOf(fusion::Source source, unsigned count);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_GRADIENTCHUNK_H
