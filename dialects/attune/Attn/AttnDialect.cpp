//===- AttnDialect.cpp - Registration, parsing and printing -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnBytecode.h"
#include "attune/Attn/Attn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::attn;

/// [role, role, ...]
static ParseResult parseRoles(OpAsmParser &parser, ArrayAttr &roles) {
  SmallVector<Attribute> parsed;
  auto parseRole = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Role> role = symbolizeRole(keyword);
    if (!role)
      return parser.emitError(place) << "expected a role, one of batch, head, query, key, feature, value, but got '"
                                     << keyword << "'";
    parsed.push_back(RoleAttr::get(parser.getContext(), *role));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRole))
    return failure();
  roles = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printRoles(OpAsmPrinter &printer, Operation *, ArrayAttr roles) {
  printer << '[';
  llvm::interleaveComma(roles.getAsRange<RoleAttr>(), printer,
                        [&](RoleAttr role) { printer << stringifyRole(role.getValue()); });
  printer << ']';
}

#include "attune/Attn/AttnDialect.cpp.inc"
#include "attune/Attn/AttnEnums.cpp.inc"
#include "attune/Attn/AttnInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "attune/Attn/AttnOps.cpp.inc"

void AttnDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "attune/Attn/AttnOps.cpp.inc"
      >();
  addInterface(std::make_unique<VersionedBytecode>(this, bytecodeUpgrades()));
}
