//===- LimitNote.cpp - Which attention no schedule fits, and what would fit ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LimitNote.h"

#include "attune/Cost/ChooseSchedule.h"
#include "attune/Graph/Metric.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using cost::AttentionShape;

namespace {
/// A field of a spec, or two, as sizes of a shape.
struct Size {
  std::string field;
  int64_t now;
  void (*set)(AttentionShape &, int64_t);
  bool powersOfTwo = false;
};
} // namespace

/// Bytes that no kernel of an attention exceeds with tiles of so many rows on a CPU: operands, features and what is made of them, and
/// states with what is added to them. Sizes that are asked about here have no kernels to count.
static double mostBytes(const AttentionShape &shape, int64_t rows) {
  bool isSketch = shape.family == cost::Family::Polysketch; // its state comes in slices
  double features = static_cast<double>(isSketch ? 4 * shape.sketch : shape.features);
  double width = std::max(static_cast<double>(shape.width), features), dv = static_cast<double>(shape.valueWidth);
  bool hasState = shape.form == attn::Form::State || shape.form == attn::Form::Chunked;
  return 4 * (static_cast<double>(rows) * (6 * width + 4 * dv) + (hasState ? 3 * features * (dv + 2) : 0));
}

static bool fits(const AttentionShape &shape, Type storage, const cost::DeviceDescription &device) {
  cost::TriedKernels kernels;
  kernels.liveBytes = [&](tile::ScheduleAttr schedule, double) { return mostBytes(shape, schedule.getQueryTile()); };
  llvm::Expected<tile::ScheduleAttr> schedule = cost::chooseSchedule(shape, storage, device, kernels);
  if (!schedule && device.kind == tile::TargetKind::GPU) {
    llvm::consumeError(schedule.takeError());
    schedule = cost::chooseSchedule(shape, storage, device, kernels, cost::Slices::Taken);
  }
  bool isRefused = !schedule;
  llvm::consumeError(schedule.takeError());
  return !isRefused;
}

/// Whether features are products with a matrix, as many as a user likes.
static bool hasFeatures(const AttentionShape &shape) {
  return shape.map && shape.map.getFeatureCount() > 0;
}

/// The width of the queries, and of what follows it: other features are one or two for each channel.
static void setWidth(AttentionShape &shape, int64_t width) {
  if (!hasFeatures(shape))
    shape.features = shape.features / shape.width * width;
  shape.width = width;
}

static void setValueWidth(AttentionShape &shape, int64_t width) { shape.valueWidth = width; }
static void setBoth(AttentionShape &shape, int64_t width) { setWidth(shape, width), setValueWidth(shape, width); }
static void setFeatures(AttentionShape &shape, int64_t features) { shape.features = features; }
static void setSketch(AttentionShape &shape, int64_t size) { shape.sketch = size; }

/// The largest size below the present one that fits; 0 if none does. Of sizes that are halved the first that fits is found, then those
/// up to twice as many are tried, and all close to the largest of these: tiles that are padded fit some sizes and not all smaller ones, but none so far away.
static int64_t largestThatFits(const AttentionShape &shape, const Size &size, Type storage,
                               const cost::DeviceDescription &device) {
  auto holds = [&](int64_t value) {
    AttentionShape smaller = shape;
    size.set(smaller, value);
    return fits(smaller, storage, device);
  };
  int64_t most = size.powersOfTwo ? size.now / 2 : size.now - 1, value = most;
  while (value > 0 && !holds(value))
    value /= 2;
  if (size.powersOfTwo || value == 0)
    return value;
  int64_t end = std::min(most, 2 * value), step = std::max<int64_t>(1, value / 64), found = end - (end - value) % step;
  while (found > value && !holds(found))
    found -= step;
  for (int64_t larger = std::min(end, found + step - 1); larger > found; --larger)
    if (holds(larger))
      return larger;
  return found;
}

/// The sizes that a user can make smaller.
static SmallVector<Size, 4> sizesOf(const AttentionShape &shape) {
  SmallVector<Size, 4> sizes;
  if (hasFeatures(shape))
    sizes.push_back({"features", shape.features, setFeatures});
  if (shape.family == cost::Family::Polysketch)
    sizes.push_back({"size", shape.sketch, setSketch, /*powersOfTwo=*/true});
  if (shape.width == shape.valueWidth)
    sizes.push_back({"head_dim and value_dim", shape.width, setBoth});
  sizes.push_back({"head_dim", shape.width, setWidth});
  sizes.push_back({"value_dim", shape.valueWidth, setValueWidth});
  return sizes;
}

static std::string remedyFor(const AttentionShape &shape, Type storage, const cost::DeviceDescription &device) {
  SmallVector<std::string> texts;
  for (const Size &size : sizesOf(shape))
    if (int64_t value = largestThatFits(shape, size, storage, device))
      texts.push_back(size.field + " up to " + std::to_string(value));
  bool isGpu = device.kind == tile::TargetKind::GPU;
  std::string more = isGpu ? "`--target cpu` has limits that are far wider (docs/Limits.md)" : "more is in docs/Limits.md";
  return texts.empty() ? more : "what would fit, other sizes as they are: " + llvm::join(texts, ", or ") + "; " + more;
}

std::optional<Limit> graph::limitOf(func::FuncOp plan, const cost::DeviceDescription &device) {
  for (auto [shape, op] : llvm::zip_equal(attentionsOf(plan), opsOfAttentions(plan)))
    if (shape.isAttention() && !fits(shape, storageOf(plan), device))
      return Limit{op->getLoc(), remedyFor(shape, storageOf(plan), device)};
  return std::nullopt;
}
