//===- DeviceBench.h - attnc bench on a GPU ---------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_DEVICEBENCH_H
#define ATTUNE_COMMANDS_DEVICEBENCH_H

#include "attune/Commands/Arguments.h"
#include "attune/Frontend/Spec.h"

#include "llvm/ADT/ArrayRef.h"

namespace attune::attnc {

/// Times specs, whose sizes are known, on the first GPU, each in turn with exact softmax, and prints the table. The exit status.
int benchOnGpu(llvm::ArrayRef<Spec> specs, const Arguments &arguments);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_DEVICEBENCH_H
