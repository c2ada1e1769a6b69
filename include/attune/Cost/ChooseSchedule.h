//===- ChooseSchedule.h - Tile sizes for a device -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_CHOOSESCHEDULE_H
#define ATTUNE_COST_CHOOSESCHEDULE_H

#include "attune/Cost/AttentionShape.h"
#include "attune/Cost/DeviceDescription.h"

#include <functional>

namespace attune::cost {

/// What the kernels of a function are with a schedule. Each is asked where it decides.
struct TriedKernels {
  /// Whether those of a GPU can be made; asked of schedules which a bound on what they take does not decide, none of which is taken
  /// without an answer.
  std::function<bool(tile::ScheduleAttr)> areMade;
  /// The most bytes of tiles that a program holds at once, or any number of them that is more than enough. Asked of a CPU, without an
  /// answer tiles have 64 rows; and of a GPU where the sizes of an attention do not say it.
  std::function<double(tile::ScheduleAttr, double enough)> liveBytes;
  /// What they take in a long sequence, by which chunks of a CPU are made shorter.
  std::function<double(tile::ScheduleAttr)> seconds;
};

/// Whether tiles have whole rows of features and values, or slices of them, which take longer and always fit.
enum class Slices { None, Taken };

/// The schedule that the attentions of one function share on a device: the largest tiles that fit into its fast memory
/// (and, on a GPU, its registers). Lengths play no part, so that one schedule serves all of them. Where tiles
/// that do not fit cannot run, the error says what they need and what there is. `storage` is the element type of q, k, v.
llvm::Expected<tile::ScheduleAttr> chooseSchedule(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                  const DeviceDescription &device, const TriedKernels &kernels = {},
                                                  Slices slices = Slices::None);

/// The schedules with which a GPU's kernels of these attentions can be made, the best first, whether or not a device has room for
/// them.
llvm::SmallVector<tile::ScheduleAttr> gpuSchedules(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                   Slices slices = Slices::None);

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
