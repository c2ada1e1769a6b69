//===- TimedLibrary.h - A spec, compiled and timed -----------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_TIMEDLIBRARY_H
#define ATTUNE_COMMANDS_TIMEDLIBRARY_H

#include "attune/Commands/Arguments.h"
#include "attune/Commands/RunTensors.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Pipeline/LoadedLibrary.h"

namespace attune::attnc {

/// Median, least and largest of some figures; of none, 0.
struct Spread {
  double median = 0, least = 0, most = 0;

  explicit Spread(std::vector<double> figures);
};

/// A compiled spec and how long its runs took.
struct TimedLibrary {
  std::unique_ptr<LoadedLibrary> library;
  target::LibraryDescription interface;
  std::vector<double> seconds;
  double operations = 0; ///< that its function needs at least

  /// Compiles for the CPU and loads: the spec's function, or that of its gradients. What is wrong with the spec has been printed.
  static llvm::Expected<TimedLibrary> make(const Spec &spec, const Arguments &arguments, Direction direction = Direction::Forward);

  /// Makes the handle and gives it its parameters, which need not outlive the call.
  llvm::Error prepare(RunTensors &tensors, const Arguments &arguments);

  /// One run, timed.
  llvm::Error run(RunTensors &tensors);
};

/// What stands below a table whose rates divide these operations by a time.
inline constexpr llvm::StringLiteral countedOperations =
    "GFLOP/s are of the operations that each function needs at least, whatever its plan executes: docs/Performance.md";

/// Tensors as `attnc init` draws them, in the types of the compiled kernel.
llvm::Error drawTensors(llvm::ArrayRef<SpecTensor> tensors, uint64_t seed, std::vector<NamedTensor> &drawn);

/// Exact softmax attention of the same tensors.
Spec exactOf(Spec spec);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_TIMEDLIBRARY_H
