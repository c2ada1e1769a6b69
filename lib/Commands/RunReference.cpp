//===- RunReference.cpp - attnc run --reference ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attn dialect itself, in float64.
//
//===----------------------------------------------------------------------===//
#include "RunReference.h"

#include "attune/Commands/Commands.h"
#include "attune/Commands/RunTensors.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/HostArrays.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace attune;
using namespace attune::attnc;
using llvm::StringRef;

/// The names that the frontend gave a function's arguments, or its results; empty if it gave none.
static std::vector<std::string> namesOf(mlir::func::FuncOp function, bool results) {
  std::vector<std::string> names;
  unsigned count = results ? function.getNumResults() : function.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    mlir::Attribute name = results ? function.getResultAttr(i, "attn.name") : function.getArgAttr(i, "attn.name");
    auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(name);
    if (!text)
      return {};
    names.push_back(text.str());
  }
  return names;
}

/// A file in the attn dialect may name nothing: the kernels then say what its arguments and results are.
static int nameByInterface(const Arguments &arguments, std::vector<std::string> &inputs,
                           std::vector<std::string> &outputs) {
  int status = Failed;
  auto compilation = Compilation::open(arguments.specs.front(), arguments.target, status);
  if (!compilation)
    return status;
  if (failed(compilation->advance(Stage::Tile)))
    return Failed;
  inputs = compilation->argumentNames();
  outputs.clear();
  for (const target::TensorDescription &tensor : compilation->interface().tensors)
    if (tensor.role == ATTUNE_RT_OUTPUT || tensor.role == ATTUNE_RT_OPTIONAL_OUTPUT)
      outputs.push_back(tensor.name);
  return Done;
}

/// As `elementTypeOf` knows a type.
static std::string nameOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::Expected<RunTensors> readForFunction(const Arguments &arguments, Compilation &compilation,
                                                  mlir::func::FuncOp function, llvm::ArrayRef<std::string> names) {
  if (compilation.spec())
    return readTensors(*compilation.spec(), arguments.specs.front(), arguments.in, /*zeros=*/true,
                       arguments.backward ? Direction::Backward : Direction::Forward);
  llvm::Expected<TensorSource> source = TensorSource::open(arguments.in);
  if (!source)
    return source.takeError();
  std::vector<WantedTensor> wanted;
  for (auto [name, type] : llvm::zip_equal(names, function.getArgumentTypes())) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    wanted.push_back(
        {name, llvm::SmallVector<int64_t, 4>(tensor.getShape()), elementTypeOf(nameOf(tensor.getElementType()))});
  }
  llvm::Expected<std::vector<NamedTensor>> read = readWanted(*source, wanted);
  if (!read)
    return read.takeError();
  return RunTensors{std::move(*read), {}, {}};
}

/// A file of ops may have a function of anything.
static bool checkTensors(mlir::func::FuncOp function) {
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!llvm::isa<mlir::RankedTensorType>(type)) {
      mlir::emitError(function.getArgument(position).getLoc())
          << "expected a tensor as argument " << position << " of @" << function.getName() << ", but got " << type;
      return false;
    }
  for (auto [position, type] : llvm::enumerate(function.getResultTypes()))
    if (!llvm::isa<mlir::RankedTensorType>(type)) {
      function.emitError() << "expected a tensor as result " << position << " of @" << function.getName()
                           << ", but got " << type;
      return false;
    }
  return true;
}

/// The function as it is written, or that of its gradients; null after a message.
static mlir::func::FuncOp functionToRun(const Arguments &arguments, Compilation &compilation) {
  auto function = compilation.module().lookupSymbol<mlir::func::FuncOp>(compilation.name());
  if (!arguments.backward)
    return function;
  if (namesOf(function, /*results=*/false).empty() || namesOf(function, /*results=*/true).empty())
    return function.emitError() << "expected names (attn.name) of all arguments and results of @" << function.getName()
                                << " with --backward, but got none of some", nullptr;
  mlir::FailureOr<mlir::func::FuncOp> backward = graph::buildBackward(function);
  return failed(backward) ? nullptr : *backward;
}

int attune::attnc::runReference(const Arguments &arguments, Compilation &compilation) {
  if (compilation.stage() != Stage::Attn)
    return fail("expected a spec or ops of the attn dialect with --reference, but got kernels; run them "
                "without it",
                Wrong);
  mlir::func::FuncOp function = functionToRun(arguments, compilation);
  if (!function)
    return arguments.backward ? Failed : Wrong;
  if (auto allowed = function->getAttrOfType<mlir::ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    llvm::errs() << "attnc: note: --reference computes the function as it is written; compiled code may compute another "
                    "one, which `allow` permits: attnc explain says whether it does\n";
  if (!checkTensors(function))
    return Wrong;
  std::vector<std::string> names = namesOf(function, /*results=*/false), outputs = namesOf(function, /*results=*/true);
  if (names.empty() || outputs.empty())
    if (int status = nameByInterface(arguments, names, outputs))
      return status;
  llvm::Expected<RunTensors> tensors = readForFunction(arguments, compilation, function, names);
  if (!tensors)
    return fail(tensors.takeError(), Wrong);
  std::vector<reference::Array> inputs;
  for (auto [name, type] : llvm::zip_equal(names, function.getArgumentTypes())) {
    HostTensor *tensor = tensors->find(name);
    if (!tensor)
      return fail("expected the tensor " + name + ", but got none", Wrong);
    inputs.push_back(reference::toArray(*tensor, llvm::cast<mlir::ShapedType>(type).getElementType()));
  }
  auto results = reference::evalAttn(function, inputs);
  if (failed(results))
    return Wrong;
  for (auto [name, result, type] : llvm::zip_equal(outputs, *results, function.getResultTypes())) {
    bool counts = llvm::cast<mlir::ShapedType>(type).getElementType().isInteger();
    tensors->outputs.push_back({name, reference::toHostTensor(result, counts ? ElementType::I32 : ElementType::F32)});
  }
  llvm::Error error = writeOutputs(*tensors, arguments.out);
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}
