//===- FeatureMap.h - What is asked of feature maps ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_MECHANISMS_FEATUREMAP_H
#define ATTUNE_LIB_FRONTEND_MECHANISMS_FEATUREMAP_H

#include "../KindTable.h"
#include "../SpecRules.h"

namespace attune {

/// The names of the maps and of their fields.
const KindTable &featureMapTable();
Names stabilizers();

/// The maps whose state may decay, and those from whose state keys may erase.
Names mapsThatDecay();
Names mapsThatErase();
/// Whether features depend on the places of tokens.
bool hasPlaces(const Mechanism &mechanism);
/// Whether query heads that share a key-value head have features of their own.
bool hasFeaturesOfHeads(const Mechanism &mechanism);
/// S59: those that share one would share its state.
void refuseSharedHeads(PartRules &rules);
/// A bound of |φ(x)|² where `squares` is one of |x|² and x has `width` channels; of maps that tokens may be erased from.
double boundOfFeatures(FeatureMapKind map, double squares, double width);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_MECHANISMS_FEATUREMAP_H
