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

#include <functional>

namespace attune::cost {

/// Whether the kernels of a GPU can be made with a schedule; asked of those which a bound on what they take does not decide.
using IsMade = std::function<bool(tile::ScheduleAttr)>;

/// Seconds that the kernels of a function take in a long sequence with a schedule, by which chunks of a CPU are made shorter.
using LongSequence = std::function<double(tile::ScheduleAttr)>;

/// The schedule that the attentions of one function share on a device: the largest tiles that fit into its fast memory
/// (and, on a GPU, its registers). Lengths play no part, so that one schedule serves all of them. On a GPU, where tiles
/// that do not fit cannot run, the error says what they need and what there is. `storage` is the element type of q, k, v.
/// Without `isMade` only schedules are taken with which the kernels can surely be made, without `seconds` the longest chunks.
llvm::Expected<tile::ScheduleAttr> chooseSchedule(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                  const DeviceDescription &device, const IsMade &isMade = nullptr,
                                                  const LongSequence &seconds = nullptr);

/// The schedules with which a GPU's kernels of these attentions can be made, the best first, whether or not a device has room for
/// them.
llvm::SmallVector<tile::ScheduleAttr> gpuSchedules(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage);

/// An error where the tiles of a CPU's schedule are more than a thread may hold. The lowering finds that out exactly, after tables of
/// so many channels have filled the memory.
llvm::Error checkTiles(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule,
                       const DeviceDescription &device);

/// Bytes of shared memory that one thread block takes at most: queries, keys and values in every stage, and whatever else
/// products read from there.
int64_t sharedBytes(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// The same, and no less than what the kernels take when they are made with as few stages as they can be: with a schedule whose
/// need a block has, all of them can be made.
int64_t neededBytes(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// Registers that one thread of a block holds at most for elements of tiles: scores, output, a carried state, operands that
/// stay.
int64_t accumulatorsPerThread(const AttentionShape &shape, tile::ScheduleAttr schedule);

} // namespace attune::cost

#endif // ATTUNE_COST_CHOOSESCHEDULE_H
