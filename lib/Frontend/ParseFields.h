//===- ParseFields.h - The parsing of each mapping of a spec -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_PARSEFIELDS_H
#define ATTUNE_LIB_FRONTEND_PARSEFIELDS_H

#include "Fields.h"

namespace attune {

// Each function reads one mapping, types and ranges only; what fields mean together is checked in SpecRules.

/// Everything beside the mechanisms.
void parseTop(Fields &top);
/// `mechanism` and `parts`.
void parseParts(Fields &top);
/// `allow` and `pin`.
void parseLaws(Fields &top);

/// The mapping `mechanism` of `owner`, which has it.
Mechanism parseMechanism(Fields &owner);
FeatureMap parseFeatureMap(const Fields &mechanism);
Window parseWindow(const Fields &mechanism, bool onlyLength);
LowRank parseLowRank(const Fields &mechanism);
Lepe parseLepe(const Fields &mechanism);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_PARSEFIELDS_H
