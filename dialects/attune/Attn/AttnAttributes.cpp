//===- AttnAttributes.cpp - Attributes of the attn dialect as text -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Attn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace attune::attn;

#define GET_ATTRDEF_CLASSES
#include "attune/Attn/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Attn/AttnAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Feature maps: <kind, field = value, …>, fields that the kind does not have left out
//===----------------------------------------------------------------------===//

namespace {
struct MapFields {
  int64_t features = 0, maxPosition = 0;
  double epsilon = 0, scale = 0, power = 0;
  Stabilizer stabilizer = Stabilizer::Constant;
};
} // namespace

/// In the order in which they are printed. A field that is left out in a text is 0, a stabilizer `constant`.
static ArrayRef<StringLiteral> fieldsOf(FeatureKind kind) {
  static constexpr StringLiteral favor[] = {"features", "epsilon", "scale", "stabilizer"},
                                 favorRelu[] = {"features", "epsilon", "scale"}, cosformer[] = {"max_position"},
                                 focused[] = {"epsilon", "power"}, identity[] = {"scale"};
  switch (kind) {
  case FeatureKind::Favor:
    return favor;
  case FeatureKind::FavorRelu:
    return favorRelu;
  case FeatureKind::Cosformer:
    return cosformer;
  case FeatureKind::Focused:
    return focused;
  case FeatureKind::Identity:
    return identity;
  default:
    return {};
  }
}

static SmallVector<StringRef> mapNames() {
  return llvm::map_to_vector(llvm::seq(0u, getMaxEnumValForFeatureKind() + 1u),
                             [](unsigned kind) { return stringifyFeatureKind(static_cast<FeatureKind>(kind)); });
}

static ParseResult parseStabilizer(AsmParser &parser, Stabilizer &stabilizer) {
  StringRef keyword;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Stabilizer> found = symbolizeStabilizer(keyword);
  if (!found)
    return parser.emitError(place) << "expected a stabilizer (constant, max, projection, none), but got '" << keyword
                                   << "'";
  stabilizer = *found;
  return success();
}

static ParseResult parseField(AsmParser &parser, StringRef name, MapFields &fields) {
  if (name == "features")
    return parser.parseInteger(fields.features);
  if (name == "max_position")
    return parser.parseInteger(fields.maxPosition);
  if (name == "stabilizer")
    return parseStabilizer(parser, fields.stabilizer);
  return parser.parseFloat(name == "epsilon" ? fields.epsilon : name == "scale" ? fields.scale : fields.power);
}

static ParseResult parseFields(AsmParser &parser, FeatureKind kind, MapFields &fields) {
  llvm::StringSet<> seen;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    if (!llvm::is_contained(fieldsOf(kind), name))
      return parser.emitError(place) << "expected a field of " << stringifyFeatureKind(kind) << " ("
                                     << llvm::join(fieldsOf(kind), ", ") << "), but got '" << name << "'";
    if (!seen.insert(name).second)
      return parser.emitError(place) << "expected '" << name << "' once, but got it again";
    if (parser.parseEqual() || parseField(parser, name, fields))
      return failure();
  }
  return success();
}

Attribute FeatureMapAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<FeatureKind> kind = symbolizeFeatureKind(keyword);
  if (!kind) {
    parser.emitError(place) << "expected a feature map (" << llvm::join(mapNames(), ", ") << "), but got '" << keyword
                            << "'";
    return {};
  }
  MapFields fields;
  if (parseFields(parser, *kind, fields) || parser.parseGreater())
    return {};
  auto attribute = [&](double value) { return parser.getBuilder().getF64FloatAttr(value); };
  return parser.getChecked<FeatureMapAttr>(place, parser.getContext(), *kind, fields.features,
                                           attribute(fields.epsilon), attribute(fields.scale), attribute(fields.power),
                                           fields.maxPosition, fields.stabilizer);
}

void FeatureMapAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyFeatureKind(getKind());
  for (StringRef name : fieldsOf(getKind())) {
    printer << ", " << name << " = ";
    if (name == "features")
      printer << getFeatureCount();
    else if (name == "max_position")
      printer << getMaxPosition();
    else if (name == "stabilizer")
      printer << stringifyStabilizer(getStabilizer());
    else
      printer.printFloat((name == "epsilon" ? getEpsilonAttr()
                          : name == "scale" ? getScaleAttr()
                                            : getPowerAttr())
                             .getValue());
  }
  printer << '>';
}

LogicalResult FeatureMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, FeatureKind kind, int64_t features,
                                     FloatAttr epsilon, FloatAttr scale, FloatAttr power, int64_t maxPosition,
                                     Stabilizer) {
  for (FloatAttr value : {epsilon, scale, power})
    if (!value.getType().isF64() || !value.getValue().isFinite() || value.getValueAsDouble() < 0)
      return emitError() << "expected finite numbers of at least 0 in a feature map";
  bool random = kind == FeatureKind::Favor || kind == FeatureKind::FavorRelu;
  if (random ? features < 1 : features != 0)
    return emitError() << "expected " << (random ? "at least one feature" : "no count of features") << " of "
                       << stringifyFeatureKind(kind) << ", but got " << features;
  if ((kind == FeatureKind::Favor || kind == FeatureKind::Identity) && scale.getValueAsDouble() == 0)
    return emitError() << "expected a scale > 0 of " << stringifyFeatureKind(kind) << ", but got 0";
  if (kind == FeatureKind::Cosformer && maxPosition < 1)
    return emitError() << "expected a max_position of at least 1, but got " << maxPosition;
  if (kind == FeatureKind::Focused && (power.getValueAsDouble() == 0 || epsilon.getValueAsDouble() == 0))
    return emitError() << "expected a power and an epsilon > 0 of focused";
  return success();
}

int64_t FeatureMapAttr::getFeatures(int64_t width) const { return getFeatureCount() > 0 ? getFeatureCount() : featuresOf(getKind(), width); }

int64_t FeatureMapAttr::featuresOf(FeatureKind kind, int64_t width) {
  switch (kind) {
  case FeatureKind::Cosformer:
    return 2 * width;
  case FeatureKind::TensorSquare:
    return width * width;
  case FeatureKind::SymmetricSquare:
    return width * (width / 2 + 1);
  default:
    return width;
  }
}

double FeatureMapAttr::weightOfShift(int64_t shift, int64_t width) { return shift == 0 || 2 * shift == width ? 1 : std::numbers::sqrt2; }

bool FeatureMapAttr::hasParameter() const {
  return getFeatureCount() > 0 || getKind() == FeatureKind::Focused;
}

FeatureMapAttr FeatureMapAttr::withStabilizer(Stabilizer stabilizer) const {
  return get(getContext(), getKind(), getFeatureCount(), getEpsilon(), getScale(), getPower(), getMaxPosition(),
             stabilizer);
}

bool FeatureMapAttr::stabilizerCancels(DenominatorAttr guard) const {
  return isFavor() && getEpsilon() == 0 && guard.cancelsFactors();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, Form, int64_t from) {
  return from >= 0 ? success() : emitError() << "expected a plan from a length of at least 0 on, but got " << from;
}

//===----------------------------------------------------------------------===//
// Windows: <LENGTH> or <ROWSxCOLUMNS of GRIDROWSxGRIDCOLUMNS>
//===----------------------------------------------------------------------===//

Attribute WindowAttr::parse(AsmParser &parser, Type) {
  SMLoc place = parser.getCurrentLocation();
  SmallVector<int64_t> size, grid;
  auto dimensions = [&](SmallVector<int64_t> &list) {
    return parser.parseDimensionList(list, /*allowDynamic=*/false, /*withTrailingX=*/false);
  };
  if (parser.parseLess() || dimensions(size))
    return {};
  bool ofGrid = succeeded(parser.parseOptionalKeyword("of"));
  if ((ofGrid && dimensions(grid)) || parser.parseGreater())
    return {};
  if (size.size() != (ofGrid ? 2 : 1) || grid.size() != (ofGrid ? 2 : 0)) {
    parser.emitError(place) << "expected a window <LENGTH>, or <ROWSxCOLUMNS of GRIDROWSxGRIDCOLUMNS>";
    return {};
  }
  if (!ofGrid)
    return parser.getChecked<WindowAttr>(place, parser.getContext(), 1, size[0], 0, 0);
  return parser.getChecked<WindowAttr>(place, parser.getContext(), size[0], size[1], grid[0], grid[1]);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (isGrid())
    printer << getRows() << 'x' << getColumns() << " of " << getGridRows() << 'x' << getGridColumns();
  else
    printer << getLength();
  printer << '>';
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
                                 int64_t gridRows, int64_t gridColumns) {
  if (rows < 1 || columns < 1 || gridRows < 0 || gridColumns < 0 || (gridRows == 0) != (gridColumns == 0))
    return emitError() << "expected positive sizes of a window";
  if (gridRows == 0 ? rows != 1 : gridRows % rows != 0 || gridColumns % columns != 0)
    return emitError() << "expected a window whose rows and columns divide its grid, but got " << rows << "x" << columns
                       << " of " << gridRows << "x" << gridColumns;
  return success();
}

//===----------------------------------------------------------------------===//
// Denominators
//===----------------------------------------------------------------------===//

// <bias = FLOAT, floor = FLOAT> or <none>
Attribute DenominatorAttr::parse(AsmParser &parser, Type) {
  double bias = 0, floor = 0;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  bool none = succeeded(parser.parseOptionalKeyword("none"));
  if (!none && (parser.parseKeyword("bias") || parser.parseEqual() || parser.parseFloat(bias) || parser.parseComma() ||
                parser.parseKeyword("floor") || parser.parseEqual() || parser.parseFloat(floor)))
    return {};
  if (parser.parseGreater())
    return {};
  auto attribute = [&](double value) { return parser.getBuilder().getF64FloatAttr(value); };
  return parser.getChecked<DenominatorAttr>(place, parser.getContext(), attribute(bias), attribute(floor), none);
}

void DenominatorAttr::print(AsmPrinter &printer) const {
  if (getNone()) {
    printer << "<none>";
    return;
  }
  printer << "<bias = ";
  printer.printFloat(getBiasAttr().getValue());
  printer << ", floor = ";
  printer.printFloat(getFloorAttr().getValue());
  printer << '>';
}

LogicalResult DenominatorAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr bias, FloatAttr floor,
                                      bool none) {
  auto fits = [](FloatAttr value) {
    return value.getType().isF64() && value.getValue().isFinite() && value.getValueAsDouble() >= 0;
  };
  if (!fits(bias) || !fits(floor))
    return emitError() << "expected a finite bias and floor of at least 0";
  if (none && (bias.getValueAsDouble() != 0 || floor.getValueAsDouble() != 0))
    return emitError() << "expected no bias and no floor where nothing is divided";
  return success();
}
