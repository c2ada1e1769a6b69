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

/// What the elements of a tensor are, and how `attnc init` draws them.
enum class Elements {
  Normal,     // deviation times a standard normal
  Orthogonal, // [matrices, rows, d]: rows orthogonal within blocks of d, their norms those of d standard normals
  Sign,       // -1 or 1
  Index,      // integers from 0 to bound - 1
  Retention,  // log(1 - 2^(-5 - h)) of head h
  LogGate,    // 8^(-((h + 1) mod 3)) times the logarithm of the sigmoid of a standard normal
  Gate,       // deviation times the sigmoid of a standard normal
  Offsets,    // 0, bound, and integers between them, drawn and sorted
  Slope,      // 2^(-8 (h + 1) / heads) of the spec's head h
};

/// A tensor that a spec reads or writes.
struct SpecTensor {
  std::string name;
  ElementType type = ElementType::F32; // of the compiled kernel; files hold floats as f32
  llvm::SmallVector<Size, 4> shape;    // nullopt: a '?' that has no value yet
  std::string field;                   // the path of the field it comes from
  Elements elements = Elements::Normal;
  double deviation = 1;      // Normal, Gate
  Size bound = std::nullopt; // Index, Offsets; nullopt while it is a '?'
  int64_t first = 0, heads = 1; // Slope: the head of the first element, and how many the spec has
  bool optional = false; // an input that may be missing: zeros
};

std::vector<SpecTensor> inputTensors(const Spec &spec);
std::vector<SpecTensor> parameterTensors(const Spec &spec);
SpecTensor outputTensor(const Spec &spec);
/// The logarithms of the sums of exponentials, if the spec asks for them.
SpecTensor lseTensor(const Spec &spec);
/// What a part's tokens leave to those after them, named behind `prefix`, and how many there have been, which all parts share.
std::vector<SpecTensor> stateTensors(const Spec &spec, const Part &part, llvm::StringRef prefix);
SpecTensor positionTensor(const Spec &spec, llvm::StringRef prefix);
/// All of them, as inputs (`state.`) and as outputs (`final_state.`).
inline constexpr llvm::StringLiteral initialPrefix = "state.", finalPrefix = "final_state.";
std::vector<SpecTensor> stateTensors(const Spec &spec, llvm::StringRef prefix);

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
  Size batch, queries, keys, sequences; // for '?' sizes
};

/// Draws the tensors and writes them as .npy files. Returns the exit status; prints what is wrong to `errors`.
int initTensors(const InitRequest &request, llvm::raw_ostream &errors);

/// One tensor, drawn as docs/Spec.md says; f32, or i32 for indices. Its sizes and its bound are known.
HostTensor drawTensor(const SpecTensor &tensor, uint64_t seed);

} // namespace attune

#endif // ATTUNE_FRONTEND_SPECTENSORS_H
