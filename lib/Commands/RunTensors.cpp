//===- RunTensors.cpp - The tensors of one run, by name ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/RunTensors.h"

#include "attune/Attn/Backward.h"
#include "attune/Pipeline/LoadedLibrary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace attune;
using namespace attune::attnc;
using attune::target::LibraryDescription;
using attune::target::TensorDescription;

static bool isOutput(const TensorDescription &tensor) {
  return tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}
static bool isSaved(const TensorDescription &tensor) { return llvm::StringRef(tensor.name).starts_with(attn::savedPrefix); }
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

static NamedTensor zerosOf(const SpecTensor &tensor, const llvm::Twine &name) {
  return {name.str(), HostTensor::zeros(tensor.type, llvm::map_to_vector(tensor.shape, [](Size size) { return *size; }))};
}

llvm::Expected<RunTensors> attune::attnc::readTensors(const Spec &spec, llvm::StringRef specPath,
                                                      llvm::StringRef from, bool zeros, Direction direction) {
  llvm::Expected<TensorSource> source = TensorSource::open(from);
  if (!source)
    return source.takeError();
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, specPath, *source, direction);
  if (!loaded)
    return loaded.takeError();
  for (const SpecTensor &tensor : zeros ? inputTensors(loaded->spec, direction) : std::vector<SpecTensor>())
    if (tensor.optional && !source->contains(tensor.name))
      loaded->inputs.push_back(zerosOf(tensor, tensor.name));
  // The unit of a state is a constant, of which no file tells and which the backward function takes all the same.
  for (const SpecTensor &output : zeros && direction == Direction::Backward ? outputTensors(loaded->spec) : std::vector<SpecTensor>())
    if (output.rescales)
      loaded->inputs.push_back(zerosOf(output, gradientPrefix + output.name));
  return RunTensors{std::move(loaded->inputs), std::move(loaded->parameters), {}};
}

/// `[2, ?]`: a negative size is an open one.
static std::string showOpen(llvm::ArrayRef<int64_t> shape) {
  auto show = [](int64_t size) { return size < 0 ? std::string("?") : std::to_string(size); };
  return "[" + llvm::join(llvm::map_range(shape, show), ", ") + "]";
}

static llvm::Error failAt(const TensorSource &source, const WantedTensor &wanted, const llvm::Twine &message) {
  return tensorError(source.placeOf(wanted.name) + ": error: " + message);
}

/// `tensor` in the wanted type.
static llvm::Expected<HostTensor> inType(const TensorSource &source, const WantedTensor &wanted, HostTensor tensor) {
  if (!wanted.type)
    return tensor;
  llvm::Expected<HostTensor> converted = convertTensor(tensor, *wanted.type);
  return converted ? std::move(converted) : failAt(source, wanted, llvm::toString(converted.takeError()));
}

static llvm::Error checkHeader(const TensorSource &source, const WantedTensor &wanted, TensorMemory &memory) {
  llvm::Expected<TensorHeader> header = source.header(wanted.name);
  if (!header)
    return header.takeError();
  auto suits = [](auto pair) { return std::get<0>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair); };
  if (header->shape.size() != wanted.shape.size() || !llvm::all_of(llvm::zip_equal(wanted.shape, header->shape), suits))
    return failAt(source, wanted, "expected shape " + showOpen(wanted.shape) + ", but got " + showShape(header->shape));
  // An empty tensor is converted as any other is: the same types pass, with the same message for the rest.
  llvm::Expected<HostTensor> converted = inType(source, wanted, HostTensor::zeros(header->type, {0}));
  return converted ? memory.add(*header, source.placeOf(wanted.name)) : converted.takeError();
}

llvm::Expected<std::vector<NamedTensor>> attune::attnc::readWanted(const TensorSource &source,
                                                                   llvm::ArrayRef<WantedTensor> wanted) {
  TensorMemory memory;
  for (const WantedTensor &each : wanted)
    if (llvm::Error error = checkHeader(source, each, memory))
      return std::move(error);
  std::vector<NamedTensor> tensors;
  for (const WantedTensor &each : wanted) {
    llvm::Expected<HostTensor> read = source.read(each.name);
    if (!read)
      return read.takeError();
    llvm::Expected<HostTensor> converted = inType(source, each, std::move(*read));
    if (!converted)
      return converted.takeError();
    tensors.push_back({each.name, std::move(*converted)});
  }
  return std::move(tensors);
}

llvm::Expected<RunTensors> attune::attnc::readTensors(const LibraryDescription &interface, llvm::StringRef from) {
  llvm::Expected<TensorSource> source = TensorSource::open(from);
  if (!source)
    return source.takeError();
  std::vector<WantedTensor> wanted;
  llvm::StringSet<> parameters;
  for (const TensorDescription &tensor : interface.tensors) {
    bool absent = tensor.role == ATTUNE_RT_OPTIONAL_INPUT && !source->contains(tensor.name);
    if (isOutput(tensor) || isPrepared(tensor) || absent)
      continue;
    wanted.push_back({tensor.name, {tensor.dims.begin(), tensor.dims.end()}, elementTypeOf(tensor.dtype)});
    if (isParameter(tensor))
      parameters.insert(tensor.name);
  }
  llvm::Expected<std::vector<NamedTensor>> read = readWanted(*source, wanted);
  if (!read)
    return read.takeError();
  RunTensors tensors;
  for (NamedTensor &tensor : *read)
    (parameters.contains(tensor.name) ? tensors.parameters : tensors.inputs).push_back(std::move(tensor));
  return tensors;
}

llvm::Error attune::attnc::readSaved(const LibraryDescription &interface, llvm::StringRef from, RunTensors &tensors) {
  llvm::Expected<TensorSource> source = TensorSource::open(from);
  if (!source)
    return source.takeError();
  std::vector<WantedTensor> wanted;
  for (const TensorDescription &tensor : interface.tensors)
    if (!isOutput(tensor) && isSaved(tensor) && source->contains(tensor.name))
      wanted.push_back({tensor.name, {tensor.dims.begin(), tensor.dims.end()}, elementTypeOf(tensor.dtype)});
  llvm::Expected<std::vector<NamedTensor>> read = readWanted(*source, wanted);
  if (!read)
    return read.takeError();
  llvm::move(*read, std::back_inserter(tensors.inputs));
  return llvm::Error::success();
}

llvm::Error attune::attnc::makeOutputs(const LibraryDescription &interface, RunTensors &tensors, bool save) {
  llvm::SmallVector<HostTensor *> known;
  for (const TensorDescription &tensor : interface.tensors)
    known.push_back(tensors.find(tensor.name));
  auto sizes = bindSizes(interface, known);
  for (const TensorDescription &tensor : interface.tensors) {
    if (!isOutput(tensor) || (isSaved(tensor) && !save))
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

llvm::Error attune::attnc::writeOutputs(const RunTensors &tensors, llvm::StringRef folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError("expected to make the folder " + folder + ", but got: " + code.message());
  for (const NamedTensor &output : tensors.outputs) {
    if (!isTensorName(output.name))
      return llvm::createStringError("expected an output's name of letters, digits, '_' and '.', but got '" + output.name + "'");
    bool counts = output.tensor.type == ElementType::I32;
    llvm::Expected<HostTensor> widened = convertTensor(output.tensor, counts ? ElementType::I32 : ElementType::F32);
    if (!widened)
      return widened.takeError();
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, output.name + ".npy");
    if (llvm::Error error = writeNpy(path, *widened))
      return error;
  }
  return llvm::Error::success();
}
