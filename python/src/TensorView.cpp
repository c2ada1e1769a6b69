//===- TensorView.cpp - A tensor of Python's as a DLTensor ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TensorView.h"

#include "Errors.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

namespace nb = nanobind;
using namespace attune::python;

namespace {

// What capsules hold, as the DLPack specification lays it out.
struct ManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

struct VersionedTensor {
  uint32_t major, minor;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  DLTensor tensor;
};

constexpr uint64_t readOnly = 1;
constexpr uint8_t opaque = 3, complexNumber = 5, boolean = 6;

std::string typeName(nb::handle object) { return nb::cast<std::string>(nb::str(object.type().attr("__name__"))); }

[[noreturn]] void refuse(const char *name, const std::string &what) {
  throw StatusError(ATTUNE_ERROR_ARGUMENT, "argument '" + std::string(name) + "': expected " + what);
}

/// The dtype of a buffer's elements; `opaque` for what no tensor of a library has.
DLDataType dtypeOf(const Py_buffer &buffer) {
  const char *format = buffer.format ? buffer.format : "B";
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  auto bits = static_cast<uint8_t>(buffer.itemsize * 8);
  uint8_t code = opaque;
  if (*format == 'Z')
    code = complexNumber;
  else if (format[0] == 0 || format[1] != 0)
    code = opaque;
  else if (strchr("efd", *format))
    code = kDLFloat;
  else if (strchr("bhilqn", *format))
    code = kDLInt;
  else if (strchr("BHILQN", *format))
    code = kDLUInt;
  else if (*format == '?')
    code = boolean;
  return {code, bits, 1};
}

/// Whether words of 16 bits stand for bf16.
bool standsFor(DLDataType given, DLDataType wanted) {
  return wanted.code == kDLBfloat && given.code == kDLUInt && given.bits == 16;
}

/// Calls `__dlpack__`; a new reference.
PyObject *exportTensor(nb::handle object, const char *name) {
  if (PyObject *made = PyObject_CallMethod(object.ptr(), "__dlpack__", nullptr))
    return made;
  PyErr_Clear();
  // Memory that may not be written is exported only to a reader that knows of its flag.
  PyObject *method = PyObject_GetAttrString(object.ptr(), "__dlpack__");
  PyObject *none = method ? PyTuple_New(0) : nullptr;
  PyObject *version = none ? Py_BuildValue("{s:(ii)}", "max_version", 1, 0) : nullptr;
  PyObject *made = version ? PyObject_Call(method, none, version) : nullptr;
  Py_XDECREF(version);
  Py_XDECREF(none);
  Py_XDECREF(method);
  if (made)
    return made;
  nb::python_error error;
  refuse(name, "a tensor that exports its memory, but got: " + std::string(error.what()));
}

} // namespace

void TensorView::look(nb::handle object, const char *name, DLDataType dtype, bool written) {
  if (PyCapsule_CheckExact(object.ptr()))
    return lookAtCapsule(object, name, written);
  if (PyObject_CheckBuffer(object.ptr()) && lookAtBuffer(object, name, dtype, written))
    return;
  if (!PyObject_HasAttrString(object.ptr(), "__dlpack__"))
    refuse(name, "a tensor (an object with __dlpack__ or a buffer), but got " + typeName(object));
  nb::object exported = nb::steal(exportTensor(object, name));
  lookAtCapsule(exported, name, written);
}

bool TensorView::lookAtBuffer(nb::handle object, const char *name, DLDataType dtype, bool written) {
  int flags = PyBUF_STRIDES | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) {
    PyErr_Clear();
    if (written)
      refuse(name, "memory that may be written, but got a " + typeName(object) + " that is read-only");
    return false;
  }
  holdsBuffer = true;
  if (buffer.ndim > ATTUNE_MAX_RANK)
    refuse(name, "at most " + std::to_string(ATTUNE_MAX_RANK) + " dimensions, but got " + std::to_string(buffer.ndim));
  for (int i = 0; i < buffer.ndim; ++i) {
    if (buffer.itemsize == 0 || (buffer.shape[i] > 1 && buffer.strides[i] % buffer.itemsize != 0))
      refuse(name,
             "strides of whole elements, but got " + std::to_string(buffer.strides[i]) + " bytes; copy the array");
    strides[i] = buffer.strides[i] / buffer.itemsize;
  }
  DLDataType given = dtypeOf(buffer);
  tensor.data = buffer.buf;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = buffer.ndim;
  tensor.dtype = standsFor(given, dtype) ? dtype : given;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "sizes are of 64 bits");
  tensor.shape = reinterpret_cast<int64_t *>(buffer.shape);
  tensor.strides = strides;
  return present = true;
}

void TensorView::lookAtCapsule(nb::handle object, const char *name, bool written) {
  bool mayWrite = true;
  if (PyCapsule_IsValid(object.ptr(), "dltensor")) {
    tensor = static_cast<ManagedTensor *>(PyCapsule_GetPointer(object.ptr(), "dltensor"))->tensor;
  } else if (PyCapsule_IsValid(object.ptr(), "dltensor_versioned")) {
    auto *versioned = static_cast<VersionedTensor *>(PyCapsule_GetPointer(object.ptr(), "dltensor_versioned"));
    if (versioned->major != 1)
      refuse(name, "DLPack 1, but got " + std::to_string(versioned->major) + "." + std::to_string(versioned->minor));
    tensor = versioned->tensor;
    mayWrite = !(versioned->flags & readOnly);
  } else {
    refuse(name, "a DLPack capsule that was not used yet, but got another one");
  }
  if (written && !mayWrite)
    refuse(name, "memory that may be written, but got a tensor that is read-only");
  if (tensor.ndim > ATTUNE_MAX_RANK)
    refuse(name, "at most " + std::to_string(ATTUNE_MAX_RANK) + " dimensions, but got " + std::to_string(tensor.ndim));
  // The capsule is kept, unused, so that its own destructor frees what it describes.
  capsule = object.inc_ref().ptr();
  present = true;
}

void TensorView::release() {
  if (holdsBuffer)
    PyBuffer_Release(&buffer);
  Py_XDECREF(capsule);
}
