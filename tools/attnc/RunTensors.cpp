//===- RunTensors.cpp - The tensors of one run, by name ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RunTensors.h"

#include "attune/Frontend/SpecTensors.h"
#include "attune/Pipeline/LoadedLibrary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;
using namespace attune::attnc;
using attune::target::LibraryDescription;
using attune::target::TensorDescription;

static bool isOutput(const TensorDescription &tensor) {
  return tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}
static bool isParameter(const TensorDescription &tensor) { return tensor.role == ATTUNE_RT_PARAMETER; }
static bool isPrepared(const TensorDescription &tensor) { return tensor.role == ATTUNE_RT_PREPARED; }

HostTensor *RunTensors::find(llvm::StringRef name) {
  for (std::vector<NamedTensor> *list : {&inputs, &parameters, &outputs})
    for (NamedTensor &tensor : *list)
      if (tensor.name == name)
        return &tensor.tensor;
  return nullptr;
}

llvm::SmallVector<HostTensor *> RunTensors::given(const LibraryDescription &interface) {
  llvm::SmallVector<HostTensor *> result;
  for (const TensorDescription &tensor : interface.tensors)
    if (!isParameter(tensor) && !isPrepared(tensor))
      result.push_back(find(tensor.name));
  return result;
}

llvm::SmallVector<HostTensor *> RunTensors::all(const LibraryDescription &interface) {
  llvm::SmallVector<HostTensor *> result;
  for (const TensorDescription &tensor : interface.tensors)
    result.push_back(isPrepared(tensor) ? nullptr : find(tensor.name));
  return result;
}

llvm::SmallVector<HostTensor *> RunTensors::kept(const LibraryDescription &interface) {
  llvm::SmallVector<HostTensor *> result;
  for (const TensorDescription &tensor : interface.tensors)
    if (isParameter(tensor))
      result.push_back(find(tensor.name));
  return result;
}

llvm::Expected<RunTensors> attune::attnc::readTensors(const Spec &spec, llvm::StringRef specPath,
                                                      llvm::StringRef from) {
  llvm::Expected<TensorSource> source = TensorSource::open(from);
  if (!source)
    return source.takeError();
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, specPath, *source);
  if (!loaded)
    return loaded.takeError();
  return RunTensors{std::move(loaded->inputs), std::move(loaded->parameters), {}};
}

/// `[2, ?]`: a negative size is an open one.
static std::string showOpen(llvm::ArrayRef<int64_t> shape) {
  auto show = [](int64_t size) { return size < 0 ? std::string("?") : std::to_string(size); };
  return "[" + llvm::join(llvm::map_range(shape, show), ", ") + "]";
}

llvm::Expected<HostTensor> attune::attnc::readOfShape(const TensorSource &source, llvm::StringRef name,
                                                      llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<TensorHeader> header = source.header(name);
  if (!header)
    return header.takeError();
  auto suits = [](auto pair) { return std::get<0>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair); };
  if (header->shape.size() != shape.size() || !llvm::all_of(llvm::zip_equal(shape, header->shape), suits))
    return llvm::createStringError(source.placeOf(name) + ": error: expected shape " + showOpen(shape) + ", but got " +
                                   showShape(header->shape));
  return source.read(name);
}

llvm::Expected<RunTensors> attune::attnc::readTensors(const LibraryDescription &interface, llvm::StringRef from) {
  llvm::Expected<TensorSource> source = TensorSource::open(from);
  if (!source)
    return source.takeError();
  RunTensors tensors;
  for (const TensorDescription &tensor : interface.tensors) {
    bool absent = tensor.role == ATTUNE_RT_OPTIONAL_INPUT && !source->contains(tensor.name);
    if (isOutput(tensor) || isPrepared(tensor) || absent)
      continue;
    llvm::Expected<HostTensor> read = readOfShape(*source, tensor.name, tensor.dims);
    if (!read)
      return read.takeError();
    llvm::Expected<HostTensor> converted = convertTensor(*read, elementTypeOf(tensor.dtype));
    if (!converted)
      return converted.takeError();
    (isParameter(tensor) ? tensors.parameters : tensors.inputs).push_back({tensor.name, std::move(*converted)});
  }
  return tensors;
}

llvm::Error attune::attnc::makeOutputs(const LibraryDescription &interface, RunTensors &tensors) {
  llvm::SmallVector<HostTensor *> known;
  for (const TensorDescription &tensor : interface.tensors)
    known.push_back(tensors.find(tensor.name));
  auto sizes = bindSizes(interface, known);
  for (const TensorDescription &tensor : interface.tensors) {
    if (!isOutput(tensor))
      continue;
    llvm::SmallVector<int64_t, 4> shape;
    for (int64_t dim : tensor.dims)
      shape.push_back(dim >= 0 ? dim : sizes[-1 - dim]);
    llvm::Expected<HostTensor> output = HostTensor::allocate(elementTypeOf(tensor.dtype), shape);
    if (!output)
      return llvm::createStringError("output " + tensor.name + ": " + llvm::toString(output.takeError()));
    tensors.outputs.push_back({tensor.name, std::move(*output)});
  }
  return llvm::Error::success();
}
