//===- Spec.cpp - An attention spec --------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/Spec.h"

#include "MechanismKind.h"

#include "llvm/ADT/STLExtras.h"

namespace attune {

const MechanismKind *mechanismKindOf(llvm::StringRef name) {
  return *llvm::find_if(mechanismKinds(), [&](const MechanismKind *kind) { return kind->name == name; });
}

llvm::StringRef Mechanism::name() const { return kind->name; }

bool Mechanism::has(llvm::StringRef field) const { return kind->has(field); }

bool Mechanism::isScaled() const { return kind->isScaled(*this); }

double Spec::logitScale(const Part &part) const {
  return scale ? *scale : part.mechanism.kind->defaultScale(headDim);
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
