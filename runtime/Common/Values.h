//===- Values.h - Checks of what elements of tensors are ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_VALUES_H
#define ATTUNE_RT_COMMON_VALUES_H

#include "Tensor.h"

namespace attune::rt {

/// Each length lies in 0 ... `keys`.
attune_status checkKeyLengths(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t keys);

/// Offsets rise from 0 to `tokens`.
attune_status checkOffsets(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t tokens);
/// Keys are cut where the queries are, by `queries`.
attune_status checkSameOffsets(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, const SlotView &queries);
/// No sequence that these offsets cut has more than `most` tokens.
attune_status checkLongest(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t most);

/// Each position leaves room for so many tokens behind it: `tokens`, or of sequences those between their `offsets`, which are checked.
attune_status checkPositions(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t tokens,
                             const SlotView *offsets);

/// The elements of a row-major parameter are what its flags say.
attune_status checkParameterValues(const Place &place, const attune_rt_tensor &tensor, const SlotView &view,
                                   int64_t elements);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_VALUES_H
