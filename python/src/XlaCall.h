//===- XlaCall.h - Attention as a call of XLA -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_XLACALL_H
#define ATTUNE_PYTHON_XLACALL_H

#include "Handle.h"

#include <nanobind/nanobind.h>

namespace attune::python {

/// The number by which compiled programs name a handle, random in each process: a program that a cache of JAX brings
/// from another process finds no handle, never a wrong one. The handle must outlive every program that was given it.
int64_t xlaKey(Handle &handle);

/// The handler for `jax.ffi.register_ffi_target`.
nanobind::capsule xlaTarget();

} // namespace attune::python

#endif // ATTUNE_PYTHON_XLACALL_H
