//===- Evaluate.cpp - Terms as numbers ----------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace attune::raise;

static std::optional<double> computeOne(Function function, double x) {
  switch (function) {
  case Function::Negate:
    return -x;
  case Function::Exp:
    return std::exp(x);
  case Function::Exp2:
    return std::exp2(x);
  case Function::ExpM1:
    return std::expm1(x);
  case Function::Log:
    return std::log(x);
  case Function::Sqrt:
    return std::sqrt(x);
  case Function::Rsqrt:
    return 1 / std::sqrt(x);
  case Function::Tanh:
    return std::tanh(x);
  case Function::Abs:
    return std::abs(x);
  case Function::Floor:
    return std::floor(x);
  default:
    return std::nullopt;
  }
}

static std::optional<double> computeTwo(Function function, double x, double y) {
  switch (function) {
  case Function::Add:
    return x + y;
  case Function::Subtract:
    return x - y;
  case Function::Multiply:
    return x * y;
  case Function::Divide:
    return x / y;
  case Function::Remainder:
    return std::fmod(x, y);
  case Function::Max:
    return std::max(x, y);
  case Function::Min:
    return std::min(x, y);
  case Function::Equal:
    return x == y;
  case Function::NotEqual:
    return x != y;
  case Function::Less:
    return x < y;
  case Function::LessEqual:
    return x <= y;
  case Function::Greater:
    return x > y;
  case Function::GreaterEqual:
    return x >= y;
  case Function::And:
    return x != 0 && y != 0;
  case Function::Or:
    return x != 0 || y != 0;
  case Function::Xor:
    return (x != 0) != (y != 0);
  default:
    return std::nullopt;
  }
}

std::optional<double> attune::raise::compute(Function function, ArrayRef<double> operands) {
  if (operands.size() == 1)
    return computeOne(function, operands[0]);
  if (operands.size() == 2)
    return computeTwo(function, operands[0], operands[1]);
  if (function == Function::Select && operands.size() == 3)
    return operands[0] != 0 ? operands[1] : operands[2];
  return std::nullopt;
}

std::string attune::raise::textOf(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

/// The entry of a blob: of numbers of whole bytes.
static std::optional<double> entryOf(DenseResourceElementsAttr attribute, int64_t place) {
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  Type type = attribute.getElementType();
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  if (!blob || bits % 8 != 0 || bits == 0 || bits > 64 || size_t(place + 1) * (bits / 8) > blob->getData().size())
    return std::nullopt;
  uint64_t raw = 0;
  std::memcpy(&raw, blob->getData().data() + place * (bits / 8), bits / 8);
  if (auto number = dyn_cast<FloatType>(type)) {
    APFloat value(number.getFloatSemantics(), APInt(bits, raw));
    bool inexact = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToDouble();
  }
  return static_cast<double>(APInt(bits, raw).getSExtValue());
}

/// The entry of a constant tensor.
static std::optional<double> entryOf(Value tensor, ArrayRef<int64_t> at) {
  ElementsAttr constant;
  if (!matchPattern(tensor, m_Constant(&constant)))
    return std::nullopt;
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  auto attribute = dyn_cast<DenseElementsAttr>(constant);
  if (!resource && !attribute)
    return std::nullopt;
  int64_t place = 0;
  for (auto [coordinate, size] : llvm::zip_equal(at, constant.getShapedType().getShape())) {
    if (coordinate < 0 || coordinate >= size)
      return std::nullopt;
    place = place * size + coordinate;
  }
  if (resource)
    return entryOf(resource, place);
  Type type = attribute.getElementType();
  if (isa<FloatType>(type)) {
    APFloat value = attribute.getValues<APFloat>()[place];
    bool inexact = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToDouble();
  }
  if (!isa<IntegerType, IndexType>(type))
    return std::nullopt;
  APInt value = attribute.getValues<APInt>()[place];
  return type.isInteger(1) ? value.getBoolValue() : static_cast<double>(value.getSExtValue());
}

std::optional<double> Terms::evaluate(TermRef term, ArrayRef<int64_t> at, Unknown &unknown) {
  if (term->kind == Kind::Number)
    return term->number;
  if (term->kind == Kind::Place)
    return static_cast<double>(valueOf(term->at[0], at));
  if (term->kind == Kind::Element) {
    if (TermRef inside = expand(term))
      return evaluate(inside, at, unknown);
    SmallVector<int64_t> coordinates;
    for (AffineExpr expr : term->at)
      coordinates.push_back(valueOf(expr, at));
    std::optional<double> entry = entryOf(term->value, coordinates);
    if (!entry)
      unknown.value = term->value;
    return entry;
  }
  if (term->kind != Kind::Apply) {
    unknown.value = term->value;
    return std::nullopt;
  }
  SmallVector<double, 3> operands;
  for (TermRef operand : term->operands) {
    std::optional<double> value = evaluate(operand, at, unknown);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  return compute(term->function, operands);
}
