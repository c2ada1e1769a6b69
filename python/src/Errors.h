//===- Errors.h - A status of a library as an exception -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_ERRORS_H
#define ATTUNE_PYTHON_ERRORS_H

#include "attune-rt/attune.h"

#include <stdexcept>
#include <string>

namespace attune::python {

/// Becomes the class of `attune._errors` that stands for its status.
class StatusError : public std::runtime_error {
public:
  StatusError(attune_status status, const std::string &message) : std::runtime_error(message), status(status) {}
  attune_status status;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_ERRORS_H
