//===- Spec.cpp - An attention spec --------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/Spec.h"

#include "Grammar.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace attune {

llvm::StringRef nameOf(MechanismKind kind) { return grammar::mechanismKinds()[static_cast<unsigned>(kind)]; }

FeatureMap featureMapOf(FeatureMapKind kind) {
  return llvm::find_if(grammar::featureMaps(), [&](auto &row) { return row.defaults.kind == kind; })->defaults;
}

bool Mechanism::isScaled() const {
  if (kind == MechanismKind::Kernel)
    return featureMap.normalize;
  return kind != MechanismKind::Effatt;
}

double Spec::logitScale(const Part &part) const {
  if (scale)
    return *scale;
  MechanismKind kind = part.mechanism.kind;
  bool power = kind == MechanismKind::Polynomial || kind == MechanismKind::Polysketch;
  return power ? 1.0 : 1.0 / std::sqrt(static_cast<double>(headDim));
}

FieldPlace Spec::placeOf(llvm::StringRef path) const {
  for (;;) {
    auto found = places.find(path);
    if (found != places.end())
      return found->second;
    if (path.empty())
      return {{1, 1}, {1, 1}};
    size_t cut = path.find_last_of(".[");
    path = cut == llvm::StringRef::npos ? "" : path.take_front(cut);
  }
}

} // namespace attune
