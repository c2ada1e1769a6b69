//===- AttnBuilder.cpp - Building a spec's function ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnBuilder.h"

using namespace mlir;

namespace attune {

AttnBuilder::AttnBuilder(const Spec &spec, llvm::StringRef fileName, MLIRContext &context)
    : spec(spec), fileName(fileName), builder(&context) {}

Location AttnBuilder::at(Position place) const {
  return FileLineColLoc::get(builder.getContext(), fileName, place.line, place.column);
}

Location AttnBuilder::at(const Part &part, llvm::StringRef field) const {
  return at(part.path + "mechanism" + (field.empty() ? "" : "." + field.str()));
}

Type AttnBuilder::elementOf(ElementType type) {
  switch (type) {
  case ElementType::I32:
    return builder.getI32Type();
  case ElementType::F16:
    return builder.getF16Type();
  case ElementType::BF16:
    return builder.getBF16Type();
  default:
    return builder.getF32Type();
  }
}

RankedTensorType AttnBuilder::typeOf(const SpecTensor &tensor) {
  SmallVector<int64_t> shape = llvm::map_to_vector(tensor.shape, extent);
  if (tensor.ofSequences) // a packed function is what it does with one
    shape[0] = 1;
  return RankedTensorType::get(shape, elementOf(tensor.type));
}

RankedTensorType AttnBuilder::tokens(int64_t heads, Size length, int64_t width, Type element) {
  return RankedTensorType::get({extent(spec.batch), heads, extent(length), width}, element);
}

RankedTensorType AttnBuilder::withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

RankedTensorType AttnBuilder::withDim(RankedTensorType type, unsigned dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

int64_t AttnBuilder::headsOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(1); }

} // namespace attune
