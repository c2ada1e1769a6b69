//===- SavePrices.cpp - Whether to leave a tensor for gradients, or to compute it again ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that a run leaves was stored by its kernels anyway. By the time that gradients are computed it has left the caches: it is read from main
// memory. One that is not left costs the kernels that made it once more. Both are prices of the plan at a length. So plans that do not store what
// gradients read, as where projections take place in the load of their readers, are dearer than they look where gradients follow.
//
#include "SavedStates.h"
#include "Selector.h"

#include "attune/Graph/Differentiate.h"
#include "attune/Graph/KeepForBackward.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// Bytes of a tensor of tokens, or of numbers of their rows.
static double bytesOf(Value value, const RuntimeSizes &sizes, bool ofKeys) {
  auto type = cast<RankedTensorType>(value.getType());
  double bytes = type.getElementType().getIntOrFloatBitWidth() / 8.0;
  for (auto [dimension, size] : llvm::enumerate(type.getShape()))
    bytes *= static_cast<double>(!ShapedType::isDynamic(size) ? size : dimension == 0 ? sizes.batch : ofKeys ? sizes.keys : sizes.queries);
  return bytes;
}

/// The bytes of what an op leaves. Sums of rows may not be there before they are asked for: four bytes a row.
static double bytesOf(const SavePoint &point, const RuntimeSizes &sizes) {
  if (isa<attn::StateOp, attn::CausalReadoutOp>(point.op)) {
    double bytes = 0;
    for (Value value : point.values)
      bytes += bytesOf(value, sizes, /*ofKeys=*/true);
    return bytes;
  }
  Value tokens = point.op->getResult(0);
  auto type = cast<RankedTensorType>(tokens.getType());
  bool ofKeys = point.names.front() == "k" || point.names.front() == "v";
  double bytes = bytesOf(tokens, sizes, ofKeys), entry = type.getElementType().getIntOrFloatBitWidth() / 8.0;
  double sums = 4 * bytes / (static_cast<double>(type.getShape().back()) * entry);
  return point.names.front() == "lse" ? sums : point.names.size() == 1 ? bytes : bytes + sums;
}

/// Seconds that it takes to read what a point has left.
static double movedSeconds(const SavePoint &point, const RuntimeSizes &sizes, const cost::DeviceDescription &device) {
  return bytesOf(point, sizes) / device.mainBytesPerSecond;
}

/// Whether kernels of a plan make a state in the units that gradients have it in: not where tiles have slices of features, whose units are of rows.
static bool hasItsUnits(const SavePoint &point, tile::ScheduleAttr schedule) {
  return !llvm::is_contained(point.names, "maximum") || !schedule || !schedule.isSliced();
}

void Selector::findSaved() {
  if (!options.save || !function->hasAttr(gradientsAttr))
    return;
  std::vector<std::string> read = savedThatBackwardReads(function);
  llvm::append_range(saved, savePoints(function, savedTerms));
  for (SavePoint &point : saved)
    point.keepOnly([&](StringRef name) { return llvm::is_contained(read, name); });
  llvm::erase_if(saved, [](const SavePoint &point) { return point.names.empty(); });
  for (Candidate &candidate : candidates) {
    std::vector<Operation *> &ops = storing.emplace_back();
    for (const SavePoint &point : saved)
      ops.push_back(hasItsUnits(point, candidate.priced.schedule) ? storingOp(*candidate.function, point) : nullptr);
  }
}

/// Of a state, which is made in the course of an attention, without the kernels that only read it.
double Selector::secondsOf(Operation *op, unsigned candidate, int64_t length) {
  SmallVector<Operation *> ops = opsOfAttentions(*candidates[candidate].function);
  auto state = dyn_cast<attn::StateOp>(op);
  auto readout = dyn_cast<attn::CausalReadoutOp>(op);
  Operation *root = state ? quotientOfState(state) : readout ? quotientOf(readout) : op;
  bool ofState = isa<attn::StateOp, attn::EffattOp>(op);
  double seconds = 0;
  for (const PricedKernel &kernel : metric.kernels(candidates[candidate].priced, lengths->sizesAt(length)))
    if (llvm::any_of(kernel.attentions, [&](size_t place) { return ops[place] == root; }) && !(ofState && kernel.kernel.kernel == "readout"))
      seconds += kernel.price.seconds();
  return seconds;
}

double Selector::againSeconds(unsigned point, int64_t length) {
  auto [place, missing] = againAt.try_emplace({point, length}, 0);
  if (!missing)
    return place->second;
  std::optional<double> least; // a kernel may do more than that
  for (auto [candidate, ops] : llvm::enumerate(storing))
    if (ops[point])
      least = std::min(least.value_or(std::numeric_limits<double>::infinity()), secondsOf(ops[point], candidate, length));
  return place->second = least.value_or(0);
}

double Selector::trainedSeconds(unsigned candidate, int64_t length) {
  double total = seconds(candidate, length);
  if (options.savePin == "none")
    return total;
  for (auto [place, point] : llvm::enumerate(saved)) {
    double again = againSeconds(place, length);
    total += storing[candidate][place] ? std::min(again, movedSeconds(point, lengths->sizesAt(length), options.device)) : again;
  }
  return total;
}

/// The most bytes a token that the pin lets a run leave.
static double mostBytes(StringRef pin) {
  int64_t bytes = 0;
  return pin.getAsInteger(10, bytes) ? std::numeric_limits<double>::infinity() : static_cast<double>(bytes);
}

/// Takes, of what is worth leaving, that which saves the most time a byte, as long as there is room.
static void takeWithin(double most, std::vector<SavedTensors> &all) {
  std::vector<SavedTensors *> order;
  for (SavedTensors &each : all)
    if (each.stored && each.again > each.moved)
      order.push_back(&each);
  llvm::stable_sort(order, [](const SavedTensors *a, const SavedTensors *b) { return (a->again - a->moved) / a->bytes > (b->again - b->moved) / b->bytes; });
  for (SavedTensors *each : order)
    if (each->bytes <= most)
      each->taken = true, most -= each->bytes;
}

void Selector::describeSaved(FunctionSelection &selection) {
  unsigned plan = chosenAt(selection.length);
  RuntimeSizes sizes = lengths->sizesAt(selection.length);
  selection.savePin = options.savePin;
  for (auto [place, point] : llvm::enumerate(saved)) {
    SavedTensors each{{point.names.begin(), point.names.end()}};
    each.stored = storing[plan][place];
    each.bytes = bytesOf(point, sizes);
    each.moved = movedSeconds(point, sizes, options.device);
    each.again = againSeconds(place, selection.length);
    each.taken = options.saved ? llvm::is_contained(*options.saved, each.names.front()) : options.savePin == "all";
    selection.saved.push_back(std::move(each));
  }
  if (!options.saved && options.savePin != "all" && options.savePin != "none")
    takeWithin(mostBytes(options.savePin) * static_cast<double>(sizes.batch * std::max(sizes.queries, sizes.keys)), selection.saved);
}
