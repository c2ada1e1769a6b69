//===- attune-serve.cpp - Many commands of attnc in one process ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads commands from standard input, a line each, words apart by tabs, and answers each with its exit status:
//
//   init … | run …                             as attnc takes them
//   reference SPEC FOLDER RESULT.npy [3,1]     the interpreter of attn on the tensors of FOLDER, in f64; of all rows, or
//                                              of those listed
//   terms SPEC FOLDER RESULT.npy [3,1]         the same of the mechanisms' decompositions
//   plans SPEC FOLDER RESULT.npy               every plan of the laws, and those that selection takes, one after another,
//                                              by the interpreter; their names in RESULT.npy.txt, a line each, and in
//                                              RESULT.npy.refused why a GPU has no plan
//   library SPEC FOLDER RESULT.npy ISA         a library compiled for one instruction set of the CPU (avx2, avx512, or avx512_bf16 or amx of a spec in bf16)
//   quick SPEC FOLDER RESULT.npy ISA           the same, unoptimised by LLVM
//   open SPEC ISA library|quick                compiles one of these and keeps it for calls, in the place of the last one
//   call FOLDER OUT                            runs it on the tensors of a folder; writes all outputs, as attnc run does
//
// Diagnostics go to standard error. For tests that draw many specs: a process for each would cost more than the work.
//
//===----------------------------------------------------------------------===//
#include "EvaluatedPlans.h"

#include "attune/Commands/Commands.h"
#include "attune/Commands/RunTensors.h"
#include "attune/Graph/Passes.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/LoadedLibrary.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/HostArrays.h"
#include "attune/Support/TensorFiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>
#include <memory>

using namespace attune;
using namespace attune::attnc;

/// Absent for an empty text.
static std::optional<std::vector<int64_t>> parseRows(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, false);
  std::vector<int64_t> rows(parts.size());
  for (auto [part, row] : llvm::zip_equal(parts, rows))
    if (part.getAsInteger(10, row))
      row = -1; // which the interpreter refuses
  return parts.empty() ? std::nullopt : std::optional(rows);
}

/// The arguments of a function, from files that bear their names. Sets the status.
static std::vector<reference::Array> readArguments(mlir::func::FuncOp function, const std::string &folder, int &status) {
  std::vector<reference::Array> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(i, "attn.name");
    if (!name) {
      status = fail("expected a name of argument " + llvm::Twine(i) + ", but got none");
      return {};
    }
    llvm::Expected<HostTensor> tensor = readNpy(folder + "/" + name.str() + ".npy");
    if (!tensor) {
      status = fail(tensor.takeError(), Wrong);
      return {};
    }
    auto type = llvm::cast<mlir::ShapedType>(function.getArgumentTypes()[i]);
    arguments.push_back(reference::toArray(*tensor, type.getElementType()));
  }
  status = Done;
  return arguments;
}

static int writeResult(const std::string &path, const reference::Array &result) {
  if (llvm::Error error = writeNpy(path, reference::toHostTensor(result, ElementType::F64)))
    return fail(std::move(error));
  return Done;
}

static int writeLines(const std::string &path, llvm::ArrayRef<std::string> lines) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (code)
    return fail("expected a file to write, but got " + code.message());
  for (llvm::StringRef line : lines)
    file << line << "\n";
  return Done;
}

/// The outputs one after another, and their names.
static int writePlans(const std::string &path, const random::EvaluatedPlans &plans) {
  std::vector<int64_t> shape{static_cast<int64_t>(plans.evaluated.size())};
  llvm::append_range(shape, plans.evaluated.front().output.shape());
  std::vector<double> elements;
  std::vector<std::string> names;
  for (const random::EvaluatedPlan &plan : plans.evaluated) {
    llvm::append_range(elements, plan.output.elements());
    names.push_back(plan.name);
  }
  if (writeLines(path + ".txt", names) != Done || writeLines(path + ".refused", plans.refused) != Done)
    return Failed;
  return writeResult(path, reference::makeArray(shape, elements));
}

static int evaluatePlans(const std::string &spec, const std::string &folder, const std::string &result) {
  int status = Failed;
  auto compilation = Compilation::open(spec, "cpu", status);
  if (!compilation)
    return status;
  auto function = *compilation->module().getOps<mlir::func::FuncOp>().begin();
  std::vector<reference::Array> arguments = readArguments(function, folder, status);
  if (status != Done)
    return status;
  std::vector<graph::Pin> pins;
  for (const Pin &pin : compilation->spec()->pin)
    pins.push_back({pin.law, pin.form});
  auto plans = random::evaluatePlans(compilation->module(), arguments, pins);
  return failed(plans) ? static_cast<int>(Failed) : writePlans(result, *plans);
}

static int evaluate(const std::string &spec, const std::string &folder, const std::string &result, llvm::StringRef rows,
                    bool asTerms) {
  int status = Failed;
  auto compilation = Compilation::open(spec, "cpu", status);
  if (!compilation)
    return status;
  mlir::PassManager passes(&compilation->context());
  passes.addPass(graph::createDecompose());
  if (asTerms && mlir::failed(passes.run(compilation->module())))
    return Failed;
  auto function = *compilation->module().getOps<mlir::func::FuncOp>().begin();
  std::vector<reference::Array> arguments = readArguments(function, folder, status);
  if (status != Done)
    return status;
  reference::EvalAttnOptions options{reference::Precision::Ideal, parseRows(rows)};
  auto results = reference::evalAttn(function, arguments, options);
  if (failed(results))
    return Failed;
  return writeResult(result, results->front());
}

/// By the code for `isa`, which a library may hold without taking it of itself.
static llvm::Error runLibrary(Compilation &compilation, RunTensors &tensors, llvm::StringRef isa) {
  auto library = compileAndLoad(compilation);
  if (!library)
    return library.takeError();
  if (llvm::Error error = (*library)->create(/*threads=*/1, isa))
    return error;
  if (llvm::Error error = (*library)->prepare(tensors.kept(compilation.interface())))
    return error;
  return (*library)->run(tensors.given(compilation.interface()));
}

static int compiled(const std::string &path, const std::string &folder, const std::string &result, llvm::StringRef isa,
                    bool quick) {
  int status = Failed;
  auto compilation = Compilation::open(path, "cpu", status);
  if (!compilation)
    return status;
  compilation->limitTo(isa);
  if (quick)
    compilation->leaveUnoptimized();
  if (failed(compilation->advance(Stage::Tile)))
    return Failed;
  llvm::Expected<RunTensors> tensors = readTensors(*compilation->spec(), path, folder);
  if (!tensors)
    return fail(tensors.takeError(), Wrong);
  if (llvm::Error error = makeOutputs(compilation->interface(), *tensors))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = runLibrary(*compilation, *tensors, isa))
    return fail(std::move(error));
  llvm::Expected<HostTensor> widened = convertTensor(tensors->outputs.front().tensor, ElementType::F32);
  if (!widened)
    return fail(widened.takeError());
  if (llvm::Error error = writeNpy(result, *widened))
    return fail(std::move(error));
  return Done;
}

//===----------------------------------------------------------------------===//
// A library of many calls
//===----------------------------------------------------------------------===//

namespace {
struct OpenLibrary {
  std::unique_ptr<Compilation> compilation;
  std::unique_ptr<LoadedLibrary> library;
};
} // namespace

static int open(OpenLibrary &opened, const std::string &path, llvm::StringRef isa, bool quick) {
  int status = Failed;
  opened.library.reset();
  opened.compilation = Compilation::open(path, "cpu", status);
  if (!opened.compilation)
    return status;
  opened.compilation->limitTo(isa);
  if (quick)
    opened.compilation->leaveUnoptimized();
  if (failed(opened.compilation->advance(Stage::Tile)))
    return Failed;
  auto library = compileAndLoad(*opened.compilation);
  if (!library)
    return fail(library.takeError());
  opened.library = std::move(*library);
  if (llvm::Error error = opened.library->create(/*threads=*/1, isa))
    return fail(std::move(error));
  return Done;
}

static llvm::Error writeOutputs(const RunTensors &tensors, const std::string &folder) {
  for (const NamedTensor &output : tensors.outputs) {
    bool counts = output.tensor.type == ElementType::I32;
    llvm::Expected<HostTensor> widened = convertTensor(output.tensor, counts ? ElementType::I32 : ElementType::F32);
    if (!widened)
      return widened.takeError();
    if (llvm::Error error = writeNpy(folder + "/" + output.name + ".npy", *widened))
      return error;
  }
  return llvm::Error::success();
}

static int call(OpenLibrary &opened, const std::string &folder, const std::string &out) {
  if (!opened.library)
    return fail("expected an open library to call, but got none", Wrong);
  Compilation &compilation = *opened.compilation;
  llvm::Expected<RunTensors> tensors = readTensors(*compilation.spec(), compilation.path(), folder);
  if (!tensors)
    return fail(tensors.takeError(), Wrong);
  if (llvm::Error error = makeOutputs(compilation.interface(), *tensors))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = opened.library->prepare(tensors->kept(compilation.interface())))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = opened.library->run(tensors->given(compilation.interface())))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = writeOutputs(*tensors, out))
    return fail(std::move(error));
  return Done;
}

static int serve(OpenLibrary &opened, const std::string &line) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(line).split(parts, '\t');
  bool asTerms = parts[0] == "terms";
  if ((parts.size() == 4 || parts.size() == 5) && (asTerms || parts[0] == "reference"))
    return evaluate(parts[1].str(), parts[2].str(), parts[3].str(), parts.size() == 5 ? parts[4] : "", asTerms);
  if (parts.size() == 4 && parts[0] == "plans")
    return evaluatePlans(parts[1].str(), parts[2].str(), parts[3].str());
  if (parts.size() == 5 && (parts[0] == "library" || parts[0] == "quick"))
    return compiled(parts[1].str(), parts[2].str(), parts[3].str(), parts[4], parts[0] == "quick");
  if (parts.size() == 4 && parts[0] == "open")
    return open(opened, parts[1].str(), parts[2], parts[3] == "quick");
  if (parts.size() == 3 && parts[0] == "call")
    return call(opened, parts[1].str(), parts[2].str());
  std::vector<std::string> words{"attnc"};
  for (llvm::StringRef part : parts)
    words.push_back(part.str());
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  std::optional<Arguments> arguments = parseArguments(static_cast<int>(pointers.size()), pointers.data());
  if (!arguments)
    return Wrong;
  if (arguments->command == Command::Init)
    return init(*arguments);
  if (arguments->command == Command::Run)
    return run(*arguments);
  return fail("expected init, run, library, quick, open, call, reference, terms or plans, but got '" + parts[0] + "'", Wrong);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  OpenLibrary opened;
  for (std::string line; std::getline(std::cin, line);) {
    int status = serve(opened, line);
    llvm::errs().flush();
    std::cout << status << std::endl;
  }
  return 0;
}
