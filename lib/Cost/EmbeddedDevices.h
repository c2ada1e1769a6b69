//===- EmbeddedDevices.h - The device descriptions inside the binary -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_EMBEDDEDDEVICES_H
#define ATTUNE_LIB_COST_EMBEDDEDDEVICES_H

#include "llvm/ADT/ArrayRef.h"

namespace attune::cost {

struct EmbeddedDevice {
  const char *name; ///< the file's name without `.yaml`
  const char *yaml; ///< the file's text
};

/// Sorted by name. Defined by a file that CMake writes from devices/*.yaml.
llvm::ArrayRef<EmbeddedDevice> embeddedDevices();

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_EMBEDDEDDEVICES_H
