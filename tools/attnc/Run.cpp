//===- Run.cpp - attnc run ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Commands.h"

#include "attune/Frontend/SpecTensors.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/HostArrays.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;
using llvm::StringRef;

namespace {
/// The tensors of one run by name: the inputs as they were read, the outputs to be written.
struct RunTensors {
  std::vector<NamedTensor> inputs, outputs;

  HostTensor *find(StringRef name) {
    for (std::vector<NamedTensor> *list : {&inputs, &outputs})
      for (NamedTensor &tensor : *list)
        if (tensor.name == name)
          return &tensor.tensor;
    return nullptr;
  }
};
} // namespace

static ElementType elementOf(attune_rt_dtype dtype) {
  switch (dtype) {
  case ATTUNE_RT_F16:
    return ElementType::F16;
  case ATTUNE_RT_BF16:
    return ElementType::BF16;
  case ATTUNE_RT_I32:
    return ElementType::I32;
  default:
    return ElementType::F32;
  }
}

static bool isOutput(const target::TensorDescription &tensor) {
  return tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT;
}

/// Without a spec the interface tells what to read; the library checks the shapes.
static llvm::Error readByInterface(const target::LibraryDescription &interface, const TensorSource &source,
                                   RunTensors &tensors) {
  for (const target::TensorDescription &tensor : interface.tensors) {
    bool absent = tensor.role == ATTUNE_RT_OPTIONAL_INPUT && !source.contains(tensor.name);
    if (isOutput(tensor) || absent)
      continue;
    llvm::Expected<HostTensor> read = source.read(tensor.name);
    if (!read)
      return read.takeError();
    llvm::Expected<HostTensor> converted = convertTensor(*read, elementOf(tensor.dtype));
    if (!converted)
      return converted.takeError();
    tensors.inputs.push_back({tensor.name, std::move(*converted)});
  }
  return llvm::Error::success();
}

static llvm::Expected<RunTensors> readTensors(const Arguments &arguments, Compilation &compilation) {
  llvm::Expected<TensorSource> source = TensorSource::open(arguments.in);
  if (!source)
    return source.takeError();
  RunTensors tensors;
  if (!compilation.spec()) {
    if (llvm::Error error = readByInterface(compilation.interface(), *source, tensors))
      return std::move(error);
    return tensors;
  }
  llvm::Expected<LoadedTensors> loaded = loadTensors(*compilation.spec(), arguments.specs.front(), *source);
  if (!loaded)
    return loaded.takeError();
  tensors.inputs = std::move(loaded->inputs);
  return tensors;
}

/// Zeroed outputs of the interface's shapes; the sizes are those of q and k.
static llvm::Error makeOutputs(const target::LibraryDescription &interface, RunTensors &tensors) {
  HostTensor *q = tensors.find("q"), *k = tensors.find("k");
  if (!q || !k || q->shape.size() != 4 || k->shape.size() != 4)
    return llvm::createStringError("expected q and k of four dimensions");
  int64_t sizes[] = {q->shape[0], q->shape[2], k->shape[2]};
  for (const target::TensorDescription &tensor : interface.tensors) {
    if (!isOutput(tensor))
      continue;
    llvm::SmallVector<int64_t, 4> shape;
    for (int64_t dim : tensor.dims)
      shape.push_back(dim >= 0 ? dim : sizes[-1 - dim]);
    if (!byteCount(elementOf(tensor.dtype), shape))
      return llvm::createStringError("expected an output that fits memory, but got shape " + showShape(shape));
    tensors.outputs.push_back({tensor.name, HostTensor::zeros(elementOf(tensor.dtype), shape)});
  }
  return llvm::Error::success();
}

static llvm::Error writeOutputs(const Arguments &arguments, const RunTensors &tensors) {
  if (std::error_code code = llvm::sys::fs::create_directories(arguments.out))
    return llvm::createStringError("expected to make the folder " + arguments.out + ", but got: " + code.message());
  for (const NamedTensor &output : tensors.outputs) {
    llvm::Expected<HostTensor> widened = convertTensor(output.tensor, ElementType::F32);
    if (!widened)
      return widened.takeError();
    llvm::SmallString<128> path(arguments.out);
    llvm::sys::path::append(path, output.name + ".npy");
    if (llvm::Error error = writeNpy(path, *widened))
      return error;
  }
  return llvm::Error::success();
}

/// The tensors in the order of the interface.
static llvm::SmallVector<HostTensor *> slotsOf(Compilation &compilation, RunTensors &tensors) {
  llvm::SmallVector<HostTensor *> slots;
  for (const target::TensorDescription &tensor : compilation.interface().tensors)
    slots.push_back(tensors.find(tensor.name));
  return slots;
}

static int runLibrary(const Arguments &arguments, Compilation &compilation, RunTensors &tensors) {
  auto library = compileAndLoad(compilation);
  if (!library)
    return fail(library.takeError());
  if (llvm::Error error = (*library)->create(static_cast<int32_t>(arguments.threads)))
    return fail(std::move(error));
  if (llvm::Error error = (*library)->prepare())
    return fail(std::move(error), Wrong);
  // What the library refuses is a tensor that was given.
  if (llvm::Error error = (*library)->run(slotsOf(compilation, tensors)))
    return fail(std::move(error), Wrong);
  return Done;
}

static int runInEmulator(const Arguments &arguments, Compilation &compilation, RunTensors &tensors) {
  llvm::Error error = runEmulated(compilation, slotsOf(compilation, tensors));
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}

/// The attn dialect itself, in float64.
static int runReference(const Arguments &arguments, Compilation &compilation, RunTensors &tensors) {
  int status = Failed;
  auto reference = Compilation::open(arguments.specs.front(), "cpu", status);
  if (!reference)
    return status;
  auto function = reference->module().lookupSymbol<mlir::func::FuncOp>(reference->name());
  std::vector<reference::Array> inputs;
  for (auto [name, type] : llvm::zip_equal(compilation.argumentNames(), function.getArgumentTypes())) {
    HostTensor *tensor = tensors.find(name);
    if (!tensor)
      return fail("expected the tensor " + name + ", but got none", Wrong);
    inputs.push_back(reference::toArray(*tensor, llvm::cast<mlir::ShapedType>(type).getElementType()));
  }
  auto results = reference::evalAttn(function, inputs);
  if (failed(results))
    return Wrong;
  // Outputs of the interface are the function's results, in their order.
  for (auto [output, result] : llvm::zip(tensors.outputs, *results))
    output.tensor = reference::toHostTensor(result, ElementType::F32);
  return Done;
}

int attune::attnc::run(const Arguments &arguments) {
  int status = Failed;
  auto compilation = Compilation::open(arguments.specs.front(), arguments.target, status);
  if (!compilation)
    return status;
  if (compilation->isGpu() && !arguments.emulate && !arguments.reference)
    return fail("expected --emulate with --target " + arguments.target + ": attnc moves no tensors to a device (not "
                "supported yet); compile a library and call it with device tensors");
  if (failed(compilation->advance(Stage::Tile)))
    return Failed;
  llvm::Expected<RunTensors> tensors = readTensors(arguments, *compilation);
  if (!tensors)
    return fail(tensors.takeError(), Wrong);
  if (llvm::Error error = makeOutputs(compilation->interface(), *tensors))
    return fail(std::move(error), Wrong);
  auto execute = arguments.reference ? runReference : arguments.emulate ? runInEmulator : runLibrary;
  if (int code = execute(arguments, *compilation, *tensors))
    return code;
  if (llvm::Error error = writeOutputs(arguments, *tensors))
    return fail(std::move(error));
  return Done;
}
