//===- Empty.h - Runs in which a size is 0 --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_EMPTY_H
#define ATTUNE_RT_COMMON_EMPTY_H

#include "Tensor.h"

namespace attune::rt {

/// Whether every output that is there has no elements.
bool nothingToCompute(const attune_rt_descriptor &descriptor, const Arguments &arguments);

/// If there are no keys, no optional input that could stand for earlier ones and no output that the plan computes all the
/// same, fills the outputs with what the description says and returns true. On the CPU only; device code handles rows without keys in any case.
bool fillWithoutKeys(const attune_rt_descriptor &descriptor, const Arguments &arguments);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_EMPTY_H
