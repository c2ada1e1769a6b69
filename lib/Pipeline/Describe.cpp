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

using namespace mlir;
using namespace attune;
using namespace attune::target;

SmallVector<func::FuncOp> attune::planFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> plans(module.getOps<func::FuncOp>());
  llvm::erase_if(plans, [](func::FuncOp plan) { return !plan->hasAttr("attn.plan"); });
  llvm::stable_sort(plans, [](func::FuncOp a, func::FuncOp b) {
    auto from = [](func::FuncOp plan) { return plan->getAttrOfType<attn::PlanAttr>("attn.plan").getFrom(); };
    return from(a) < from(b);
  });
  return plans;
}

SmallVector<PlanName> attune::planNames(ModuleOp module) {
  SmallVector<PlanName> names;
  for (func::FuncOp plan : planFunctions(module)) {
    auto attribute = plan->getAttrOfType<attn::PlanAttr>("attn.plan");
    names.push_back({plan.getName().str(), attn::stringifyForm(attribute.getForm()).str(), attribute.getFrom()});
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// What the dimensions of a tensor are, by its name: b(atch), q(ueries), k(eys), or a dot for a size that is static.
struct TensorRow {
  StringRef name, dims;
  attune_rt_role role;
};
} // namespace

static const TensorRow tensorRows[] = {
    {"q", "b.q.", ATTUNE_RT_INPUT},
    {"k", "b.k.", ATTUNE_RT_INPUT},
    {"v", "b.k.", ATTUNE_RT_INPUT},
    {"key_lengths", "b", ATTUNE_RT_INPUT},
    {"initial_state", "b...", ATTUNE_RT_OPTIONAL_INPUT},
    {"initial_sum", "b..", ATTUNE_RT_OPTIONAL_INPUT},
    {"o", "b.q.", ATTUNE_RT_OUTPUT},
    {"lse", "b.q", ATTUNE_RT_OPTIONAL_OUTPUT},
    {"final_state", "b...", ATTUNE_RT_OPTIONAL_OUTPUT},
    {"final_sum", "b..", ATTUNE_RT_OPTIONAL_OUTPUT},
};

static attune_rt_dtype dtypeOf(Type element) {
  if (element.isF16())
    return ATTUNE_RT_F16;
  if (element.isBF16())
    return ATTUNE_RT_BF16;
  return element.isInteger(32) ? ATTUNE_RT_I32 : ATTUNE_RT_F32;
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

static TensorDescription describeTensor(const TensorRow &row, RankedTensorType tensor) {
  TensorDescription result;
  result.name = row.name.str();
  result.role = row.role;
  result.dtype = dtypeOf(tensor.getElementType());
  result.keyLengths = row.name == "key_lengths";
  result.ifEmpty = row.name == "lse" ? ATTUNE_RT_EMPTY_MINUS_INFINITY : ATTUNE_RT_EMPTY_ZERO;
  for (auto [size, dimension] : llvm::zip_equal(tensor.getShape(), row.dims)) {
    std::optional<attune_rt_symbol> symbol = symbolOf(dimension);
    result.dims.push_back(symbol && ShapedType::isDynamic(size) ? dynamicSize(*symbol) : size);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static std::string summarize(const LibraryDescription &library, ModuleOp module, RankedTensorType query) {
  bool softmax = planFunctions(module).front()->getAttrOfType<attn::PlanAttr>("attn.plan").getForm() ==
                 attn::Form::Online;
  std::string text = softmax ? "exact softmax attention" : "kernel attention";
  text += ", " + std::to_string(library.heads) + " heads of " + std::to_string(library.headDim);
  if (library.kvHeads != library.heads)
    text += " on " + std::to_string(library.kvHeads) + " key-value heads";
  if (library.valueDim != library.headDim)
    text += ", values of " + std::to_string(library.valueDim);
  return text + ", " + dtypeName(dtypeOf(query.getElementType())).str();
}

llvm::Expected<LibraryDescription> attune::describeInterface(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> plans = planFunctions(module);
  if (plans.empty())
    return llvm::createStringError("expected a host function with a plan, but got none");
  func::FuncOp host = plans.front();
  LibraryDescription library;
  library.name = name.str();
  library.queriesEqualKeys = host->hasAttr(kernel::equalLengthsAttr);
  llvm::StringMap<RankedTensorType> tensors;
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    auto tensorName = host.getArgAttrOfType<StringAttr>(i, kernel::argumentNameAttr);
    auto type = host.getArgAttrOfType<TypeAttr>(i, kernel::argumentTensorAttr);
    auto row = llvm::find_if(tensorRows, [&](const TensorRow &row) { return tensorName && row.name == tensorName; });
    if (row == std::end(tensorRows) || !type)
      return llvm::createStringError("expected the names and types of attn-to-tile on the arguments of " +
                                     host.getName());
    auto tensor = cast<RankedTensorType>(type.getValue());
    tensors[row->name] = tensor;
    library.tensors.push_back(describeTensor(*row, tensor));
  }
  RankedTensorType query = tensors["q"], key = tensors["k"], value = tensors["v"];
  auto known = [](int64_t size) { return ShapedType::isDynamic(size) ? -1 : size; };
  library.sizes = {known(query.getDimSize(0)), known(query.getDimSize(2)), known(key.getDimSize(2))};
  library.heads = query.getDimSize(1), library.kvHeads = key.getDimSize(1);
  library.headDim = query.getDimSize(3), library.valueDim = value.getDimSize(3);
  library.summary = summarize(library, module, query);
  return library;
}

std::vector<std::string> attune::describeArguments(ModuleOp module) {
  std::vector<std::string> names;
  func::FuncOp host = planFunctions(module).front();
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    auto position = host.getArgAttrOfType<IntegerAttr>(i, kernel::argumentPositionAttr);
    if (!position)
      continue;
    names.resize(std::max<size_t>(names.size(), position.getInt() + 1));
    names[position.getInt()] = host.getArgAttrOfType<StringAttr>(i, kernel::argumentNameAttr).str();
  }
  return names;
}
