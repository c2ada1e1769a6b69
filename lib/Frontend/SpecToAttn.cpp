//===- SpecToAttn.cpp - From a spec to the attn dialect ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Attn/Packed.h"

#include "AttnBuilder.h"

#include "attune/Attn/PinPlaces.h"

using namespace mlir;

namespace attune {

static constexpr const char *nameAttr = "attn.name", *parameterAttr = "attn.parameter";

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static void setLaws(AttnBuilder &b, func::FuncOp function) {
  if (!b.spec.pin.empty()) {
    SmallVector<NamedAttribute> pins;
    for (const Pin &pin : b.spec.pin)
      pins.push_back(b.builder.getNamedAttr(pin.law, b.builder.getStringAttr(pin.form)));
    function->setAttr("attn.pin", b.builder.getDictionaryAttr(pins));
  }
  if (!b.spec.allow.empty())
    function->setAttr("attn.allow", b.builder.getStrArrayAttr(llvm::to_vector_of<llvm::StringRef>(b.spec.allow)));
}

static void setGradients(AttnBuilder &b, func::FuncOp function) {
  std::vector<std::string> names = gradientNames(b.spec);
  if (!names.empty())
    function->setAttr("attn.gradients", b.builder.getStrArrayAttr(llvm::to_vector_of<llvm::StringRef>(names)));
}

static Location placeOf(AttnBuilder &b) {
  SmallVector<NamedAttribute> places;
  for (const Pin &pin : b.spec.pin)
    places.push_back(b.builder.getNamedAttr(pin.law, b.at("pin." + pin.law)));
  return attn::withPinPlaces(b.at("attention"), b.builder.getDictionaryAttr(places));
}

/// The tokens that these offsets cut: those of queries, of keys, or both.
static llvm::StringRef cutsOf(const Spec &spec, const SpecTensor &offsets) {
  return !spec.hasKeyOffsets() ? "qk" : offsets.name == "offsets" ? "q" : "k";
}

/// Of all arguments at once: each list of them that a context has seen it keeps, and sketches have thousands.
static SmallVector<DictionaryAttr> attributesOf(AttnBuilder &b, llvm::ArrayRef<SpecTensor> tensors, llvm::ArrayRef<StringAttr> names,
                                                size_t inputs) {
  SmallVector<DictionaryAttr> all;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    NamedAttrList list;
    list.append(nameAttr, names[i]);
    if (tensor.elements == Elements::Offsets)
      list.append(attn::offsetsAttr, b.builder.getStringAttr(cutsOf(b.spec, tensor)));
    if (i >= inputs)
      list.append(parameterAttr, b.builder.getUnitAttr());
    all.push_back(list.getDictionary(b.builder.getContext()));
  }
  return all;
}

/// The function with its arguments and an empty body; the builder stands in it.
static func::FuncOp buildSignature(AttnBuilder &b) {
  std::vector<SpecTensor> tensors = inputTensors(b.spec), parameters = parameterTensors(b.spec);
  size_t inputs = tensors.size();
  tensors.insert(tensors.end(), parameters.begin(), parameters.end());
  SmallVector<Type> types;
  SmallVector<Location> places;
  SmallVector<StringAttr> names;
  for (const SpecTensor &tensor : tensors) {
    types.push_back(b.typeOf(tensor));
    names.push_back(b.builder.getStringAttr(tensor.name));
    places.push_back(NameLoc::get(names.back(), b.at(tensor.field)));
  }
  std::vector<SpecTensor> outputs = outputTensors(b.spec);
  SmallVector<Type> results = llvm::map_to_vector(outputs, [&](const SpecTensor &tensor) -> Type { return b.typeOf(tensor); });
  auto function = func::FuncOp::create(b.builder, placeOf(b), b.spec.name, b.builder.getFunctionType(types, results));
  Block *body = b.builder.createBlock(&function.getBody(), {}, types, places);
  for (size_t i = 0; i < tensors.size(); ++i)
    b.arguments[tensors[i].name] = body->getArgument(i);
  function.setAllArgAttrs(attributesOf(b, tensors, names, inputs));
  for (auto [place, output] : llvm::enumerate(outputs))
    function.setResultAttr(place, nameAttr, b.builder.getStringAttr(output.name));
  setLaws(b, function);
  setGradients(b, function);
  return function;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The outputs of the parts, one after another.
static Value buildParts(AttnBuilder &b, Type element) {
  Heads heads = buildHeads(b);
  SmallVector<Value> outputs;
  for (const Part &part : b.spec.parts)
    outputs.push_back(buildPart(b, part, heads, element));
  if (outputs.size() == 1)
    return outputs.front();
  Type type = b.tokens(b.spec.heads, b.spec.queries, b.spec.valueDim, element);
  return attn::ConcatHeadsOp::create(b.builder, b.at("parts"), type, outputs, /*execution=*/{}).getResult();
}

static Value buildBody(AttnBuilder &b) {
  const Spec &spec = b.spec;
  bool merged = spec.projection && spec.projection->output;
  // What the output projection reads is not rounded to the storage type first.
  Value output = buildParts(b, merged ? b.builder.getF32Type() : b.storage());
  if (!merged)
    return output;
  return attn::ProjectOutputOp::create(b.builder, b.at("projection"), b.typeOf(outputTensor(spec)), output,
                                       b.argument("wo"), b.argument("bo"), /*execution=*/{})
      .getResult();
}

OwningOpRef<ModuleOp> specToAttn(const Spec &spec, llvm::StringRef fileName, MLIRContext &context) {
  context.loadDialect<attn::AttnDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, fileName, 1, 1));
  Spec ofOne = spec; // a packed function is what it does with one sequence, of a length that a run knows
  if (spec.packed)
    ofOne.queries = ofOne.keys = std::nullopt;
  AttnBuilder b(ofOne, fileName, context);
  func::FuncOp function = buildSignature(b);
  SmallVector<Value> outputs{buildBody(b)};
  if (b.lse)
    outputs.push_back(b.lse);
  if (spec.finalState) {
    SpecTensor position = positionTensor(spec, finalPrefix);
    llvm::append_range(outputs, b.finalStates);
    outputs.push_back(attn::AdvanceOp::create(b.builder, b.at("state"), b.typeOf(position), b.argument(spec.projection ? "x" : "k"),
                                              b.argument("state.position"), b.lengths()));
  }
  func::ReturnOp::create(b.builder, function.getLoc(), outputs);
  module->push_back(function);
  return module;
}

} // namespace attune
