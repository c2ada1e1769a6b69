//===- Describe.cpp - What a library tells its callers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Describe.h"

#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::target;

static attn::PlanAttr planOf(func::FuncOp function) { return function->getAttrOfType<attn::PlanAttr>("attn.plan"); }

SmallVector<func::FuncOp> attune::planFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> plans(module.getOps<func::FuncOp>());
  llvm::erase_if(plans, [](func::FuncOp plan) { return !planOf(plan); });
  llvm::stable_sort(plans, [](func::FuncOp a, func::FuncOp b) { return planOf(a).getFrom() < planOf(b).getFrom(); });
  return plans;
}

SmallVector<PlanName> attune::planNames(ModuleOp module) {
  SmallVector<PlanName> names;
  for (func::FuncOp plan : planFunctions(module)) {
    attn::PlanAttr attribute = planOf(plan);
    names.push_back({plan.getName().str(), attn::stringifyForm(attribute.getForm()).str(), attribute.getFrom()});
  }
  return names;
}

func::FuncOp attune::prepareFunction(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kernel::prepareAttr))
      return function;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// An argument of a host function with what its attributes say of it.
struct Argument {
  mutable func::FuncOp host; // ops are handles, whose accessors are not const
  unsigned position;

  template <typename Attr> Attr get(StringRef name) const { return host.getArgAttrOfType<Attr>(position, name); }
  bool has(StringRef name) const { return host.getArgAttr(position, name) != nullptr; }
  StringRef text(StringRef name) const {
    auto attribute = get<StringAttr>(name);
    return attribute ? attribute.getValue() : StringRef();
  }
  StringRef name() const { return text(kernel::argumentNameAttr); }
  llvm::Error refuse(const Twine &expected) const {
    return llvm::createStringError("argument " + Twine(position) + " of @" + host.getName() + ": expected " + expected);
  }
};
} // namespace

static std::optional<attune_rt_role> roleOf(StringRef text) {
  return llvm::StringSwitch<std::optional<attune_rt_role>>(text)
      .Cases({"", "input"}, ATTUNE_RT_INPUT)
      .Case("output", ATTUNE_RT_OUTPUT)
      .Case("optional_input", ATTUNE_RT_OPTIONAL_INPUT)
      .Case("optional_output", ATTUNE_RT_OPTIONAL_OUTPUT)
      .Case("parameter", ATTUNE_RT_PARAMETER)
      .Case("prepared", ATTUNE_RT_PREPARED)
      .Default(std::nullopt);
}

static std::optional<attune_rt_empty> emptyOf(StringRef text) {
  return llvm::StringSwitch<std::optional<attune_rt_empty>>(text)
      .Cases({"", "zero"}, ATTUNE_RT_EMPTY_ZERO)
      .Case("minus_infinity", ATTUNE_RT_EMPTY_MINUS_INFINITY)
      .Case("computed", ATTUNE_RT_EMPTY_COMPUTED)
      .Default(std::nullopt);
}

static std::optional<attune_rt_dtype> dtypeOf(Type element) {
  if (element.isF32())
    return ATTUNE_RT_F32;
  if (element.isF16())
    return ATTUNE_RT_F16;
  if (element.isBF16())
    return ATTUNE_RT_BF16;
  return element.isInteger(32) ? std::optional(ATTUNE_RT_I32) : std::nullopt;
}

static std::optional<attune_rt_symbol> symbolOf(char dimension) {
  switch (dimension) {
  case 'b':
    return ATTUNE_RT_BATCH;
  case 'q':
    return ATTUNE_RT_QUERIES;
  case 'k':
    return ATTUNE_RT_KEYS;
  default:
    return std::nullopt;
  }
}

static llvm::Expected<TensorDescription> describeTensor(const Argument &argument) {
  auto type = argument.get<TypeAttr>(kernel::argumentTensorAttr);
  auto tensor = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  StringRef dims = argument.text(kernel::argumentDimsAttr);
  auto role = roleOf(argument.text(kernel::argumentRoleAttr));
  auto empty = emptyOf(argument.text(kernel::argumentEmptyAttr));
  auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
  if (argument.name().empty() || !dtype || !role || !empty || static_cast<int64_t>(dims.size()) != tensor.getRank())
    return argument.refuse("a name, a tensor type, a role and a letter for each dimension");
  TensorDescription result;
  result.name = argument.name().str();
  result.role = *role, result.dtype = *dtype, result.ifEmpty = *empty;
  result.keyLengths = argument.has(kernel::argumentKeyLengthsAttr);
  StringRef cuts = argument.text(kernel::argumentOffsetsAttr);
  result.offsets = cuts.contains('q'), result.keyOffsets = cuts.contains('k');
  result.signs = argument.has(kernel::argumentSignsAttr);
  if (auto bound = argument.get<IntegerAttr>(kernel::argumentIndexBoundAttr))
    result.indexBound = bound.getInt();
  if (auto most = argument.get<IntegerAttr>(kernel::argumentPositionsAttr))
    result.mostPosition = most.getInt() ? most.getInt() : std::numeric_limits<int32_t>::max();
  result.inPlaceOf = argument.text(kernel::argumentInPlaceAttr).str();
  for (auto [size, dimension] : llvm::zip_equal(tensor.getShape(), dims)) {
    std::optional<attune_rt_symbol> symbol = symbolOf(dimension);
    if (ShapedType::isDynamic(size) && !symbol)
      return argument.refuse("b, q or k as the letter of each size that is known only at run");
    result.dims.push_back(ShapedType::isDynamic(size) ? dynamicSize(*symbol) : size);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// An argument of the attn function becomes at most one of the host's.
static llvm::Error checkPosition(const Argument &argument) {
  auto position = argument.get<IntegerAttr>(kernel::argumentPositionAttr);
  if (!position || position.getValue().ult(argument.host.getNumArguments()))
    return llvm::Error::success();
  return argument.refuse("a position below " + Twine(argument.host.getNumArguments()) + " in " +
                         kernel::argumentPositionAttr);
}

/// Batch, n and N, read off the inputs and outputs that have them. Keys that none of them shows are those of
/// self-attention over one sequence.
static void describeSizes(func::FuncOp host, LibraryDescription &library) {
  std::array<bool, ATTUNE_RT_SYMBOL_COUNT> shown = {};
  for (auto [position, tensor] : llvm::enumerate(library.tensors)) {
    bool kept = tensor.role == ATTUNE_RT_PARAMETER || tensor.role == ATTUNE_RT_PREPARED;
    StringRef dims = Argument{host, static_cast<unsigned>(position)}.text(kernel::argumentDimsAttr);
    for (auto [size, dimension] : llvm::zip_equal(tensor.dims, dims)) {
      std::optional<attune_rt_symbol> symbol = symbolOf(dimension);
      if (!symbol || kept)
        continue;
      shown[*symbol] = true;
      if (size >= 0)
        library.sizes[*symbol] = size - (tensor.offsets || tensor.keyOffsets);
    }
  }
  if (shown[ATTUNE_RT_KEYS])
    return;
  library.sizes[ATTUNE_RT_KEYS] = library.sizes[ATTUNE_RT_QUERIES];
  library.queriesEqualKeys = true;
}

/// Heads and widths, where q, k and v are inputs; a projection hides them, and only the spec knows.
static void describeHeads(LibraryDescription &library) {
  auto size = [&](StringRef name, unsigned position) -> int64_t {
    auto tensor = llvm::find_if(library.tensors, [&](const TensorDescription &t) { return t.name == name; });
    return tensor != library.tensors.end() && tensor->dims.size() == 4 ? tensor->dims[position] : 0;
  };
  library.heads = size("q", 1), library.kvHeads = size("k", 1);
  library.headDim = size("q", 3), library.valueDim = size("v", 3);
}

static std::optional<attune_rt_size_rule_kind> ruleOf(StringRef text) {
  return llvm::StringSwitch<std::optional<attune_rt_size_rule_kind>>(text)
      .Case("divides", ATTUNE_RT_MULTIPLE)
      .Case("equals", ATTUNE_RT_EXACTLY)
      .Case("at_most", ATTUNE_RT_AT_MOST)
      .Case("blocks_divide", ATTUNE_RT_BLOCKS)
      .Default(std::nullopt);
}

static llvm::Error describeSizeRules(func::FuncOp host, LibraryDescription &library) {
  auto rules = host->getAttrOfType<ArrayAttr>(kernel::sizeRulesAttr);
  for (Attribute attribute : rules ? rules.getValue() : ArrayRef<Attribute>()) {
    auto rule = dyn_cast<DictionaryAttr>(attribute);
    auto kind = rule ? rule.getAs<StringAttr>("kind") : StringAttr(),
         symbol = rule ? rule.getAs<StringAttr>("symbol") : StringAttr();
    auto value = rule ? rule.getAs<IntegerAttr>("value") : IntegerAttr();
    auto known = kind ? ruleOf(kind.getValue()) : std::nullopt;
    bool good = known && symbol && (symbol.getValue() == "queries" || symbol.getValue() == "keys") && value &&
                value.getInt() >= 1;
    if (!good)
      return llvm::createStringError("@" + host.getName() + ": expected rules of a kind, a symbol and a value in " +
                                     kernel::sizeRulesAttr);
    library.sizeRules.push_back(
        {*known, symbol.getValue() == "queries" ? ATTUNE_RT_QUERIES : ATTUNE_RT_KEYS, value.getInt()});
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// The prepare function takes the parameters and the prepared tensors, as the runtime passes them.
static llvm::Error checkPrepare(func::FuncOp prepare, const LibraryDescription &library) {
  SmallVector<StringRef> expected, found;
  for (attune_rt_role role : {ATTUNE_RT_PARAMETER, ATTUNE_RT_PREPARED})
    for (const TensorDescription &tensor : library.tensors)
      if (tensor.role == role)
        expected.push_back(tensor.name);
  for (unsigned i = 0; prepare && i < prepare.getNumArguments(); ++i)
    found.push_back(Argument{prepare, i}.name());
  bool prepared = llvm::any_of(library.tensors, [](auto &tensor) { return tensor.role == ATTUNE_RT_PREPARED; });
  if (prepare ? expected == found : !prepared)
    return llvm::Error::success();
  return llvm::createStringError("expected a prepare function of (" + llvm::join(expected, ", ") + "), but got " +
                                 (prepare ? "(" + llvm::join(found, ", ") + ")" : std::string("none")));
}

/// The runtime gives every plan the same slots.
static llvm::Error checkSameArguments(ArrayRef<func::FuncOp> plans) {
  func::FuncOp first = plans.front();
  for (func::FuncOp plan : plans)
    if (plan.getArgumentTypes() != first.getArgumentTypes())
      return llvm::createStringError("expected the plans @" + first.getName() + " and @" + plan.getName() +
                                     " to have the same arguments");
  return llvm::Error::success();
}

static std::string summarize(const LibraryDescription &library, func::FuncOp host) {
  if (auto summary = host->getAttrOfType<StringAttr>(kernel::summaryAttr))
    return summary.str();
  std::string text = "attention";
  if (library.heads)
    text += ", " + std::to_string(library.heads) + " heads of " + std::to_string(library.headDim);
  if (library.kvHeads != library.heads)
    text += " on " + std::to_string(library.kvHeads) + " key-value heads";
  if (library.valueDim != library.headDim)
    text += ", values of " + std::to_string(library.valueDim);
  return text + ", " + dtypeName(library.tensors.front().dtype).str();
}

llvm::Expected<LibraryDescription> attune::describeInterface(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> plans = planFunctions(module);
  if (plans.empty() || plans.front().getNumArguments() == 0)
    return llvm::createStringError("expected a host function with a plan and tensors, but got none");
  func::FuncOp host = plans.front();
  LibraryDescription library;
  library.name = name.str();
  library.queriesEqualKeys = host->hasAttr(kernel::equalLengthsAttr);
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    llvm::Expected<TensorDescription> tensor = describeTensor({host, i});
    if (!tensor)
      return tensor.takeError();
    if (llvm::Error error = checkPosition({host, i}))
      return std::move(error);
    library.tensors.push_back(std::move(*tensor));
  }
  if (llvm::Error error = checkSameArguments(plans))
    return std::move(error);
  if (llvm::Error error = checkPrepare(prepareFunction(module), library))
    return std::move(error);
  if (llvm::Error error = describeSizeRules(host, library))
    return std::move(error);
  describeSizes(host, library);
  describeHeads(library);
  library.summary = summarize(library, host);
  return library;
}

std::vector<std::string> attune::describeArguments(ModuleOp module) {
  std::vector<std::string> names;
  func::FuncOp host = planFunctions(module).front();
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    Argument argument{host, i};
    auto position = argument.get<IntegerAttr>(kernel::argumentPositionAttr);
    if (!position)
      continue;
    names.resize(std::max<size_t>(names.size(), position.getInt() + 1));
    names[position.getInt()] = argument.name().str();
  }
  return names;
}
