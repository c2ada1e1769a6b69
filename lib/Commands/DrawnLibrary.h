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

namespace attune::attnc {

/// A spec compiled for this machine and loaded, with tensors as `attnc init` draws them.
struct DrawnLibrary {
  TimedLibrary library;
  RunTensors tensors;

  /// Errors of the compiler have been printed.
  static llvm::Expected<DrawnLibrary> make(const Spec &spec, const Arguments &arguments);
  llvm::Error run() { return library.run(tensors); }
};

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_DRAWNLIBRARY_H
