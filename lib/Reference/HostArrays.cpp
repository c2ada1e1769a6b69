//===- HostArrays.cpp - Between tensors of files and arrays of the interpreters ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/HostArrays.h"

using namespace attune;
using namespace attune::reference;

Array attune::reference::toArray(const HostTensor &tensor, mlir::Type element) {
  return makeArray(tensor.shape, toDoubles(tensor), element);
}

HostTensor attune::reference::toHostTensor(const Array &array, ElementType type) {
  HostTensor tensor = HostTensor::zeros(type, array.shape());
  std::vector<double> elements = array.elements();
  for (size_t i = 0; i < elements.size(); ++i)
    if (type == ElementType::F64)
      tensor.data<double>()[i] = elements[i];
    else if (type == ElementType::I32)
      tensor.data<int32_t>()[i] = static_cast<int32_t>(elements[i]);
    else
      tensor.data<float>()[i] = static_cast<float>(elements[i]);
  return tensor;
}
