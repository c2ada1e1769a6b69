//===- InitTensors.cpp - Drawing a spec's tensors ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Support/MachineMemory.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FileSystem.h"

namespace attune {

/// The first '?' without a value among the shapes, as a message; empty if there is none.
static std::string findOpenSize(llvm::ArrayRef<SpecTensor> tensors) {
  for (const SpecTensor &tensor : tensors)
    if (llvm::is_contained(tensor.shape, std::nullopt) || (tensor.elements == Elements::Index && !tensor.bound))
      return "expected " + std::string(tensor.elements == Elements::Offsets ? "--sequences" : "--batch, --queries or --keys") + " for the '?' in '" + tensor.name + "', but got none";
  return "";
}

/// A message if this machine's memory cannot hold the tensor; otherwise empty. With `Orthogonal` its rows are drawn in
/// f64 besides.
static std::string findTooLarge(const SpecTensor &tensor) {
  llvm::SmallVector<int64_t, 4> shape = llvm::map_to_vector<4>(tensor.shape, [](Size size) { return *size; });
  std::optional<int64_t> bytes = byteCount(ElementType::F64, shape);
  if (bytes && *bytes <= machineMemory())
    return "";
  return "expected '" + tensor.name + "' to fit this machine's memory, but got shape " + showShape(shape);
}

/// Gives the '?' their values; false after printing what is wrong with them.
static bool resolveRequested(const InitRequest &request, Spec &spec, llvm::raw_ostream &errors) {
  noteIgnoredSizes(spec, request.batch, request.queries, request.keys, errors);
  spec = resolveSizes(spec, request.batch, request.queries, request.keys);
  if (!spec.sequences)
    spec.sequences = request.sequences;
  Diagnostics diagnostics;
  if (checkSizes(spec, diagnostics))
    return true;
  llvm::Expected<SourceFile> file = readSpec(request.specPath);
  if (file)
    print(diagnostics, *file, errors);
  else
    llvm::consumeError(file.takeError());
  return false;
}

int initTensors(const InitRequest &request, llvm::raw_ostream &errors) {
  Spec spec;
  SpecStatus status = loadSpec(request.specPath, spec, errors);
  if (status != SpecStatus::Good)
    return exitStatus(status);
  if (request.backward && !checkGradientsAsked(spec, request.specPath, errors))
    return 2;
  for (const Size &size : {request.batch, request.queries, request.keys, request.sequences})
    if (size && (*size < 1 || *size > INT32_MAX)) {
      errors << "error: expected sizes from 1 to 2147483647, but got " << *size << '\n';
      return 2;
    }
  if (!resolveRequested(request, spec, errors))
    return 2;
  std::vector<SpecTensor> tensors = parameterTensors(spec);
  if (request.inputs)
    llvm::append_range(tensors, llvm::make_filter_range(inputTensors(spec), [](const SpecTensor &tensor) { return !tensor.optional; }));
  if (request.backward)
    llvm::append_range(tensors, cotangentTensors(spec));
  if (std::string open = findOpenSize(tensors); !open.empty()) {
    errors << request.specPath << ":1:1: error: " << open << '\n';
    return 2;
  }
  if (std::error_code error = llvm::sys::fs::create_directories(request.outFolder)) {
    errors << request.outFolder << ": error: expected a folder that can be made, but got " << error.message() << '\n';
    return 1;
  }
  for (const SpecTensor &tensor : tensors) {
    if (std::string large = findTooLarge(tensor); !large.empty()) {
      errors << request.specPath << ":1:1: error: " << large << '\n';
      return 1;
    }
    HostTensor drawn = drawTensor(tensor, request.seed);
    if (llvm::Error error = writeNpy(request.outFolder + "/" + tensor.name + ".npy", drawn)) {
      errors << llvm::toString(std::move(error)) << '\n';
      return 1;
    }
  }
  return 0;
}

} // namespace attune
