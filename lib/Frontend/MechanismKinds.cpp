//===- MechanismKinds.cpp - The kinds of mechanisms and their fields -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"

namespace attune {

// Each in its file of Mechanisms/.
extern const MechanismKind &softmaxKind, &polynomialKind, &kernelKind, &polysketchKind, &effattKind, &evaKind, &agentKind;
extern const MechanismField &featureMapField, &denominatorField, &windowField, &lowRankField, &lepeField, &softcapField, &alibiField,
    &decayField, &eraseField, &writeField;

llvm::ArrayRef<const MechanismKind *> mechanismKinds() {
  static const MechanismKind *const kinds[] = {&softmaxKind, &polynomialKind, &kernelKind, &polysketchKind,
                                               &effattKind,  &evaKind,        &agentKind};
  return kinds;
}

llvm::ArrayRef<const MechanismField *> mechanismFields() {
  static const MechanismField *const fields[] = {&featureMapField, &denominatorField, &windowField, &lowRankField,
                                                 &lepeField,       &softcapField,     &alibiField,  &decayField,
                                                 &eraseField,      &writeField};
  return fields;
}

const KindTable &mechanismTable() {
  static const KindTable table = [] {
    KindTable kinds("mechanism");
    for (const MechanismKind *kind : mechanismKinds())
      kinds.add(kind->name, kind->fields);
    return kinds;
  }();
  return table;
}

} // namespace attune
