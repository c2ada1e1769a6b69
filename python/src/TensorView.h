//===- TensorView.h - A tensor of Python's as a DLTensor ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TENSORVIEW_H
#define ATTUNE_PYTHON_TENSORVIEW_H

#include <nanobind/nanobind.h>

#include "attune-rt/attune.h"

namespace attune::python {

/// Looks at an object's memory without a copy: through the buffer protocol, or through `__dlpack__`; a capsule that
/// some
/// `__dlpack__` made passes too. Made and destroyed under the GIL; in between the memory stays where it is.
class TensorView {
public:
  TensorView() = default;
  ~TensorView() { release(); }
  TensorView(const TensorView &) = delete;
  TensorView &operator=(const TensorView &) = delete;

  /// `name` and `dtype` are the library's. NumPy has no bf16: 16-bit words of a buffer count as that where the library
  /// has it. A tensor that is `written` must be writable.
  void look(nanobind::handle object, const char *name, DLDataType dtype, bool written);

  /// The tensor; null if nothing was looked at.
  const DLTensor *get() const { return present ? &tensor : nullptr; }

private:
  bool lookAtBuffer(nanobind::handle object, const char *name, DLDataType dtype, bool written);
  void lookAtCapsule(nanobind::handle object, const char *name, bool written);
  void release();

  DLTensor tensor{};
  bool present = false, holdsBuffer = false;
  Py_buffer buffer;
  PyObject *capsule = nullptr; // owns what it describes
  int64_t strides[ATTUNE_MAX_RANK];
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_TENSORVIEW_H
