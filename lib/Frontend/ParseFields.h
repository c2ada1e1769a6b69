//===- ParseFields.h - The parsing of each mapping of a spec -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_PARSEFIELDS_H
#define ATTUNE_LIB_FRONTEND_PARSEFIELDS_H

#include "FieldIO.h"

namespace attune {

// Each function reads one mapping, types and ranges only; what fields mean together is checked in SpecRules.

Fields::Names topFields();
/// What is to be said of a field that the language has and this version has not; else nothing.
std::string remarkOnField(llvm::StringRef field);

/// Everything beside the mechanisms.
void parseTop(Fields &top);
/// The fields of a mapping beside the mechanisms, to read or to write.
void visitFields(FieldIO &fields, Projection &of);
void visitFields(FieldIO &fields, Rope &of);
void visitFields(FieldIO &fields, QkNorm &of);
/// `gradients`: whether it is a list of words; `checkGradients` knows which words are names.
void parseGradients(Fields &top);
/// `mechanism` and `parts`.
void parseParts(Fields &top);
/// `allow` and `pin`.
void parseLaws(Fields &top);

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_PARSEFIELDS_H
