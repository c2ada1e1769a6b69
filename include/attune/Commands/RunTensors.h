//===- RunTensors.h - The tensors of one run, by name ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_RUNTENSORS_H
#define ATTUNE_COMMANDS_RUNTENSORS_H

#include "attune/Frontend/SpecTensors.h"
#include "attune/Support/TensorFiles.h"
#include "attune/Target/LibraryDescription.h"

namespace attune::attnc {

/// Inputs and parameters as they were read or drawn, outputs to be written.
struct RunTensors {
  std::vector<NamedTensor> inputs, parameters, outputs;

  HostTensor *find(llvm::StringRef name);
  /// What run takes, and what prepare takes, in the order of the interface; null for what is not there.
  llvm::SmallVector<HostTensor *> given(const target::LibraryDescription &interface);
  llvm::SmallVector<HostTensor *> kept(const target::LibraryDescription &interface);
  /// All tensors of the interface; null also for those that the prepare plan fills.
  llvm::SmallVector<HostTensor *> all(const target::LibraryDescription &interface);
};

/// The tensors of a spec, from a folder or an archive, checked against it. Those that may be missing, and are, are left out, or `zeros`.
llvm::Expected<RunTensors> readTensors(const Spec &spec, llvm::StringRef specPath, llvm::StringRef source, bool zeros = false,
                                       Direction direction = Direction::Forward);

/// A tensor that a run reads. A negative size is an open one; without a type any will do.
struct WantedTensor {
  std::string name;
  llvm::SmallVector<int64_t, 4> shape;
  std::optional<ElementType> type;
};

/// Tensors of these shapes, in these types. All headers are judged, and what they take together, before any data is
/// read.
llvm::Expected<std::vector<NamedTensor>> readWanted(const TensorSource &source, llvm::ArrayRef<WantedTensor> wanted);

/// Without a spec the interface tells what to read.
llvm::Expected<RunTensors> readTensors(const target::LibraryDescription &interface, llvm::StringRef source);

/// Adds those of the interface's `saved.*` inputs, which a run may leave out, that are there.
llvm::Error readSaved(const target::LibraryDescription &interface, llvm::StringRef source, RunTensors &tensors);

/// Adds outputs of the interface's shapes, zeroed; the sizes are those of the inputs. `save`: what is left for gradients too.
llvm::Error makeOutputs(const target::LibraryDescription &interface, RunTensors &tensors, bool save = false);

/// Writes the outputs to a folder, as f32 or i32.
llvm::Error writeOutputs(const RunTensors &tensors, llvm::StringRef folder);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_RUNTENSORS_H
