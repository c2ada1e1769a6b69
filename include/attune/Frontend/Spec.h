//===- Spec.h - An attention spec ----------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_SPEC_H
#define ATTUNE_FRONTEND_SPEC_H

#include "attune/Attn/Attn.h"
#include "attune/Support/ElementType.h"
#include "attune/Support/SourceFile.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// A size that may be '?': nullopt until a kernel runs.
using Size = std::optional<int64_t>;
using Grid = std::array<int64_t, 2>; // rows, columns

enum class CompressionOrder { BeforeMap, AfterMap };
/// What has a number of its own.
enum class Per { Head, Token, Channel };

using FeatureMapKind = attn::FeatureKind;
using Stabilizer = attn::Stabilizer;

/// All that the frontend knows of a kind of mechanism.
class MechanismKind;
/// The kind that specs name so, which must be one.
const MechanismKind *mechanismKindOf(llvm::StringRef name);

struct FeatureMap {
  FeatureMapKind kind = FeatureMapKind::Elu1;
  int64_t features = 0;                         // favor, favor_relu
  bool perHead = false;                         // favor, favor_relu
  double epsilon = 0;                           // favor, favor_relu, focused
  Stabilizer stabilizer = Stabilizer::Constant; // favor
  bool normalize = false;                       // whether it is scaled: favor_relu; always for favor and identity
  int64_t maxPosition = 0;                      // cosformer
  double power = 0;                             // focused
  double floor = 0;                             // of the denominator, unless given
  bool divides = true;                          // whether there is a denominator, unless given
};

/// A map of that kind with the defaults of its fields.
FeatureMap featureMapOf(FeatureMapKind kind);

/// The guard of a row sum: max(sum + bias, floor).
struct Denominator {
  double bias = 0;
  double floor = 0;
  bool none = false; // no division at all
};

struct Window {
  std::optional<int64_t> length;  // 1-D: blocks of consecutive tokens …
  std::optional<Grid> grid, size; // … or 2-D: tiles of an image …
  std::optional<int64_t> last;    // … or the last so many keys of each query
};

struct LowRank {
  int64_t rank = 0;
  bool tied = true;
  bool perHead = false;
  CompressionOrder order = CompressionOrder::BeforeMap;
};

/// The depthwise convolution of the values that is added to the output.
struct Lepe {
  std::optional<Grid> grid;
  bool bias = false;
};

/// One mechanism. The fields of other kinds keep their defaults.
struct Mechanism {
  const MechanismKind *kind = mechanismKindOf("softmax");
  int64_t degree = 0;                // polynomial, polysketch
  int64_t sketchSize = 0;            // polysketch
  std::optional<int64_t> localExact; // polysketch
  int64_t chunk = 0;                 // eva
  double muWeight = 0.5;             // eva
  bool excludeLocal = false;         // eva
  bool mass = false;                 // eva
  int64_t agents = 0;                // agent
  FeatureMap featureMap;             // kernel
  Denominator denominator;           // polynomial, kernel, polysketch
  std::optional<Per> decay;          // kernel
  std::optional<Per> erase, write;   // kernel: token, channel
  std::optional<double> softcap;     // softmax
  bool alibi = false;                // softmax
  std::optional<Window> window;
  std::optional<LowRank> lowRank;
  std::optional<Lepe> lepe;

  llvm::StringRef name() const;
  /// Whether mechanisms of this kind have the field.
  bool has(llvm::StringRef field) const;
  bool isKernel() const { return has("feature_map"); }
  bool isKernel(FeatureMapKind map) const { return isKernel() && featureMap.kind == map; }
  /// Whether the logits have a scale.
  bool isScaled() const;
  /// Whether a state stands beside a scale, since its features may be beyond the range of f32: those of favor where the stabilizer
  /// cancels.
  bool keepsStateRescaled() const {
    bool guarded = featureMap.epsilon > 0 || denominator.bias > 0 || denominator.floor > 0;
    return isKernel(FeatureMapKind::Favor) && !denominator.none && !guarded;
  }
};

/// A mechanism and the query heads [firstHead, firstHead + heads) that it serves.
struct Part {
  int64_t firstHead = 0;
  int64_t heads = 0;
  Mechanism mechanism;
  std::string prefix; // of its parameters' names: "" or "part<i>."
  std::string path;   // of its places: "" or "parts[i]."
};

struct Projection {
  int64_t modelDim = 0;
  bool output = true;
  bool bias = false;
  bool cross = false;
};

struct Rope {
  double base = 10000;
  bool half = false; // layout: half instead of interleaved
};

struct QkNorm {
  double epsilon = 1e-5;
  bool l2 = false; // divided by the norm instead of layer normalisation

  /// With the default of that kind.
  static QkNorm ofKind(bool l2) { return {l2 ? 1e-6 : 1e-5, l2}; }
};

struct Pin {
  std::string law, form;
};

/// Where a field stands in the file: its key and its value.
struct FieldPlace {
  Position key, value;
};

/// A spec as written, with its defaults filled in.
struct Spec {
  std::string name;
  ElementType dtype = ElementType::F32;
  Size batch, queries, keys;       // packed: one entry, with the tokens of all sequences
  bool packed = false;             // sequences of different lengths lie end to end
  Size sequences;                  // packed: how many
  bool ragged = false;             // one of packed sequences, whose last block of tokens may be short
  bool keysFollowQueries = false; // `keys` is absent
  int64_t heads = 0;
  int64_t kvHeads = 0;
  std::optional<int64_t> qkHeads; // of queries and keys, where values have more
  int64_t headDim = 0;
  int64_t valueDim = 0;
  bool causal = false;
  bool keyLengths = false;
  bool lse = false;            // whether it is among the results
  bool initialState = false;   // whether a run goes on from a state …
  bool finalState = false;     // … and leaves one
  std::optional<double> scale; // absent: the mechanism's default
  std::optional<Projection> projection;
  std::optional<Rope> rope;
  std::optional<QkNorm> qkNorm;
  std::vector<std::string> allow;
  std::vector<Pin> pin;
  std::vector<std::string> gradients; // the tensors whose gradients are asked for …
  bool allGradients = false;          // … or all that have one
  bool hasParts = false; // `parts` instead of `mechanism`
  std::vector<Part> parts;

  /// Places of the fields, by path: "queries", "mechanism.window.size[1]", "parts[0].mechanism.kind", "pin.linearize".
  /// The path "" is the spec itself.
  llvm::StringMap<FieldPlace> places;

  bool hasState() const { return initialState || finalState; }
  bool hasGradients() const { return allGradients || !gradients.empty(); }
  /// How many sequences there are, each of which has its own state.
  Size states() const { return packed ? sequences : batch; }
  int64_t headsPerKvHead() const { return heads / kvHeads; }
  /// Whether sequences have lengths of keys beside those of queries.
  bool hasKeyOffsets() const { return packed && (projection ? projection->cross : !keysFollowQueries); }
  /// Heads of the tensors q and k.
  int64_t queryHeads() const { return qkHeads.value_or(heads); }
  int64_t keyHeads() const { return qkHeads.value_or(kvHeads); }
  /// The scale of `part`'s logits: as written or the mechanism's default (d^-1/2, or 1 for the polynomial kinds).
  double logitScale(const Part &part) const;
  /// The place of a field, or of the nearest field around it.
  FieldPlace placeOf(llvm::StringRef path) const;
};

} // namespace attune

#endif // ATTUNE_FRONTEND_SPEC_H
