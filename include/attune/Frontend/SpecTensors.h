//===- SpecTensors.h - The tensors of a spec -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_SPECTENSORS_H
#define ATTUNE_FRONTEND_SPECTENSORS_H

#include "attune/Attn/Backward.h"
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
  bool rescales = false; // the unit of another tensor, which is a constant of the function
  bool ofSequences = false; // packed: has an entry for each sequence where others have the one of all tokens
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
/// What a run writes: the output, and what else the spec asks for.
std::vector<SpecTensor> outputTensors(const Spec &spec);

/// Of a tensor's gradient, before its name.
using attn::gradientPrefix;
/// The inputs and parameters that have gradients: those that are no constants of the function.
std::vector<SpecTensor> differentiableTensors(const Spec &spec);
/// The names of those that the spec asks for.
std::vector<std::string> gradientNames(const Spec &spec);
/// What a backward run reads beside the inputs: the gradient of each output, in its type. They may be missing: zeros.
std::vector<SpecTensor> cotangentTensors(const Spec &spec);

/// The inputs and parameters of a spec, checked and rounded to its storage type, and the spec with its sizes known.
struct LoadedTensors {
  Spec spec;
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> parameters;
};

/// Which inputs a run reads.
enum class Direction { Forward, Backward };

/// The inputs of a run; those of a backward run end with `cotangentTensors`.
std::vector<SpecTensor> inputTensors(const Spec &spec, Direction direction);

/// Reads every tensor of `spec` from `source`; '?' sizes are read off the inputs. The error's message is complete: one
/// or more lines `PLACE: error: …`; what is wrong is always what was given.
llvm::Expected<LoadedTensors> loadTensors(const Spec &spec, llvm::StringRef specPath, const TensorSource &source,
                                          Direction direction = Direction::Forward);

/// What `attnc init` is asked for.
struct InitRequest {
  std::string specPath, outFolder;
  uint64_t seed = 0;
  bool inputs = false;       // also draw the inputs
  bool backward = false;     // also draw the gradients of the outputs
  Size batch, queries, keys, sequences; // for '?' sizes
};

/// Draws the tensors and writes them as .npy files. Returns the exit status; prints what is wrong to `errors`.
int initTensors(const InitRequest &request, llvm::raw_ostream &errors);

/// One tensor, drawn as docs/Spec.md says; f32, or i32 for indices. Its sizes and its bound are known.
HostTensor drawTensor(const SpecTensor &tensor, uint64_t seed);

} // namespace attune

#endif // ATTUNE_FRONTEND_SPECTENSORS_H
