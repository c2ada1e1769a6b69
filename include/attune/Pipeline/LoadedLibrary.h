//===- LoadedLibrary.h - A compiled library, loaded and called ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls a compiled library by the names of its entry points, as a C program would; the tools run what users run.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_LOADEDLIBRARY_H
#define ATTUNE_PIPELINE_LOADEDLIBRARY_H

#include "attune/Support/HostTensor.h"
#include "attune/Target/LibraryDescription.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace attune {

/// Batch, queries and keys as the tensors of an interface show them (null: an absent one); -1 for what none shows.
std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> bindSizes(const target::LibraryDescription &interface,
                                                      llvm::ArrayRef<HostTensor *> tensors);

/// The element type of host tensors that are of a library's.
ElementType elementTypeOf(attune_rt_dtype dtype);

class LoadedLibrary {
public:
  /// Loads lib`name`.so at `path`; the file may be removed afterwards.
  static llvm::Expected<std::unique_ptr<LoadedLibrary>> open(llvm::StringRef path, llvm::StringRef name);
  ~LoadedLibrary();

  /// Makes the handle. 0 threads: every CPU; an empty `isa`: the best that is there.
  llvm::Error create(int32_t threads = 0, llvm::StringRef isa = "");

  /// Makes the handle for the first GPU, which the library's code must be for.
  llvm::Error createOnGpu();

  /// Gives it the parameters, in the order of the library's interface. Needed before a run, even if there are none; the
  /// tensors need not outlive the call.
  llvm::Error prepare(llvm::ArrayRef<HostTensor *> parameters = {});

  /// Inputs and outputs in the order of the library's interface; null for an optional one that is not wanted. Row-major,
  /// in the library's element types. Allocates the workspace on the first call for its sizes and keeps it.
  llvm::Error run(llvm::ArrayRef<HostTensor *> tensors);

  /// The same on a GPU: `addresses` are where the tensors lie in its memory, 0 for those that are null. Enqueues.
  llvm::Error run(llvm::ArrayRef<HostTensor *> tensors, llvm::ArrayRef<uint64_t> addresses, uint64_t workspace,
                  size_t workspaceBytes);

  /// Bytes of workspace for these tensors; with `addresses`, on a GPU.
  llvm::Expected<size_t> workspaceBytes(llvm::ArrayRef<HostTensor *> tensors, llvm::ArrayRef<uint64_t> addresses = {});
  llvm::Expected<attune_info> info();

private:
  struct Impl;
  explicit LoadedLibrary(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace attune

#endif // ATTUNE_PIPELINE_LOADEDLIBRARY_H
