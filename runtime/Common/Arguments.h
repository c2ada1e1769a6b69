//===- Arguments.h - The tensors of a run, checked, and the plan for them -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_ARGUMENTS_H
#define ATTUNE_RT_COMMON_ARGUMENTS_H

#include "Handle.h"

namespace attune::rt {

/// Checks all tensors of a run and fills the slots of a plan; the workspace slot comes last and is null. Without
/// `data`, null data pointers pass and no element is read.
attune_status collectArguments(attune_rt_handle &handle, const Place &place, const attune_rt_tensors *tensors,
                               bool data, Arguments &arguments);

/// Index of the plan for n queries and N keys: the last one with from_length <= L = 2nN / (n + N), compared exactly.
uint32_t pickPlan(const attune_rt_variant &variant, int64_t queries, int64_t keys);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_ARGUMENTS_H
