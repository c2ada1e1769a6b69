//===- KindTable.cpp - The kinds that a mapping may be of ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KindTable.h"

#include "ParseFields.h"

#include "llvm/ADT/StringExtras.h"

namespace attune {

llvm::SmallVector<llvm::StringRef> KindTable::allFields() const {
  llvm::SmallVector<llvm::StringRef> result;
  for (Names fields : fieldsOfKinds)
    for (llvm::StringRef name : fields)
      if (!llvm::is_contained(result, name))
        result.push_back(name);
  return result;
}

std::string KindTable::ownersOf(llvm::StringRef field) const {
  llvm::SmallVector<llvm::StringRef> owners;
  for (auto [kind, fields] : llvm::zip_equal(kinds, fieldsOfKinds))
    if (llvm::is_contained(fields, field))
      owners.push_back(kind);
  return llvm::join(owners, ", ");
}

void KindTable::allowFieldsOf(Fields &fields, std::optional<unsigned> kind) const {
  if (!kind)
    return fields.allowOnly(allFields(), what);
  std::string name = (what + " " + kinds[*kind]).str();
  fields.allowOnly(fieldsOfKinds[*kind], name, [&](llvm::StringRef key) -> std::string {
    std::string list = ownersOf(key);
    return list.empty() ? remarkOnField(key) : quoted(key) + " is a field of " + list;
  });
}

/// A misspelt key `kind` is found by `allowFieldsOf`, which therefore comes before the report of a missing one.
std::optional<unsigned> KindTable::parse(Fields &fields) const {
  std::optional<unsigned> kind;
  if (fields.has("kind"))
    kind = fields.choice("kind", kinds);
  allowFieldsOf(fields, kind);
  fields.require("kind");
  return kind;
}

} // namespace attune
