//===- ChooseSchedule.h - Tile sizes for a device -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_CHOOSESCHEDULE_H
#define ATTUNE_COST_CHOOSESCHEDULE_H

#include "attune/Cost/AttentionWork.h"
#include "attune/Cost/DeviceDescription.h"

namespace attune::cost {

/// The schedule that the attentions of one function share on a device: the largest tiles that fit into its fast memory
/// (and, on a GPU, its registers). Lengths play no part, so that one schedule serves all of them. On a GPU, where tiles
/// that do not fit cannot run, the error says what they need and what there is. `storage` is the element type of q, k, v.
llvm::Expected<tile::ScheduleAttr> chooseSchedule(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                  const DeviceDescription &device);

/// An error where the tiles of a CPU's schedule are far more than a thread may hold, which the lowering would find out
/// exactly: before that, tables of so many channels would fill the memory.
llvm::Error checkTiles(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule,
                       const DeviceDescription &device);

/// Bytes of shared memory that one thread block takes at most: queries, keys and values in every stage, and whatever else
/// products read from there.
int64_t sharedBytes(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// Registers that one thread of a block holds at most for elements of tiles: scores, output, a carried state, operands that
/// stay.
int64_t accumulatorsPerThread(const AttentionShape &shape, tile::ScheduleAttr schedule);

} // namespace attune::cost

#endif // ATTUNE_COST_CHOOSESCHEDULE_H
