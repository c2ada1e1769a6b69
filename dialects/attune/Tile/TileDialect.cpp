//===- TileDialect.cpp - Registration, parsing and printing -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"
#include "attune/VersionedBytecode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::tile;

AsmPrinter &attune::tile::operator<<(AsmPrinter &printer, const WarpGrid &grid) {
  printer.getStream() << '[' << grid.rows << ", " << grid.columns << ']';
  return printer;
}

FailureOr<WarpGrid> FieldParser<WarpGrid>::parse(AsmParser &parser) {
  WarpGrid grid;
  if (parser.parseLSquare() || parser.parseInteger(grid.rows) || parser.parseComma() ||
      parser.parseInteger(grid.columns) || parser.parseRSquare())
    return failure();
  return grid;
}

static ParseResult parseAction(AsmParser &parser, int64_t &power) {
  power = RescaledSumAttr::exp2;
  if (succeeded(parser.parseOptionalKeyword("exp2")))
    return success();
  SMLoc place = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("power")))
    return parser.emitError(place) << "expected exp2 or power";
  place = parser.getCurrentLocation();
  if (failed(parser.parseInteger(power)))
    return failure();
  return power >= 1 ? success() : parser.emitError(place) << "expected a power of at least 1, but got " << power;
}

static void printAction(AsmPrinter &printer, int64_t power) {
  if (power == RescaledSumAttr::exp2)
    printer << "exp2";
  else
    printer << "power " << power;
}

#include "attune/Tile/TileDialect.cpp.inc"
#include "attune/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attune/Tile/TileAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "attune/Tile/TileOps.cpp.inc"

/// To version 2, which has carries as attributes of their own: the parser of attributes reads the first ones.
static LogicalResult readFirstCarries(Operation *) { return success(); }
/// To version 3, whose loops have a direction: `readProperties` asks the version.
static LogicalResult readLoopsWithoutDirection(Operation *) { return success(); }
/// To version 4, whose scans may erase: what is more than five operands was a decay.
static LogicalResult readScansThatDecayOnly(Operation *root) {
  root->walk([](ScanOp scan) { scan.getProperties().operandSegmentSizes = {1, 1, 1, 1, 1, static_cast<int32_t>(scan->getNumOperands()) - 5, 0}; });
  return success();
}

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attune/Tile/TileOps.cpp.inc"
      >();
  static constexpr attune::BytecodeUpgrade upgrades[] = {readFirstCarries, readLoopsWithoutDirection, readScansThatDecayOnly};
  addInterface(std::make_unique<VersionedBytecode>(this, upgrades));
}

//===----------------------------------------------------------------------===//
// tile.loop
//===----------------------------------------------------------------------===//

void LoopOp::build(OpBuilder &builder, OperationState &state, CarryAttrInterface carry, Value lower, Value upper,
                   int64_t step, ValueRange inits,
                   function_ref<void(OpBuilder &, Location, Value, ValueRange)> body, bool reverse) {
  state.addOperands({lower, upper});
  state.addOperands(inits);
  state.addAttribute(getCarryAttrName(state.name), carry);
  state.addAttribute(getStepAttrName(state.name), builder.getI64IntegerAttr(step));
  if (reverse)
    state.addAttribute(getReverseAttrName(state.name), builder.getUnitAttr());
  state.addTypes(inits.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  block->addArgument(builder.getIndexType(), state.location);
  for (Value init : inits)
    block->addArgument(init.getType(), init.getLoc());
  if (body)
    body(builder, state.location, block->getArgument(0), block->getArguments().drop_front());
}

// tile.loop #CARRY %iv = %lower to %upper step INT (reverse)? carries(%arg = %init, ...) : (types) attr-dict { body }
ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Attribute attribute;
  OpAsmParser::Argument iv;
  OpAsmParser::UnresolvedOperand lower, upper;
  int64_t step;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseAttribute(attribute))
    return failure();
  auto carry = dyn_cast<CarryAttrInterface>(attribute);
  if (!carry)
    return parser.emitError(place) << "expected a carry, such as #tile.sum, but got " << attribute;
  if (parser.parseArgument(iv) || parser.parseEqual() || parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) || parser.parseKeyword("step") || parser.parseInteger(step))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    result.addAttribute(getReverseAttrName(result.name), parser.getBuilder().getUnitAttr());
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  if (succeeded(parser.parseOptionalKeyword("carries"))) {
    if (parser.parseAssignmentList(arguments, inits) || parser.parseColon() || parser.parseLParen() ||
        parser.parseTypeList(types) || parser.parseRParen())
      return failure();
  }
  if (arguments.size() != types.size())
    return parser.emitError(place) << "expected a type for each of " << arguments.size() << " carried tiles, but got "
                                   << types.size();
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  iv.type = index;
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  arguments.insert(arguments.begin(), iv);
  if (parser.resolveOperand(lower, index, result.operands) || parser.resolveOperand(upper, index, result.operands) ||
      parser.resolveOperands(inits, types, place, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.addAttribute(getCarryAttrName(result.name), carry);
  result.addAttribute(getStepAttrName(result.name), builder.getI64IntegerAttr(step));
  result.addTypes(types);
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCarry() << ' ' << getInductionVar() << " = " << getLower() << " to "
          << getUpper() << " step " << getStep() << (getReverse() ? " reverse" : "");
  if (!getInitArgs().empty()) {
    printer << " carries(";
    llvm::interleaveComma(llvm::zip(getCarried(), getInitArgs()), printer, [&](auto pair) {
      printer << std::get<0>(pair) << " = " << std::get<1>(pair);
    });
    printer << ") : (" << getInitArgs().getTypes() << ")";
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getCarryAttrName(), getStepAttrName(), getReverseAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult LoopOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readAttribute(properties.carry)) || failed(reader.readAttribute(properties.step)))
    return failure();
  return versionRead(reader, TileDialect::getDialectNamespace()) < 3 ? success()
                                                                     : reader.readOptionalAttribute(properties.reverse);
}

void LoopOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeAttribute(getProperties().carry);
  writer.writeAttribute(getProperties().step);
  writer.writeOptionalAttribute(getProperties().reverse);
}

/// None of a branch: what it computes stays there, as it may not run.
SmallVector<Region *> LoopOp::getLoopRegions() {
  return isBranch() ? SmallVector<Region *>() : SmallVector<Region *>{&getBody()};
}
MutableArrayRef<OpOperand> LoopOp::getInitsMutable() { return getInitArgsMutable(); }
Block::BlockArgListType LoopOp::getRegionIterArgs() { return getCarried(); }
std::optional<MutableArrayRef<OpOperand>> LoopOp::getYieldedValuesMutable() { return getYield()->getOpOperands(); }
std::optional<ResultRange> LoopOp::getLoopResults() { return getResults(); }

//===----------------------------------------------------------------------===//
// tile.kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, TypeRange arguments,
                     ArrayRef<Axis> grid, ScheduleAttr schedule) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> axes;
  for (Axis axis : grid)
    axes.push_back(AxisAttr::get(context, axis));
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(builder.getFunctionType(arguments, {})));
  state.addAttribute(getGridAttrName(state.name), builder.getArrayAttr(axes));
  if (schedule)
    state.addAttribute(getScheduleAttrName(state.name), schedule);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (Type type : arguments)
    block->addArgument(type, state.location);
}

// tile.kernel @name(%arg: type, ...) grid(axis, ...) attributes {...} { body }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(parser, /*allowVariadic=*/false, arguments,
                                                                   isVariadic, resultTypes, resultAttrs))
    return failure();
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Axis> axis = symbolizeAxis(keyword);
    if (!axis)
      return parser.emitError(place) << "expected a grid axis, one of batch, head, query_block, key_piece, value_block, "
                                        "but got '" << keyword << "'";
    axes.push_back(AxisAttr::get(builder.getContext(), *axis));
    return success();
  };
  if (parser.parseKeyword("grid") || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseAxis) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types;
  for (OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name), TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  result.addAttribute(getGridAttrName(result.name), builder.getArrayAttr(axes));
  call_interface_impl::addArgAndResultAttrs(builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(printer, getArgumentTypes(), getArgAttrsAttr(), /*isVariadic=*/false,
                                              getResultTypes(), getResAttrsAttr(), &getBody(),
                                              /*printEmptyResult=*/false);
  printer << " grid(";
  llvm::interleaveComma(getGrid().getAsRange<AxisAttr>(), printer,
                        [&](AxisAttr axis) { printer << stringifyAxis(axis.getValue()); });
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getFunctionTypeAttrName(), getGridAttrName(),
                                            getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

std::optional<unsigned> KernelOp::getGridPosition(Axis axis) {
  for (auto [position, attribute] : llvm::enumerate(getGrid().getAsRange<AxisAttr>()))
    if (attribute.getValue() == axis)
      return position;
  return std::nullopt;
}
