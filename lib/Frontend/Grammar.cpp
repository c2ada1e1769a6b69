//===- Grammar.cpp - The fields of each mapping of a spec ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Grammar.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace attune::grammar {

Names topFields() {
  static constexpr llvm::StringRef names[] = {"attention",   "dtype",    "batch",      "queries",   "keys",
                                              "heads",       "kv_heads", "qk_heads",   "head_dim",  "value_dim",   "causal",
                                              "key_lengths", "scale",    "projection", "rope",      "qk_norm",
                                              "mechanism",   "parts",    "allow",      "pin",       "results"};
  return names;
}

Names mechanismKinds() {
  static constexpr llvm::StringRef names[] = {"softmax", "polynomial", "kernel", "polysketch",
                                              "effatt",  "eva",        "agent"};
  return names;
}

Names fieldsOf(MechanismKind kind) {
  static constexpr llvm::StringRef softmax[] = {"kind", "low_rank", "window", "lepe", "softcap", "alibi"};
  static constexpr llvm::StringRef polynomial[] = {"kind", "degree", "denominator", "window", "lepe"};
  static constexpr llvm::StringRef kernel[] = {"kind",   "feature_map", "denominator", "low_rank",
                                               "window", "lepe",        "decay",       "erase", "write"};
  static constexpr llvm::StringRef polysketch[] = {"kind", "degree", "size", "local_exact", "denominator", "lepe"};
  static constexpr llvm::StringRef effatt[] = {"kind", "lepe"};
  static constexpr llvm::StringRef eva[] = {"kind",          "window", "chunk",    "mu_weight",
                                            "exclude_local", "mass",   "low_rank", "lepe"};
  static constexpr llvm::StringRef agent[] = {"kind", "agents", "lepe"};
  static constexpr Names fields[] = {softmax, polynomial, kernel, polysketch, effatt, eva, agent};
  return fields[static_cast<unsigned>(kind)];
}

llvm::ArrayRef<FeatureMapRow> featureMaps() {
  static constexpr llvm::StringRef favor[] = {"kind", "features", "per_head", "epsilon", "stabilizer"};
  static constexpr llvm::StringRef favorRelu[] = {"kind", "features", "per_head", "epsilon", "normalize"};
  static constexpr llvm::StringRef plain[] = {"kind"};
  static constexpr llvm::StringRef cosformer[] = {"kind", "max_position"};
  static constexpr llvm::StringRef focused[] = {"kind", "power", "epsilon"};
  static constexpr FeatureMapRow rows[] = {
      {{.kind = FeatureMapKind::Favor, .normalize = true}, favor},
      {{.kind = FeatureMapKind::FavorRelu, .epsilon = 1e-3}, favorRelu},
      {{.kind = FeatureMapKind::Elu1}, plain},
      {{.kind = FeatureMapKind::Relu, .floor = 1e-6}, plain},
      {{.kind = FeatureMapKind::Cosformer, .floor = 1e-6}, cosformer},
      {{.kind = FeatureMapKind::Focused, .epsilon = 1e-6, .power = 3}, focused},
      {{.kind = FeatureMapKind::Identity, .normalize = true, .divides = false}, plain},
  };
  return rows;
}

Names featureMapKinds() {
  static const auto names =
      llvm::map_to_vector(featureMaps(), [](const FeatureMapRow &row) { return attn::stringifyFeatureKind(row.defaults.kind); });
  return names;
}

Names decays() {
  static constexpr llvm::StringRef names[] = {"head", "token", "channel"};
  return names;
}

Names gates() { return decays().drop_front(); }

Names normKinds() {
  static constexpr llvm::StringRef names[] = {"layer", "l2"};
  return names;
}

std::string remarkOnField(llvm::StringRef field) {
  static constexpr llvm::StringRef planned[] = {
      "state", "packed", "sequences", "gradients", // of the spec
      "score", "mask", "weight", "tensors"};
  return llvm::is_contained(planned, field) ? "'" + field.str() + "' is not supported yet" : "";
}

Names stabilizers() {
  static constexpr llvm::StringRef names[] = {"constant", "max", "projection", "none"};
  return names;
}

using FieldsAt = llvm::function_ref<Names(unsigned)>;

static Names fieldsOfMechanism(unsigned index) { return fieldsOf(static_cast<MechanismKind>(index)); }
static Names fieldsOfMap(unsigned index) { return featureMaps()[index].fields; }

/// The fields of all `count` kinds, each once.
static llvm::SmallVector<llvm::StringRef> unionOfFields(size_t count, FieldsAt fieldsAt) {
  llvm::SmallVector<llvm::StringRef> result;
  for (unsigned i = 0; i < count; ++i)
    for (llvm::StringRef name : fieldsAt(i))
      if (!llvm::is_contained(result, name))
        result.push_back(name);
  return result;
}

static std::string ownersOf(llvm::StringRef field, Names kinds, FieldsAt fieldsAt) {
  llvm::SmallVector<llvm::StringRef> owners;
  for (unsigned i = 0; i < kinds.size(); ++i)
    if (llvm::is_contained(fieldsAt(i), field))
      owners.push_back(kinds[i]);
  return llvm::join(owners, ", ");
}

llvm::SmallVector<llvm::StringRef> allMechanismFields() {
  return unionOfFields(mechanismKinds().size(), fieldsOfMechanism);
}

llvm::SmallVector<llvm::StringRef> allFeatureMapFields() { return unionOfFields(featureMaps().size(), fieldsOfMap); }

std::string kindsWithField(llvm::StringRef field) { return ownersOf(field, mechanismKinds(), fieldsOfMechanism); }

std::string mapsWithField(llvm::StringRef field) { return ownersOf(field, featureMapKinds(), fieldsOfMap); }

} // namespace attune::grammar
