//===- InitTensors.cpp - Drawing a spec's tensors ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Support/Random.h"

#include "llvm/Support/FileSystem.h"

namespace attune {

HostTensor drawInput(const SpecTensor &tensor, uint64_t seed, int64_t keys) {
  llvm::SmallVector<int64_t, 4> shape;
  for (const Size &size : tensor.shape)
    shape.push_back(size.value_or(0));
  bool lengths = tensor.type == ElementType::I32;
  HostTensor result = HostTensor::zeros(lengths ? ElementType::I32 : ElementType::F32, shape);
  RandomTensor random(seed, tensor.name);
  for (int64_t i = 0, e = result.count(); i < e; ++i) {
    if (lengths)
      result.data<int32_t>()[i] = static_cast<int32_t>(random.below(i, keys + 1));
    else
      result.data<float>()[i] = static_cast<float>(random.normal(i));
  }
  return result;
}

/// The first '?' without a value among the shapes, as a message; empty if there is none.
static std::string findOpenSize(llvm::ArrayRef<SpecTensor> tensors) {
  for (const SpecTensor &tensor : tensors)
    if (llvm::is_contained(tensor.shape, std::nullopt))
      return "expected --batch, --queries or --keys for the '?' in '" + tensor.name + "', but got none";
  return "";
}

/// Gives the '?' their values; false after printing what is wrong with them.
static bool resolveRequested(const InitRequest &request, Spec &spec, llvm::raw_ostream &errors) {
  spec = resolveSizes(spec, request.batch, request.queries, request.keys);
  Diagnostics diagnostics;
  if (checkSizes(spec, diagnostics))
    return true;
  llvm::Expected<SourceFile> file = SourceFile::read(request.specPath, largestSpec);
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
  for (const Size &size : {request.batch, request.queries, request.keys})
    if (size && (*size < 1 || *size > INT32_MAX)) {
      errors << "error: expected sizes from 1 to 2147483647, but got " << *size << '\n';
      return 2;
    }
  if (!resolveRequested(request, spec, errors))
    return 2;
  // The mechanisms supported so far have no parameters to draw.
  std::vector<SpecTensor> tensors = request.inputs ? inputTensors(spec) : std::vector<SpecTensor>();
  if (std::string open = findOpenSize(tensors); !open.empty()) {
    errors << request.specPath << ":1:1: error: " << open << '\n';
    return 2;
  }
  if (std::error_code error = llvm::sys::fs::create_directories(request.outFolder)) {
    errors << request.outFolder << ": error: expected a folder that can be made, but got " << error.message() << '\n';
    return 1;
  }
  for (const SpecTensor &tensor : tensors) {
    HostTensor drawn = drawInput(tensor, request.seed, spec.keys.value_or(0));
    if (llvm::Error error = writeNpy(request.outFolder + "/" + tensor.name + ".npy", drawn)) {
      errors << llvm::toString(std::move(error)) << '\n';
      return 1;
    }
  }
  return 0;
}

} // namespace attune
