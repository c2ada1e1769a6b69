//===- SpecToAttn.cpp - From a spec to the attn dialect ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecToAttn.h"

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace attune {

namespace {

/// Builds the function of one spec.
class AttnBuilder {
public:
  AttnBuilder(const Spec &spec, llvm::StringRef fileName, MLIRContext &context)
      : spec(spec), fileName(fileName), builder(&context) {}

  func::FuncOp buildFunction();

private:
  Location at(Position place) const {
    return FileLineColLoc::get(builder.getContext(), fileName, place.line, place.column);
  }
  Type elementType() {
    switch (spec.dtype) {
    case ElementType::F16:
      return builder.getF16Type();
    case ElementType::BF16:
      return builder.getBF16Type();
    default:
      return builder.getF32Type();
    }
  }
  static int64_t extent(Size size) { return size.value_or(ShapedType::kDynamic); }
  Type tokens(int64_t heads, Size length, int64_t width) {
    return RankedTensorType::get({extent(spec.batch), heads, extent(length), width}, elementType());
  }
  void addArgument(llvm::StringRef name, llvm::StringRef field, Type type);
  void setLaws(func::FuncOp function);
  Value buildMechanism(Block &body, Type output);

  const Spec &spec;
  llvm::StringRef fileName;
  OpBuilder builder;
  SmallVector<Type> types;
  SmallVector<Location> locations;
};

} // namespace

void AttnBuilder::addArgument(llvm::StringRef name, llvm::StringRef field, Type type) {
  types.push_back(type);
  locations.push_back(NameLoc::get(builder.getStringAttr(name), at(spec.placeOf(field).key)));
}

void AttnBuilder::setLaws(func::FuncOp function) {
  if (!spec.pin.empty()) {
    SmallVector<NamedAttribute> pins;
    for (const Pin &pin : spec.pin)
      pins.push_back(builder.getNamedAttr(pin.law, builder.getStringAttr(pin.form)));
    function->setAttr("attn.pin", builder.getDictionaryAttr(pins));
  }
  if (!spec.allow.empty())
    function->setAttr("attn.allow", builder.getStrArrayAttr(llvm::to_vector_of<llvm::StringRef>(spec.allow)));
}

Value AttnBuilder::buildMechanism(Block &body, Type output) {
  const Part &part = spec.parts.front();
  const Mechanism &mechanism = part.mechanism;
  Location place = at(spec.placeOf("mechanism").key);
  UnitAttr causal = spec.causal ? builder.getUnitAttr() : UnitAttr();
  Value query = body.getArgument(0), key = body.getArgument(1), value = body.getArgument(2);
  Value lengths = spec.keyLengths ? body.getArgument(3) : Value();
  if (mechanism.kind == MechanismKind::Softmax)
    return attn::SoftmaxOp::create(builder, place, output, Type(), query, key, value, lengths,
                                   builder.getF64FloatAttr(spec.logitScale(part)), causal, attn::WindowAttr())
        .getOutput();
  auto map = attn::FeatureMapAttr::get(builder.getContext(), attn::FeatureKind::Elu1, 0, 0.0);
  auto guard =
      attn::DenominatorAttr::get(builder.getContext(), mechanism.denominator.bias, mechanism.denominator.floor);
  return attn::KernelOp::create(builder, place, output, Type(), Type(), query, key, value, lengths, Value(), Value(), Value(),
                                Value(), Value(), map, guard, causal, attn::WindowAttr())
      .getOutput();
}

func::FuncOp AttnBuilder::buildFunction() {
  addArgument("q", "queries", tokens(spec.heads, spec.queries, spec.headDim));
  addArgument("k", "keys", tokens(spec.kvHeads, spec.keys, spec.headDim));
  addArgument("v", "keys", tokens(spec.kvHeads, spec.keys, spec.valueDim));
  if (spec.keyLengths)
    addArgument("key_lengths", "key_lengths", RankedTensorType::get({extent(spec.batch)}, builder.getI32Type()));
  Type output = tokens(spec.heads, spec.queries, spec.valueDim);
  Location place = at(spec.placeOf("attention").key);
  auto function = func::FuncOp::create(builder, place, spec.name, builder.getFunctionType(types, output));
  setLaws(function);
  Block *body = builder.createBlock(&function.getBody(), {}, types, locations);
  Value result = buildMechanism(*body, output);
  func::ReturnOp::create(builder, place, result);
  return function;
}

static bool isSupported(const Spec &spec) {
  if (spec.projection || spec.rope || spec.qkNorm || spec.hasParts || spec.parts.size() != 1)
    return false;
  const Mechanism &m = spec.parts.front().mechanism;
  bool modified = m.window || m.lowRank || m.lepe || m.denominator.none;
  return !modified && (m.kind == MechanismKind::Softmax || m.isKernel(FeatureMapKind::Elu1));
}

OwningOpRef<ModuleOp> specToAttn(const Spec &spec, llvm::StringRef fileName, MLIRContext &context) {
  if (!isSupported(spec))
    return nullptr;
  context.loadDialect<attn::AttnDialect, func::FuncDialect>();
  Location place = FileLineColLoc::get(&context, fileName, 1, 1);
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  module->push_back(AttnBuilder(spec, fileName, context).buildFunction());
  return module;
}

} // namespace attune
