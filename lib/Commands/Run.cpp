//===- Run.cpp - attnc run ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RunReference.h"

#include "attune/Commands/Commands.h"
#include "attune/Commands/RunTensors.h"
#include "attune/Emulator/EmulatorReport.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Pipeline/DeviceRun.h"
#include "attune/Pipeline/LoadedLibrary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attune;
using namespace attune::attnc;
using llvm::StringRef;

/// On the first GPU. What the library says of the machine has the remedy; here there is one more.
static int runOnGpu(const Arguments &, Compilation &compilation, RunTensors &tensors) {
  auto library = compileAndLoad(compilation);
  if (!library)
    return fail(library.takeError());
  if (llvm::Error error = (*library)->createOnGpu())
    return fail(llvm::toString(std::move(error)) + "; --emulate runs the device code on the CPU");
  if (llvm::Error error = (*library)->prepare(tensors.kept(compilation.interface())))
    return fail(std::move(error), Wrong);
  auto device = CudaDevice::open();
  if (!device)
    return fail(device.takeError());
  auto placed = DeviceRun::make(**library, *device, tensors.given(compilation.interface()));
  if (!placed)
    return fail(placed.takeError());
  if (llvm::Error error = (*placed)->run())
    return fail(std::move(error), Wrong);
  for (NamedTensor &output : tensors.outputs)
    if (llvm::Error error = (*placed)->fetch(output.tensor))
      return fail(std::move(error));
  return Done;
}

static int runLibrary(const Arguments &arguments, Compilation &compilation, RunTensors &tensors) {
  auto library = compileAndLoad(compilation);
  if (!library)
    return fail(library.takeError());
  if (llvm::Error error = (*library)->create(static_cast<int32_t>(arguments.threads)))
    return fail(std::move(error));
  // What the library refuses is a tensor that was given.
  if (llvm::Error error = (*library)->prepare(tensors.kept(compilation.interface())))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = (*library)->run(tensors.given(compilation.interface())))
    return fail(std::move(error), Wrong);
  return Done;
}

/// What each launch did, in the order of the launches.
static void printWork(llvm::ArrayRef<LaunchWork> launches) {
  llvm::json::Array list;
  for (const LaunchWork &launch : launches) {
    llvm::json::Object object{{"kernel", launch.kernel}};
    for (const CounterName &each : counterNames())
      object[each.name] = static_cast<int64_t>(launch.counters.*each.counter);
    list.push_back(std::move(object));
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
}

static int runInEmulator(const Arguments &arguments, Compilation &compilation, RunTensors &tensors) {
  std::vector<LaunchWork> work;
  llvm::Error error = runEmulated(compilation, tensors.all(compilation.interface()), &work, arguments.pessimistic);
  if (!error && arguments.json)
    printWork(work);
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}

static llvm::Expected<RunTensors> readForInterface(const Arguments &arguments, Compilation &compilation) {
  if (!compilation.spec())
    return readTensors(compilation.interface(), arguments.in);
  Direction direction = arguments.backward ? Direction::Backward : Direction::Forward;
  llvm::Expected<RunTensors> tensors = readTensors(*compilation.spec(), arguments.specs.front(), arguments.in, /*zeros=*/false, direction);
  if (tensors)
    if (llvm::Error error = readSaved(compilation.interface(), arguments.in, *tensors))
      return std::move(error);
  return tensors;
}

static int runCompiled(const Arguments &arguments, Compilation &compilation) {
  if (failed(compilation.advance(Stage::Tile)))
    return Failed;
  llvm::Expected<RunTensors> tensors = readForInterface(arguments, compilation);
  if (!tensors)
    return fail(tensors.takeError(), Wrong);
  if (llvm::Error error = makeOutputs(compilation.interface(), *tensors, arguments.save))
    return fail(std::move(error), Wrong);
  auto execute = arguments.emulate ? runInEmulator : compilation.isGpu() ? runOnGpu : runLibrary;
  int code = execute(arguments, compilation, *tensors);
  if (code)
    return code;
  llvm::Error error = writeOutputs(*tensors, arguments.out);
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}

/// --backward is of what asks for gradients.
static bool checkGradients(const Arguments &arguments, Compilation &compilation) {
  if (compilation.spec())
    return checkGradientsAsked(*compilation.spec(), arguments.specs.front(), llvm::errs());
  auto function = compilation.module().lookupSymbol<mlir::func::FuncOp>(compilation.name());
  if (function && function->hasAttr("attn.gradients"))
    return true;
  mlir::Location place = function ? function.getLoc() : compilation.module().getLoc();
  mlir::InFlightDiagnostic error = mlir::emitError(place) << "expected `attn.gradients` of @" << compilation.name() << " with --backward, but got none";
  error.attachNote() << "add attn.gradients = [\"q\"], names of arguments by their attn.name, to its attributes";
  return false;
}

int attune::attnc::run(const Arguments &arguments) {
  int status = Failed;
  auto compilation = Compilation::open(arguments.specs.front(), arguments.target, status);
  if (!compilation)
    return status;
  if (arguments.backward && !checkGradients(arguments, *compilation))
    return Wrong;
  if (!arguments.device.empty())
    compilation->priceFor(arguments.device);
  compilation->planFor(pricedThreads(arguments)), compilation->multiplyBy(arguments.products);
  if (arguments.backward && !arguments.reference)
    if (compilation = compilation->backward(); !compilation)
      return Failed;
  return arguments.reference ? runReference(arguments, *compilation) : runCompiled(arguments, *compilation);
}
