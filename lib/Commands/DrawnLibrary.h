//===- DrawnLibrary.h - A compiled spec with drawn tensors ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_DRAWNLIBRARY_H
#define ATTUNE_COMMANDS_DRAWNLIBRARY_H

#include "TimedLibrary.h"

#include <functional>

namespace attune::attnc {

/// Which function of a spec is drawn, and what it writes and reads beside its tensors.
struct DrawnFunction {
  Direction direction = Direction::Forward;
  bool save = false; ///< with what is left for gradients among the outputs
  /// Adds to the inputs of an interface.
  std::function<llvm::Error(const target::LibraryDescription &, RunTensors &)> addInputs = {};
};

/// A spec compiled for this machine and loaded, with tensors as `attnc init` draws them.
struct DrawnLibrary {
  TimedLibrary library;
  RunTensors tensors;

  /// Errors of the compiler have been printed.
  static llvm::Expected<DrawnLibrary> make(const Spec &spec, const Arguments &arguments, const DrawnFunction &function = {});
  llvm::Error run() { return library.run(tensors); }
};

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_DRAWNLIBRARY_H
