//===- SpecTensors.h - The tensors of a spec -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_SPECTENSORS_H
#define ATTUNE_FRONTEND_SPECTENSORS_H

#include "attune/Frontend/Spec.h"
#include "attune/Support/TensorFiles.h"

namespace attune {

/// A tensor that a spec reads or writes.
struct SpecTensor {
  std::string name;
  ElementType type = ElementType::F32; // of the compiled kernel; files hold floats as f32
  llvm::SmallVector<Size, 4> shape;    // nullopt: a '?' that has no value yet
};

std::vector<SpecTensor> inputTensors(const Spec &spec);
std::vector<SpecTensor> parameterTensors(const Spec &spec);
SpecTensor outputTensor(const Spec &spec);

/// The inputs and parameters of a spec, checked and rounded to its storage type, and the spec with its sizes known.
struct LoadedTensors {
  Spec spec;
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> parameters;
};

/// Reads every tensor of `spec` from `source`; '?' sizes are read off the inputs. The error's message is complete: one
/// or more lines `PLACE: error: …`; what is wrong is always what was given.
llvm::Expected<LoadedTensors> loadTensors(const Spec &spec, llvm::StringRef specPath, const TensorSource &source);

/// What `attnc init` is asked for.
struct InitRequest {
  std::string specPath, outFolder;
  uint64_t seed = 0;
  bool inputs = false;       // also draw the inputs
  Size batch, queries, keys; // for '?' sizes
};

/// Draws the tensors and writes them as .npy files. Returns the exit status; prints what is wrong to `errors`.
int initTensors(const InitRequest &request, llvm::raw_ostream &errors);

/// One input, drawn: standard normals, or key lengths that are uniform in 0 … `keys`. All sizes are known.
HostTensor drawInput(const SpecTensor &tensor, uint64_t seed, int64_t keys);

} // namespace attune

#endif // ATTUNE_FRONTEND_SPECTENSORS_H
