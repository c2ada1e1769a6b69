//===- ChooseSchedule.cpp - Tile sizes for a device -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/ChooseSchedule.h"
#include "BlockNeed.h"
#include "attune/Support/DebugOutput.h"
#include "attune/Tile/KernelSizes.h"

#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <cmath>
#include <map>

using namespace attune;
using namespace attune::cost;

#define DEBUG_TYPE "choose-schedule"

// 2,048 keys a piece: long enough that merging states is cheap, short enough for parallel pieces. Chosen by that, and
// not by a measurement of other lengths. It fixes the order of sums, so it is one number for every device.
static constexpr int64_t piece = 2048;

int64_t cost::sharedBytes(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  return blockNeed(shape, schedule).bytes;
}

int64_t cost::neededBytes(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  return std::max(sharedBytes(shape, schedule), leastBytes(shape, schedule));
}

int64_t cost::accumulatorsPerThread(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  return blockNeed(shape, schedule).registers;
}

static llvm::Error tooLarge(double bytes, const DeviceDescription &device) {
  return llvm::createStringError(tile::noScheduleFits +
                                 llvm::formatv("expected tiles of at most {0} bytes on {1}, but got {2:F0}",
                                               tile::mostScratchBytes, device.name, bytes)
                                     .str());
}

/// Bytes of the largest operand of a tile of so many rows. Where they alone are too many no kernel is tried: tables of so many
/// channels would fill the memory.
static double operandBytes(llvm::ArrayRef<AttentionShape> shapes, int64_t rows) {
  int64_t widest = 0;
  for (const AttentionShape &shape : shapes) {
    int64_t features = shape.family == Family::Polysketch ? shape.sketch : shape.features;
    widest = std::max({widest, shape.width, shape.valueWidth, features});
  }
  return 4.0 * static_cast<double>(rows) * static_cast<double>(widest);
}

/// Rows of the largest tiles. Products of bf16 on a processor with AMX are so fast that what stands between them is most of the time: the accumulator is rescaled,
/// and weights become operands, once a tile. Of 128 channels tiles of 128 rows took .92 of the time of 64 there, .90 where half of the keys are seen, and .99 to
/// 1.01 without AMX; of 64 channels .96 and 1.00 to 1.03 (n = 4,096, one thread of a Granite Rapids). Of 1,024 keys, half of them seen, they took 1.06.
static int64_t mostRows(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage) {
  constexpr int64_t usual = 64, wide = 128, manyKeys = 2048;
  auto isLong = [](int64_t count) { return count >= manyKeys; }; // of open lengths short ones would be mostly rows that do not exist
  bool gains = storage.isBF16() && !shapes.empty() && llvm::all_of(shapes, [&](const AttentionShape &shape) {
    bool isExact = shape.family == Family::Softmax && !shape.window && !shape.grouped && std::min(shape.width, shape.valueWidth) >= wide;
    return isExact && isLong(shape.queries) && isLong(shape.keys);
  });
  return gains ? 2 * usual : usual;
}

/// 64-row tiles, or smaller ones where the tiles of wide heads would fall out of half of the core's cache; the other
/// half is for what streams through. Smaller tiles than 16 rows would waste registers, so those are the last resort.
static llvm::Expected<tile::ScheduleAttr> chooseForCpu(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                       const DeviceDescription &device, const TriedKernels &kernels) {
  constexpr int64_t fewestRows = 16;
  if (double bytes = operandBytes(shapes, fewestRows); bytes > tile::mostScratchBytes)
    return tooLarge(bytes, device);
  mlir::MLIRContext *context = storage.getContext();
  // Processors may have dot products of bf16; of f16 they do not.
  mlir::Type operand = storage.isBF16() ? storage : mlir::Float32Type::get(context);
  for (int64_t rows = mostRows(shapes, storage);; rows /= 2) {
    auto schedule =
        tile::ScheduleAttr::get(context, tile::TargetKind::CPU, rows, rows, piece, operand, /*warps=*/1, /*stages=*/1);
    bool isLast = rows == fewestRows;
    double enough = isLast ? HUGE_VAL : device.fastBytes / 2;
    double bytes = kernels.liveBytes ? kernels.liveBytes(schedule, enough) : 0;
    ATTUNE_DEBUG() << "tiles of " << rows << " rows hold " << bytes << " bytes of " << device.fastBytes << (bytes > enough ? " or more" : "");
    if (bytes <= device.fastBytes / 2 || (isLast && bytes <= tile::mostScratchBytes))
      return schedule;
    if (isLast)
      return tooLarge(bytes, device);
  }
}

/// Kernel attention in chunks whose tokens lie in memory.
static bool isChunked(const AttentionShape &shape) {
  return shape.family == Family::Kernel && shape.form == attn::Form::Chunked && !shape.projectsInLoad && !shape.projectsOutput;
}

/// Half the rows, as often as that is cheaper in a long sequence: shorter chunks have fewer pairs, and touch the state more
/// often. Below 32 rows they are no faster: in chunks of 32 and of 16 elu1 took .84 and .83 of the time of chunks of 64, FAVOR .92 and
/// .92 (n = 4,096, f32, one thread of an EPYC with AVX-512; docs/perf-notes.md). Where tokens decay or erase a chunk has products of
/// T³ as well: of 16 rows it took .84 to 1.00 of the time of 32 (the same length, 64 and 128 channels, a Xeon with AVX-512). Where rows go through their state one
/// after another the price is nearly the same for all; there 32 rows take .92 of the time of 64, whose tiles leave the first-level cache, and 16 span less decay.
static tile::ScheduleAttr shortened(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule,
                                    const std::function<double(tile::ScheduleAttr)> &seconds) {
  bool gated = llvm::all_of(shapes, [](const AttentionShape &shape) { return shape.gated; });
  int64_t fewestRows = gated ? 16 : 32, rows = schedule.getQueryTile() / 2;
  if (rows < fewestRows || !seconds || !llvm::all_of(shapes, isChunked))
    return schedule;
  tile::ScheduleAttr shorter = schedule.withTiles(rows, rows);
  double shorterSeconds = seconds(shorter), longerSeconds = seconds(schedule);
  ATTUNE_DEBUG() << "chunks of " << rows << " rows take " << shorterSeconds << " s, of " << 2 * rows << " rows " << longerSeconds
                 << " s";
  constexpr double alike = 1.01; // prices that say nothing
  return shorterSeconds < alike * longerSeconds ? shortened(shapes, shorter, seconds) : schedule;
}

/// Rows that see the keys of a head: its queries, of all heads that go through them together.
static int64_t rowsOf(const AttentionShape &shape) {
  bool together = shape.family == Family::Softmax && shape.grouped;
  return together ? shape.queries * (shape.heads / shape.sharedHeads) : shape.queries;
}

/// Tiles of as many queries as there are, where that are less: rows that do not exist would be most of the work of a query
/// or a few that see many keys. A tile has a power of two of rows. Of keys it has 32: each is used once a row, so that nothing is
/// gained by more, and 64 of them with their values and a transposed copy leave the first-level cache (docs/Rationale/SplitKeys.md).
/// A chunk has as many keys as queries: of one token it is a step of the recurrence.
static tile::ScheduleAttr forFewQueries(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr s) {
  constexpr int64_t few = 32, keys = 32;
  int64_t most = 1;
  for (const AttentionShape &shape : shapes) {
    bool ofRows = shape.family == Family::Softmax && !shape.window;
    bool known = (ofRows || isChunked(shape)) && shape.queries > 0;
    most = std::max(most, known ? rowsOf(shape) : few + 1);
  }
  if (most > few)
    return s;
  auto rows = static_cast<int64_t>(llvm::PowerOf2Ceil(most));
  int64_t ofKeys = llvm::any_of(shapes, isChunked) ? rows : std::min(keys, s.getKeyTile());
  return s.withTiles(rows, ofKeys);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Columns of a slice, of features and of values. With the fewest of them four warps have registers for every kernel; the more there
/// are, the less is computed again for other slices.
static constexpr int64_t sliceColumns[] = {256, 128, 64}, wholeRows[] = {0};

/// Chunks have whole rows of features, of which many leave room for a state of few values.
static constexpr int64_t valueColumns[] = {256, 128, 64, 32, 16};

/// The widest rows that are cut into slices, and the most features. Kernels that rotate tokens grow with the width, and features
/// are stored.
static constexpr int64_t widestSliced = 4096, mostFeatures = 8192;

/// Whether the kernels of an attention can have slices of features and values: not those that keep a state in registers. The others
/// of a plan have whole rows beside them (`scheduleOfRows`).
static bool hasSlices(const AttentionShape &shape) {
  if (shape.gated || std::max(shape.width, shape.valueWidth) > widestSliced || shape.features > mostFeatures)
    return false;
  switch (shape.family) {
  case Family::Softmax:
  case Family::Polynomial:
  case Family::Polysketch:
  case Family::Agent:
  case Family::Effatt:
    return true;
  case Family::Kernel:
    return shape.form != attn::Form::Chunked && !shape.fused && !shape.keysMapped && !shape.wholeState;
  default:
    return false;
  }
}

/// Whether the chunks of an attention have slices of values alone: every program makes the pairs and the denominators of its chunks. Not where features
/// are exponents, where the state of a part is handed on, nor where an output needs all values of its head.
static bool hasValueSlices(const AttentionShape &shape) {
  bool hasBlocks = shape.features > shape.width && !(shape.map && shape.map.getFeatureCount() > 0); // several features for each channel
  bool isAlone = !shape.split && !shape.grouped && !shape.projectsOutput;
  return shape.family == Family::Kernel && shape.form == attn::Form::Chunked && !shape.runningMaximum && !hasBlocks && isAlone;
}

/// As much of an attention as its tiles have. Where those are slices, tokens have been through their steps, and features are stored.
static AttentionShape tileOf(AttentionShape shape, tile::ScheduleAttr schedule) {
  if (!schedule.isSliced())
    return shape;
  // What their kernels store is f32, which comes to registers as rows that are normalised in the load do.
  shape.keyNorm |= shape.keyRope;
  shape.queryRope = shape.keyRope = false;
  if (hasValueSlices(shape))
    shape.valueWidth = std::min(shape.valueWidth, schedule.getValueTile());
  if (!hasSlices(shape))
    return shape;
  shape.width = std::min(shape.width, schedule.getFeatureTile());
  shape.features = std::min(shape.features, schedule.getFeatureTile());
  shape.valueWidth = std::min(shape.valueWidth, schedule.getValueTile());
  return shape;
}

/// The schedule with which the kernels of an attention run. Products of sketches are of f32 whatever the storage is, and so are the
/// slices of their tokens.
static tile::ScheduleAttr scheduleOf(const AttentionShape &shape, tile::ScheduleAttr s) {
  if (!s.isSliced())
    return s;
  if (!hasSlices(shape))
    return hasValueSlices(shape) ? s : tile::scheduleOfRows(s);
  if (shape.family != Family::Polysketch)
    return s;
  return tile::ScheduleAttr::get(s.getContext(), s.getTarget(), s.getQueryTile(), s.getKeyTile(), s.getPiece(),
                                 mlir::Float32Type::get(s.getContext()), s.getWarps(), s.getStages(), s.getWarpColumns(), s.getParts())
      .withSlices(s.getFeatureTile(), s.getValueTile());
}

//===----------------------------------------------------------------------===//
// What a block needs
//===----------------------------------------------------------------------===//

namespace {
/// What a block with a schedule takes of a device.
struct Need {
  int64_t bytes = 0, accumulators = 0;

  Need(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule) {
    for (const AttentionShape &shape : shapes) {
      AttentionShape tile = tileOf(shape, schedule);
      bytes = std::max(bytes, sharedBytes(tile, scheduleOf(shape, schedule)));
      accumulators = std::max(accumulators, accumulatorsPerThread(tile, scheduleOf(shape, schedule)));
    }
  }
  /// As much as is sure to be enough.
  void takeLeast(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule) {
    for (const AttentionShape &shape : shapes)
      bytes = std::max(bytes, leastBytes(tileOf(shape, schedule), scheduleOf(shape, schedule)));
  }
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
static constexpr tile::WarpGrid grids[] = {{4, 1}, {2, 1}, {4, 2}, {2, 4}, {1, 8}};

/// Queries and keys of a tile. Few queries at a time read the keys often, so those shrink last.
static constexpr std::pair<int64_t, int64_t> tileSizes[] = {{64, 64}, {64, 32}, {64, 16}, {32, 32}, {16, 16}};

/// The columns of a rotation change places within a warp.
static bool rotates(const AttentionShape &shape) { return shape.queryRope || shape.keyRope; }

/// Can the kernels of an attention be made with these tiles and this grid, with no row of warps idle?
static bool isUsable(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  tile::WarpGrid warps = schedule.getWarpGrid();
  bool isSquare = schedule.getQueryTile() == schedule.getKeyTile();
  // Two stages take addresses of their own, for which kernels that come to so many columns have no registers left.
  // What chunks of sketches read again and again is their own state, which does not run ahead.
  bool chunksOfSketches = shape.family == Family::Polysketch && shape.form == attn::Form::Chunked;
  bool stagesFit = (warps.columns < 4 && !chunksOfSketches) || schedule.getStages() <= 1;
  return (warps.columns == 1 || !rotates(shape)) && schedule.getQueryTile() >= 16 * warps.rows && stagesFit &&
         (isSquare || !hasSquareTiles(shape));
}

llvm::SmallVector<tile::ScheduleAttr> cost::gpuSchedules(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                         Slices slices) {
  llvm::SmallVector<tile::ScheduleAttr> schedules;
  auto add = [&](tile::ScheduleAttr schedule) {
    if (llvm::all_of(shapes, [&](const AttentionShape &shape) {
          return isUsable(tileOf(shape, schedule), scheduleOf(shape, schedule));
        }))
      schedules.push_back(schedule);
  };
  auto addAll = [&](llvm::ArrayRef<int64_t> widths) {
    for (auto [queries, keys] : tileSizes)
      for (tile::WarpGrid warps : grids)
        for (int64_t columns : widths)
          for (int64_t stages : {2, 1, 0}) // 0: what every step of a loop reads is loaded again
            add(tile::ScheduleAttr::get(storage.getContext(), tile::TargetKind::GPU, queries, keys, piece, storage,
                                        warps.count(), stages, warps.columns, /*parts=*/2)
                    .withSlices(columns, columns));
  };
  if (slices != Slices::Taken)
    addAll(wholeRows);
  else if (llvm::none_of(shapes, hasValueSlices))
    addAll(sliceColumns);
  else // pairs are made again by every slice: these are wide before chunks are long
    for (int64_t columns : valueColumns)
      addAll(columns);
  return schedules;
}

/// How much more than what fits kernels of rotated f32 tokens may hold, which are counted with care: up to so much they spill in no
/// loop (test/Integration/Emulated/registers_all.test). Wider rows are rotated first, and read in slices.
static constexpr double mostRotated = 1.4;

/// Blocks of queries of an attention that run side by side where its keys are split; an unknown number is 1.
static int64_t queryBlocks(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  if (shape.family != Family::Softmax)
    return 1;
  return llvm::divideCeil(std::max<int64_t>(1, rowsOf(shape)), schedule.getQueryTile());
}

/// Pieces of keys for so many that each core would have one. A CPU's threads take what is next and begin at different times,
/// so that eight each end closer to one another; they are merged by one, hence not more than some.
static int64_t keyPieces(int64_t oneEach, const DeviceDescription &device) {
  constexpr int64_t each = 8, some = 128;
  return device.kind == tile::TargetKind::GPU ? oneEach : std::max(oneEach, std::min(each * oneEach, some));
}

/// As many parts of a causal sequence as give each core one, or pieces of its keys, and two at least.
static tile::ScheduleAttr withParts(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr s,
                                    const DeviceDescription &device) {
  int64_t parts = 2;
  for (const AttentionShape &shape : shapes)
    if (shape.split) {
      double batch = static_cast<double>(std::max<int64_t>(1, shape.batch)); // an unknown one is 1
      int64_t heads = shape.grouped ? shape.sharedHeads : shape.heads;
      double points = batch * static_cast<double>(heads) * static_cast<double>(queryBlocks(shape, s));
      auto oneEach = static_cast<int64_t>(device.cores / points);
      parts = std::max(parts, shape.family == Family::Softmax ? keyPieces(oneEach, device) : oneEach);
    }
  return s.withParts(parts);
}

/// The most registers of a thread for tiles that are live at once, of 255: operands in parts, addresses and what is read ahead have the
/// others. Chunks that decay or erase, of 16 and of 32 tokens and 32 to 128 features, spilled in no loop up to 163, and from 185 on in most
/// (docs/Rationale/TileKernels.md).
static constexpr double mostLive = 160;

namespace {
/// Whether the kernels can be made that a schedule's need has room for, and what their tiles hold where sizes do not say it. Where that
/// is not sure it is asked, once for the schedules that differ in stages alone: kernels take as many of those as there is room for.
class Makeable {
public:
  Makeable(llvm::ArrayRef<AttentionShape> shapes, const DeviceDescription &device, const TriedKernels &kernels)
      : shapes(shapes), device(device), kernels(kernels) {}

  bool operator()(tile::ScheduleAttr schedule) {
    auto fits = [&](const AttentionShape &shape) {
      return !shape.gated && leastBytes(tileOf(shape, schedule), scheduleOf(shape, schedule)) <= device.fastBytes;
    };
    bool isSure = !schedule.isSliced() || !kernels.areMade; // bounds say nothing of the kernels that store features
    if (isSure && llvm::all_of(shapes, fits))
      return true;
    auto [known, isNew] = made.try_emplace({schedule.getQueryTile(), schedule.getKeyTile(), schedule.getWarps(),
                                            schedule.getWarpColumns(), schedule.getFeatureTile()});
    if (isNew)
      known->second = kernels.areMade && kernels.areMade(schedule);
    return known->second;
  }

  /// Registers of a thread for the tiles that are live at once, which warps share; 0 where the sizes of attentions say what they need.
  double live(tile::ScheduleAttr schedule) {
    auto asks = [&](const AttentionShape &shape) { return shape.gated || (schedule.isSliced() && hasValueSlices(shape)); };
    if (!kernels.liveBytes || llvm::none_of(shapes, asks))
      return 0;
    auto [known, isNew] = liveBytes.try_emplace({schedule.getQueryTile(), schedule.getKeyTile(), schedule.getFeatureTile()});
    if (isNew)
      known->second = kernels.liveBytes(schedule, HUGE_VAL);
    return known->second / (4.0 * 32 * static_cast<double>(schedule.getWarps()));
  }

private:
  llvm::ArrayRef<AttentionShape> shapes;
  const DeviceDescription &device;
  const TriedKernels &kernels;
  std::map<std::array<int64_t, 5>, bool> made;
  std::map<std::array<int64_t, 3>, double> liveBytes;
};
} // namespace

static llvm::Expected<tile::ScheduleAttr> chooseForGpu(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                       const DeviceDescription &device, const TriedKernels &kernels,
                                                       Slices slices) {
  std::optional<Need> least;
  tile::ScheduleAttr fewestRegisters;
  int64_t accumulators = 0;
  llvm::SmallVector<std::pair<double, tile::ScheduleAttr>> tight; ///< whose live tiles may spill
  Makeable makeable(shapes, device, kernels);
  bool rotated = storage.isF32() && llvm::any_of(shapes, rotates) && slices == Slices::None;
  bool ofValues = slices == Slices::Taken && llvm::any_of(shapes, hasValueSlices); // rows of features may be too wide for any
  for (tile::ScheduleAttr schedule : cost::gpuSchedules(shapes, storage, slices)) {
    Need need(shapes, schedule);
    bool mayFit = need.bytes <= device.fastBytes && (need.part(device) <= 1 || rotated);
    bool isAsked = need.bytes <= device.fastBytes && (need.part(device) <= 1 || ofValues);
    double live = isAsked ? makeable.live(schedule) : 0;
    bool isTight = live > mostLive, fits = mayFit && !isTight && makeable(schedule);
    ATTUNE_DEBUG() << schedule << " needs " << need.bytes << " bytes and " << need.accumulators << " accumulators a thread: "
                   << (fits ? "fits" : isTight ? "its live tiles may spill" : mayFit ? "its kernels do not fit" : "does not fit");
    if (isTight)
      tight.push_back({live, schedule});
    if (fits && need.part(device) <= 1)
      return schedule;
    if (mayFit && !fits)
      need.takeLeast(shapes, schedule);
    if (!least || need.lessThan(*least, device))
      least = need;
    if (fits && (!fewestRegisters || need.accumulators < accumulators))
      fewestRegisters = schedule, accumulators = need.accumulators;
  }
  llvm::stable_sort(tight, llvm::less_first());
  for (auto [live, schedule] : tight) // kernels that spill are better than none
    if (makeable(schedule))
      return schedule;
  if (fewestRegisters && accumulators <= mostRotated * device.accumulatorsPerThread)
    return fewestRegisters;
  return llvm::createStringError(llvm::inconvertibleErrorCode(), tile::noScheduleFits + least->excess(device));
}

static tile::ScheduleAttr chosen(tile::ScheduleAttr schedule) {
  ATTUNE_DEBUG() << "chose " << schedule;
  return schedule;
}

llvm::Expected<tile::ScheduleAttr> cost::chooseSchedule(llvm::ArrayRef<AttentionShape> shapes, mlir::Type storage,
                                                        const DeviceDescription &device, const TriedKernels &kernels,
                                                        Slices slices) {
  bool isGpu = device.kind == tile::TargetKind::GPU;
  if (shapes.empty() && !isGpu) // a function without attention has no schedule
    return tile::ScheduleAttr();
  auto schedule = isGpu ? chooseForGpu(shapes, storage, device, kernels, slices) : chooseForCpu(shapes, storage, device, kernels);
  if (!schedule)
    return schedule;
  if (!isGpu)
    schedule = forFewQueries(shapes, shortened(shapes, *schedule, kernels.seconds));
  return chosen(withParts(shapes, *schedule, device));
}
