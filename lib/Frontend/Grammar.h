//===- Grammar.h - The fields of each mapping of a spec ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_GRAMMAR_H
#define ATTUNE_LIB_FRONTEND_GRAMMAR_H

#include "attune/Frontend/Spec.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace attune::grammar {

using Names = llvm::ArrayRef<llvm::StringRef>;

Names topFields();
Names mechanismKinds();
/// Fields of a mechanism of that kind, `kind` first.
Names fieldsOf(MechanismKind kind);
/// Fields of any mechanism.
llvm::SmallVector<llvm::StringRef> allMechanismFields();
/// "kernel, eva": the kinds that have this field.
std::string kindsWithField(llvm::StringRef field);

/// A feature map that a spec may name. One without fields of its own takes no more than its row here.
struct FeatureMapRow {
  FeatureMap defaults;
  Names fields; // `kind` first
};
llvm::ArrayRef<FeatureMapRow> featureMaps();
/// Their names, in the same order.
Names featureMapKinds();
llvm::SmallVector<llvm::StringRef> allFeatureMapFields();
std::string mapsWithField(llvm::StringRef field);
Names stabilizers();
/// What has a decay of its own, in the order of `Per`.
Names decays();
/// Those that erasing and writing have, the last of them.
Names gates();
Names normKinds();
/// What is to be said of a field that the language has and this version has not; else nothing.
std::string remarkOnField(llvm::StringRef field);

} // namespace attune::grammar

#endif // ATTUNE_LIB_FRONTEND_GRAMMAR_H
