//===- ChooseSchedule.cpp - Tile sizes for a device -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/ChooseSchedule.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;
using namespace attune::cost;

// 2,048 keys a piece: long enough that merging states is cheap, short enough for parallel pieces. It fixes the order of
// sums, so it is one number for every device.
static constexpr int64_t piece = 2048;
static constexpr int64_t threadsPerWarp = 32;

/// Rows of a GPU's tiles are padded to the depth of an `mma`.
static int64_t padded(int64_t width) { return llvm::alignTo(width, 16); }

static bool hasState(attn::Form form) { return form == attn::Form::State || form == attn::Form::Chunked; }

int64_t cost::sharedBytes(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  int64_t d = padded(shape.width), dv = padded(shape.valueWidth);
  int64_t elements = schedule.getQueryTile() * d + schedule.getStages() * schedule.getKeyTile() * (d + dv);
  // With several warps in a row of the grid, what has been computed comes back as an operand by way of shared memory.
  if (schedule.getWarpColumns() > 1)
    elements += schedule.getQueryTile() *
                (padded(schedule.getKeyTile()) + (shape.form == attn::Form::Online ? 0 : padded(shape.features)));
  int64_t state = hasState(shape.form) ? 4 * padded(shape.features) * dv : 0;
  return elements * llvm::divideCeil(schedule.getOperand().getIntOrFloatBitWidth(), 8) + state;
}

/// Accumulators of a thread for a tile: each row of the grid of warps holds 16 rows of it at a time, each column of the
/// grid an equal range of columns.
static int64_t accumulators(int64_t rows, int64_t columns, tile::ScheduleAttr schedule) {
  tile::WarpGrid warps = schedule.getWarpGrid();
  return llvm::alignTo(rows, 16 * warps.rows) * llvm::alignTo(padded(columns), 8 * warps.columns) /
         (warps.count() * threadsPerWarp);
}

int64_t cost::accumulatorsPerThread(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  int64_t rows = schedule.getQueryTile(), keys = schedule.getKeyTile();
  auto held = [&](int64_t tileRows, int64_t columns) { return accumulators(tileRows, columns, schedule); };
  int64_t scores = held(rows, keys), output = held(rows, shape.valueWidth);
  int64_t state = held(shape.features, shape.valueWidth);
  // Weights of f16 kernels are f32 operands beside their accumulators: unnormalised, they pass the range of f16.
  bool f32 = schedule.getOperand().isF32();
  int64_t weights = schedule.getOperand().isF16() ? 2 * scores : scores;
  // Products of f32 that are added to something hold four blocks of columns of their own, and features are split in two.
  int64_t features = f32 ? held(keys, shape.features) : 0;
  switch (shape.form) {
  case attn::Form::Online:
    return scores + output;
  case attn::Form::Quadratic:
    return weights + output;
  case attn::Form::State: // of different kernels: a state and the features added to it; features and what they read
    return std::max(state + held(keys, shape.features), held(rows, shape.features) + output);
  case attn::Form::Chunked:
    return weights + output + state + 2 * features;
  }
  return 0;
}

static double largestTiles(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  double bytes = 0;
  for (const KernelWork &kernel : attentionWork(shape, schedule))
    bytes = std::max(bytes, kernel.work.liveBytes);
  return bytes;
}

/// 64-row tiles, or smaller ones where the tiles of wide heads would fall out of half of the core's cache; the other
/// half is for what streams through. Smaller tiles than 16 rows would waste registers, so those are the last resort.
static tile::ScheduleAttr chooseForCpu(const AttentionShape &shape, mlir::MLIRContext *context,
                                       const DeviceDescription &device) {
  tile::ScheduleAttr schedule;
  for (int64_t rows : {64, 32, 16}) {
    schedule =
        tile::ScheduleAttr::get(context, tile::TargetKind::CPU, rows, rows, piece, mlir::Float32Type::get(context),
                                /*warps=*/1, /*stages=*/1);
    if (largestTiles(shape, schedule) <= device.fastBytes / 2)
      break;
  }
  return schedule;
}

namespace {
/// What a block with a schedule takes of a device.
struct Need {
  int64_t bytes, accumulators;

  Need(const AttentionShape &shape, tile::ScheduleAttr schedule)
      : bytes(sharedBytes(shape, schedule)), accumulators(accumulatorsPerThread(shape, schedule)) {}
  /// Of the scarcer of the two, the part of what there is; above 1 a block cannot run.
  double part(const DeviceDescription &device) const {
    return std::max(bytes / device.fastBytes, accumulators / device.accumulatorsPerThread);
  }
  /// Closer to what there is; of two equally close, with fewer bytes.
  bool lessThan(const Need &other, const DeviceDescription &device) const {
    return std::pair(part(device), bytes) < std::pair(other.part(device), other.bytes);
  }
  std::string excess(const DeviceDescription &device) const;
};
} // namespace

std::string Need::excess(const DeviceDescription &device) const {
  if (bytes > device.fastBytes)
    return ("expected tiles of at most " + llvm::Twine(int64_t(device.fastBytes)) + " bytes of shared memory on " +
            device.name + ", but got " + llvm::Twine(bytes))
        .str();
  return ("expected at most " + llvm::Twine(int64_t(device.accumulatorsPerThread)) + " accumulators a thread on " +
          device.name + ", but got " + llvm::Twine(accumulators))
      .str();
}

/// With one column of warps results are operands as they are, so that comes first; columns split wide tiles. Narrow tiles of
/// keys come last: they use a matrix unit badly.
static constexpr tile::WarpGrid grids[] = {{4, 1}, {4, 2}, {2, 4}, {1, 8}};

static llvm::Expected<tile::ScheduleAttr> chooseForGpu(const AttentionShape &shape, mlir::Type storage,
                                                       const DeviceDescription &device) {
  std::optional<Need> least;
  for (int64_t keys : {64, 32, 16})
    for (tile::WarpGrid warps : grids)
      for (int64_t stages : {2, 1}) {
        // The columns of a rotation change places within a warp.
        if (warps.columns > 1 && (shape.queryRope || shape.keyRope))
          continue;
        // A chunk has as many queries as keys.
        int64_t queries = shape.form == attn::Form::Chunked ? keys : 64;
        auto schedule = tile::ScheduleAttr::get(storage.getContext(), tile::TargetKind::GPU, queries, keys, piece,
                                                storage, warps.count(), stages, warps.columns);
        Need need(shape, schedule);
        if (need.part(device) <= 1)
          return schedule;
        if (!least || need.lessThan(*least, device))
          least = need;
      }
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "no schedule fits: " + least->excess(device));
}

/// The attentions whose tiles on a GPU are known. The others are refused when kernels are built; until then they are
/// priced with the tiles of exact attention.
static bool hasGpuKernels(const AttentionShape &shape) {
  bool elu1 = shape.family == Family::Kernel && shape.map && shape.map.getKind() == attn::FeatureKind::Elu1;
  return shape.family == Family::Softmax || (elu1 && !shape.rank);
}

static AttentionShape asSoftmax(AttentionShape shape) {
  shape.family = Family::Softmax, shape.form = attn::Form::Online;
  return shape;
}

llvm::Expected<tile::ScheduleAttr> cost::chooseSchedule(const AttentionShape &shape, mlir::Type storage,
                                                        const DeviceDescription &device) {
  // One query and one key are enough to see what a tile takes.
  AttentionShape one = shape;
  one.batch = one.queries = one.keys = 1;
  if (device.kind == tile::TargetKind::GPU)
    return chooseForGpu(hasGpuKernels(shape) ? one : asSoftmax(one), storage, device);
  return chooseForCpu(one, storage.getContext(), device);
}
