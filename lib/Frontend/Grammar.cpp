//===- Grammar.cpp - The fields of each mapping of a spec ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Grammar.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace attune::grammar {

Names topFields() {
  static constexpr llvm::StringRef names[] = {"attention",   "dtype",    "batch",      "queries",   "keys",
                                              "heads",       "kv_heads", "head_dim",   "value_dim", "causal",
                                              "key_lengths", "scale",    "projection", "rope",      "qk_norm",
                                              "mechanism",   "parts",    "allow",      "pin"};
  return names;
}

Names mechanismKinds() {
  static constexpr llvm::StringRef names[] = {"softmax", "polynomial", "kernel", "polysketch",
                                              "effatt",  "eva",        "agent"};
  return names;
}

Names fieldsOf(MechanismKind kind) {
  static constexpr llvm::StringRef softmax[] = {"kind", "low_rank", "window", "lepe"};
  static constexpr llvm::StringRef polynomial[] = {"kind", "degree", "denominator", "window", "lepe"};
  static constexpr llvm::StringRef kernel[] = {"kind", "feature_map", "denominator", "low_rank", "window", "lepe"};
  static constexpr llvm::StringRef polysketch[] = {"kind", "degree", "size", "local_exact", "denominator", "lepe"};
  static constexpr llvm::StringRef effatt[] = {"kind", "lepe"};
  static constexpr llvm::StringRef eva[] = {"kind",          "window", "chunk",    "mu_weight",
                                            "exclude_local", "mass",   "low_rank", "lepe"};
  static constexpr llvm::StringRef agent[] = {"kind", "agents", "lepe"};
  static constexpr Names fields[] = {softmax, polynomial, kernel, polysketch, effatt, eva, agent};
  return fields[static_cast<unsigned>(kind)];
}

Names featureMapKinds() {
  static constexpr llvm::StringRef names[] = {"favor", "favor_relu", "elu1", "relu", "cosformer", "focused"};
  return names;
}

Names fieldsOf(FeatureMapKind kind) {
  static constexpr llvm::StringRef favor[] = {"kind", "features", "per_head", "epsilon", "stabilizer"};
  static constexpr llvm::StringRef favorRelu[] = {"kind", "features", "per_head", "epsilon", "normalize"};
  static constexpr llvm::StringRef plain[] = {"kind"};
  static constexpr llvm::StringRef cosformer[] = {"kind", "max_position"};
  static constexpr llvm::StringRef focused[] = {"kind", "power", "epsilon"};
  static constexpr Names fields[] = {favor, favorRelu, plain, plain, cosformer, focused};
  return fields[static_cast<unsigned>(kind)];
}

Names stabilizers() {
  static constexpr llvm::StringRef names[] = {"constant", "max", "projection", "none"};
  return names;
}

/// The fields of all `count` kinds of type Kind, each once.
template <typename Kind> static llvm::SmallVector<llvm::StringRef> unionOfFields(size_t count) {
  llvm::SmallVector<llvm::StringRef> result;
  for (unsigned i = 0; i < count; ++i)
    for (llvm::StringRef name : fieldsOf(static_cast<Kind>(i)))
      if (!llvm::is_contained(result, name))
        result.push_back(name);
  return result;
}

template <typename Kind> static std::string ownersOf(llvm::StringRef field, Names kinds) {
  llvm::SmallVector<llvm::StringRef> owners;
  for (unsigned i = 0; i < kinds.size(); ++i)
    if (llvm::is_contained(fieldsOf(static_cast<Kind>(i)), field))
      owners.push_back(kinds[i]);
  return llvm::join(owners, ", ");
}

llvm::SmallVector<llvm::StringRef> allMechanismFields() {
  return unionOfFields<MechanismKind>(mechanismKinds().size());
}

llvm::SmallVector<llvm::StringRef> allFeatureMapFields() {
  return unionOfFields<FeatureMapKind>(featureMapKinds().size());
}

std::string kindsWithField(llvm::StringRef field) { return ownersOf<MechanismKind>(field, mechanismKinds()); }

std::string mapsWithField(llvm::StringRef field) { return ownersOf<FeatureMapKind>(field, featureMapKinds()); }

} // namespace attune::grammar
