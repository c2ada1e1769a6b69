//===- DrawnLibrary.cpp - A compiled spec with drawn tensors ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DrawnLibrary.h"

using namespace attune;
using namespace attune::attnc;

llvm::Expected<DrawnLibrary> DrawnLibrary::make(const Spec &spec, const Arguments &arguments, const DrawnFunction &function) {
  llvm::Expected<TimedLibrary> library = TimedLibrary::make(spec, arguments, function.direction);
  if (!library)
    return library.takeError();
  DrawnLibrary drawn{std::move(*library), {}};
  RunTensors &tensors = drawn.tensors;
  if (llvm::Error error = llvm::joinErrors(drawTensors(inputTensors(spec, function.direction), /*seed=*/1, tensors.inputs),
                                           drawTensors(parameterTensors(spec), /*seed=*/1, tensors.parameters)))
    return std::move(error);
  if (function.addInputs)
    if (llvm::Error error = function.addInputs(drawn.library.interface, tensors))
      return std::move(error);
  if (llvm::Error error = makeOutputs(drawn.library.interface, tensors, function.save))
    return std::move(error);
  if (llvm::Error error = drawn.library.prepare(tensors, arguments))
    return std::move(error);
  return drawn;
}
