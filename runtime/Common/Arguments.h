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

/// The size of a struct of tensors: of those that run is given, or of the parameters.
attune_status checkStruct(const attune_rt_descriptor &descriptor, const Place &place, const attune_rt_tensors *tensors,
                          bool parameters);

/// The tensor at a position of a struct; null past its end.
const DLTensor *tensorAt(const attune_rt_tensors &tensors, size_t position);

/// Checks all tensors of a run and fills their slots; those of the parameters are there, the workspace is not. Without
/// `data`, null data pointers pass and no element is read. The caller holds the lock that guards `arguments`.
attune_status collectArguments(attune_rt_handle &handle, const Place &place, const attune_rt_tensors *tensors,
                               bool data, Arguments &arguments);

/// Index of the plan for n queries and N keys: the last one with from_length <= L = 2nN / (n + N), compared exactly.
uint32_t pickPlan(const attune_rt_variant &variant, int64_t queries, int64_t keys);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_ARGUMENTS_H
