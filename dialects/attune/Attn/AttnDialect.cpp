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

/// S, z and M of a state: each stands behind those before it, and may be missing with those behind it.
using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// initial(%s, %z, %m : type, type, type)
static OptionalParseResult parseInitial(OpAsmParser &parser, OptionalOperand &state, OptionalOperand &sum, OptionalOperand &scale,
                                        Type &stateType, Type &sumType, Type &scaleType) {
  if (failed(parser.parseOptionalKeyword("initial")))
    return std::nullopt;
  SMLoc place = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  SmallVector<Type, 3> types;
  if (parser.parseLParen() || parser.parseOperandList(operands) || parser.parseColonTypeList(types) || parser.parseRParen())
    return ParseResult(failure());
  if (operands.empty() || operands.size() > 3 || types.size() != operands.size())
    return ParseResult(parser.emitError(place) << "expected 1 to 3 values of an initial state, each with its type, but got "
                                               << operands.size() << " with " << types.size());
  OptionalOperand *all[] = {&state, &sum, &scale};
  Type *allTypes[] = {&stateType, &sumType, &scaleType};
  for (auto [number, operand, type] : llvm::enumerate(operands, types))
    *all[number] = operand, *allTypes[number] = type;
  return ParseResult(success());
}

static void printInitial(OpAsmPrinter &printer, Operation *, Value state, Value sum, Value scale, Type, Type, Type) {
  SmallVector<Value, 3> given;
  for (Value value : {state, sum, scale})
    if (value)
      given.push_back(value);
  printer << "initial(" << given << " : " << ValueRange(given).getTypes() << ")";
}

/// type, final type, type, type
static ParseResult parseResults(OpAsmParser &parser, Type &output, Type &state, Type &sum, Type &scale) {
  if (parser.parseType(output))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("final") || parser.parseType(state))
    return failure();
  for (Type *type : {&sum, &scale})
    if (failed(parser.parseOptionalComma()))
      return success();
    else if (parser.parseType(*type))
      return failure();
  return success();
}

static void printResults(OpAsmPrinter &printer, Operation *, Type output, Type state, Type sum, Type scale) {
  printer << output;
  if (state)
    printer << ", final " << state;
  for (Type type : {sum, scale})
    if (type)
      printer << ", " << type;
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
