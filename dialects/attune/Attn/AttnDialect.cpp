//===- AttnDialect.cpp - Registration, parsing and printing -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
#define GET_ATTRDEF_CLASSES
#include "attune/Attn/AttnAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "attune/Attn/AttnOps.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Attn/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attune/Attn/AttnOps.cpp.inc"
      >();
}

// <bias = FLOAT, floor = FLOAT>
Attribute DenominatorAttr::parse(AsmParser &parser, Type) {
  double bias, floor;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("bias") || parser.parseEqual() || parser.parseFloat(bias) ||
      parser.parseComma() || parser.parseKeyword("floor") || parser.parseEqual() || parser.parseFloat(floor) ||
      parser.parseGreater())
    return {};
  auto attribute = [&](double value) { return parser.getBuilder().getF64FloatAttr(value); };
  return parser.getChecked<DenominatorAttr>(place, parser.getContext(), attribute(bias), attribute(floor));
}

void DenominatorAttr::print(AsmPrinter &printer) const {
  printer << "<bias = ";
  printer.printFloat(getBiasAttr().getValue());
  printer << ", floor = ";
  printer.printFloat(getFloorAttr().getValue());
  printer << '>';
}

LogicalResult DenominatorAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr bias, FloatAttr floor) {
  auto fits = [](FloatAttr value) {
    return value.getType().isF64() && value.getValue().isFinite() && value.getValueAsDouble() >= 0;
  };
  if (!fits(bias) || !fits(floor))
    return emitError() << "expected a finite bias and floor of at least 0";
  return success();
}
