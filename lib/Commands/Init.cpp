//===- Init.cpp - attnc init ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/HostArrays.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;

/// The spec of `tokens` tokens that begin a sequence and leave a state.
static Spec beginning(const Spec &spec, int64_t tokens) {
  Spec first = spec;
  for (const Part &part : spec.parts)
    if (part.mechanism.isKernel(FeatureMapKind::Cosformer))
      tokens = std::min(tokens, part.mechanism.featureMap.maxPosition - (spec.packed ? 0 : *spec.queries));
  first.initialState = first.keyLengths = first.lse = false, first.finalState = true;
  first.queries = first.keys = std::max<int64_t>(tokens, 0);
  first.batch = spec.states(), first.packed = false; // each sequence has its own
  return first;
}

/// The state that a few drawn tokens leave: one that can occur. The spec and its sizes have been checked.
static int initStates(const InitRequest &request) {
  Spec spec;
  if (SpecStatus status = loadSpec(request.specPath, spec, llvm::errs()); status != SpecStatus::Good)
    return exitStatus(status);
  if (!spec.initialState)
    return Done;
  Spec resolved = resolveSizes(spec, request.batch, request.queries, request.keys);
  if (!resolved.sequences)
    resolved.sequences = request.sequences;
  Spec first = beginning(resolved, /*tokens=*/5);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = specToAttn(first, request.specPath, context);
  auto function = module->lookupSymbol<mlir::func::FuncOp>(first.name);
  std::vector<SpecTensor> tensors = inputTensors(first), parameters = parameterTensors(first);
  for (SpecTensor &tensor : tensors)
    tensor.name = "state." + tensor.name; // others than those that follow
  tensors.insert(tensors.end(), parameters.begin(), parameters.end());
  std::vector<reference::Array> arguments;
  for (auto [tensor, type] : llvm::zip_equal(tensors, function.getArgumentTypes()))
    arguments.push_back(
        reference::toArray(drawTensor(tensor, request.seed), llvm::cast<mlir::ShapedType>(type).getElementType()));
  auto results = reference::evalAttn(function, arguments);
  if (failed(results))
    return Failed;
  for (auto [tensor, result] : llvm::zip(stateTensors(first, initialPrefix), llvm::drop_begin(*results)))
    if (llvm::Error error = writeNpy(request.outFolder + "/" + tensor.name + ".npy", reference::toHostTensor(result, tensor.type)))
      return fail(std::move(error));
  return Done;
}

int attune::attnc::init(const Arguments &arguments) {
  InitRequest request;
  request.specPath = arguments.specs.front();
  request.outFolder = arguments.out;
  request.seed = arguments.seed;
  request.inputs = arguments.inputs, request.backward = arguments.backward;
  request.batch = arguments.batch, request.queries = arguments.queries, request.keys = arguments.keys;
  request.sequences = arguments.sequences;
  int status = initTensors(request, llvm::errs());
  return status || !request.inputs ? status : initStates(request);
}
