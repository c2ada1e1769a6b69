//===- Apart.h - What a run writes shares memory with nothing else --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_APART_H
#define ATTUNE_RT_COMMON_APART_H

#include "Footprint.h"

namespace attune::rt {

/// Each element of an output has bytes that are no other element's, of any tensor, and none is in the `bytes` bytes of
/// workspace that the run uses.
attune_status checkApart(const attune_rt_descriptor &descriptor, const Place &place, const Arguments &arguments,
                         const void *workspace, size_t bytes);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_APART_H
