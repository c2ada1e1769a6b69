//===- TimedLibrary.cpp - A spec, compiled and timed ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TimedLibrary.h"

#include "attune/Pipeline/Compilation.h"

#include <algorithm>
#include <chrono>

using namespace attune;
using namespace attune::attnc;

Spread::Spread(std::vector<double> figures) {
  if (figures.empty())
    return;
  std::sort(figures.begin(), figures.end());
  median = figures[figures.size() / 2], least = figures.front(), most = figures.back();
}

llvm::Expected<TimedLibrary> TimedLibrary::make(const Spec &spec, const Arguments &arguments, Direction direction) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, arguments.specs.front(), "cpu", status);
  if (!compilation)
    return llvm::createStringError("the spec could not be compiled");
  if (!arguments.device.empty())
    compilation->priceFor(arguments.device);
  compilation->planFor(pricedThreads(arguments)), compilation->takePlan(arguments.plan);
  if (direction == Direction::Backward)
    if (compilation = compilation->backward(); !compilation)
      return llvm::createStringError("the gradients of the spec could not be compiled");
  TimedLibrary timed;
  timed.operations = attn::usefulOperations(compilation->module()).value_or(0);
  auto library = compileAndLoad(*compilation);
  if (!library)
    return library.takeError();
  timed.interface = compilation->interface();
  timed.library = std::move(*library);
  return timed;
}

llvm::Error TimedLibrary::prepare(RunTensors &tensors, const Arguments &arguments) {
  if (llvm::Error error = library->create(static_cast<int32_t>(arguments.threads)))
    return error;
  return library->prepare(tensors.kept(interface));
}

llvm::Error TimedLibrary::run(RunTensors &tensors) {
  llvm::SmallVector<HostTensor *> slots = tensors.given(interface);
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = library->run(slots))
    return error;
  seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return llvm::Error::success();
}

llvm::Error attune::attnc::drawTensors(llvm::ArrayRef<SpecTensor> tensors, uint64_t seed,
                                       std::vector<NamedTensor> &drawn) {
  for (const SpecTensor &tensor : tensors) {
    llvm::Expected<HostTensor> converted = convertTensor(drawTensor(tensor, seed), tensor.type);
    if (!converted)
      return converted.takeError();
    drawn.push_back({tensor.name, std::move(*converted)});
  }
  return llvm::Error::success();
}

Spec attune::attnc::exactOf(Spec spec) {
  spec.name += "_exact";
  Part whole;
  whole.heads = spec.heads;
  spec.parts = {whole};
  spec.hasParts = false;
  spec.allow.clear();
  spec.pin.clear();
  spec.scale.reset();
  return spec;
}
