//===- Handle.h - A compiled library, opened and made ready ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_HANDLE_H
#define ATTUNE_PYTHON_HANDLE_H

#include "Process.h"
#include "attune-rt/attune.h"

#include <memory>
#include <string>
#include <vector>

namespace attune::python {

/// The tensors of a call, in the order of the library's struct: its size, then a pointer a tensor. Null: absent.
class TensorStruct {
public:
  explicit TensorStruct(size_t count) : words(count + 1, nullptr) {
    words[0] = reinterpret_cast<const void *>(words.size() * sizeof(void *));
  }
  void set(size_t position, const DLTensor *tensor) { words[position + 1] = tensor; }
  const DLTensor *at(size_t position) const { return static_cast<const DLTensor *>(words[position + 1]); }
  const void *get() const { return words.data(); }

private:
  std::vector<const void *> words;
};

/// The entry points NAME_… of a library.
struct EntryPoints {
  attune_status (*create)(const attune_options *, void **);
  attune_status (*prepare)(void *, const void *);
  attune_status (*workspace)(void *, const void *, size_t *);
  attune_status (*run)(void *, const void *, void *, size_t, void *);
  attune_status (*info)(void *, attune_info *);
  attune_status (*tensor)(void *, uint32_t, attune_tensor_info *);
  void (*destroy)(void *);
  const char *(*message)();
};

/// Knows nothing of Python: its calls are made without the GIL. Any number of threads may call it.
class Handle {
public:
  /// Opens lib`name`.so at `path` and makes a handle. Throws StatusError, as all that follow.
  Handle(const std::string &path, const std::string &name, attune_options options);
  ~Handle();
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;

  /// All tensors, in the order of the library's table.
  const std::vector<attune_tensor_info> &tensors() const { return table; }
  /// Those of a run, and of prepare.
  const std::vector<attune_tensor_info> &runTensors() const { return given; }
  const std::vector<attune_tensor_info> &parameters() const { return prepared; }

  attune_info info() const;
  void prepare(const TensorStruct &parameters);
  size_t workspaceBytes(const TensorStruct &tensors) const;

  /// Runs in workspace of its own, on the CPU.
  void run(const TensorStruct &tensors);
  /// Both in one piece: no run of another thread comes between them.
  void prepareAndRun(const TensorStruct &parameters, const TensorStruct &tensors);
  /// Runs in the caller's workspace; on a GPU it only enqueues.
  void runIn(const TensorStruct &tensors, void *workspace, size_t bytes, void *stream);

private:
  void open(const std::string &path);
  void readTable();
  void prepareLocked(const TensorStruct &parameters);
  void runLocked(const TensorStruct &tensors);
  void check(attune_status status) const;

  std::string name;
  void *library = nullptr;
  void *handle = nullptr;
  EntryPoints entry{};
  std::vector<attune_tensor_info> table, given, prepared;

  /// Held during prepare and run: those of one handle take turns anyway, and so one workspace serves them all.
  rt::ProcessLock running;
  std::unique_ptr<char[]> memory;
  std::atomic<size_t> memoryBytes{0};
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_HANDLE_H
