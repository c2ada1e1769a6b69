//===- Footprint.h - Which bytes a tensor's elements take -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_FOOTPRINT_H
#define ATTUNE_RT_COMMON_FOOTPRINT_H

#include "Tensor.h"

namespace attune::rt {

/// Runs of adjacent bytes, the first at `begin`, repeated at multiples of steps. Steps are above 0 and descend.
struct Footprint {
  uint64_t begin = 0, end = 0; ///< no byte is before `begin`, or at `end` or past it
  int64_t run = 0;
  uint32_t dims = 0;
  int64_t count[ATTUNE_RT_MAX_RANK], step[ATTUNE_RT_MAX_RANK]; ///< counts of at least 2

  bool empty() const { return begin == end; }
};

/// Of a tensor that checkTensor has let pass; empty if it is absent or has no elements.
Footprint footprintOf(const SlotView &view, uint32_t dtype);
/// Of a block of memory.
Footprint footprintOf(const void *data, size_t bytes);

/// Whether two elements share a byte, or two tensors do. True as well where telling would take long: strides that
/// interleave in ways that no layout of a framework has.
bool overlapsItself(const Footprint &footprint);
bool overlap(const Footprint &a, const Footprint &b);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_FOOTPRINT_H
