//===- KindTable.h - The kinds that a mapping may be of ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_KINDTABLE_H
#define ATTUNE_LIB_FRONTEND_KINDTABLE_H

#include "Fields.h"

#include "llvm/ADT/SmallVector.h"

namespace attune {

using Names = Fields::Names;

/// The kinds that a mapping with a field `kind` may be of, and the fields of each, `kind` first.
class KindTable {
public:
  explicit KindTable(llvm::StringRef what) : what(what) {}

  void add(llvm::StringRef kind, Names fields) {
    kinds.push_back(kind), fieldsOfKinds.push_back(fields);
  }
  Names names() const { return kinds; }
  /// The fields of all kinds, each once.
  llvm::SmallVector<llvm::StringRef> allFields() const;
  /// "kernel, eva": the kinds that have this field.
  std::string ownersOf(llvm::StringRef field) const;
  /// The index of the kind that is written; absent if it is missing or wrong. Fields that this kind has not are reported; of a
  /// wrong kind, those that no kind has.
  std::optional<unsigned> parse(Fields &fields) const;

private:
  void allowFieldsOf(Fields &fields, std::optional<unsigned> kind) const;

  llvm::StringRef what; // the mapping's name in messages
  llvm::SmallVector<llvm::StringRef> kinds;
  llvm::SmallVector<Names> fieldsOfKinds;
};

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_KINDTABLE_H
