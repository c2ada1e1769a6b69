//===- SavePrices.cpp - Whether to leave a tensor for gradients, or to compute it again ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that a run leaves was stored by its kernels anyway, and lies in main memory by the time that gradients are computed: it is written there and
// read back. One that it does not leave costs the kernels that made it once more. Both are prices of the plan at the length at which prices are told.
//
//===----------------------------------------------------------------------===//
#include "Selector.h"

#include "attune/Graph/KeepForBackward.h"

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
  Value tokens = point.op->getResult(0);
  bool ofKeys = point.names.front() == "k" || point.names.front() == "v";
  double bytes = bytesOf(tokens, sizes, ofKeys), width = static_cast<double>(cast<RankedTensorType>(tokens.getType()).getShape().back());
  double entry = cast<RankedTensorType>(tokens.getType()).getElementType().getIntOrFloatBitWidth() / 8.0;
  return point.names.size() == 1 ? bytes : bytes + 4 * bytes / (width * entry);
}

void Selector::describeSaved(FunctionSelection &selection) {
  std::vector<std::string> read = savedThatBackwardReads(function);
  if (read.empty())
    return;
  Candidate &plan = candidates[chosenAt(selection.length)];
  RuntimeSizes sizes = lengths->sizesAt(selection.length);
  SmallVector<Operation *> ops = opsOfAttentions(*plan.function);
  std::vector<PricedKernel> kernels = metric.kernels(plan.priced, sizes);
  selection.savedByPin = !options.savePin.empty();
  for (const SavePoint &point : savePoints(function)) {
    SavedTensors saved;
    llvm::copy_if(point.names, std::back_inserter(saved.names), [&](const std::string &name) { return llvm::is_contained(read, name); });
    if (saved.names.empty())
      continue;
    Operation *stored = storingOp(*plan.function, point);
    saved.stored = stored;
    saved.bytes = bytesOf(point, sizes);
    saved.moved = 2 * saved.bytes / options.device.mainBytesPerSecond;
    for (const PricedKernel &kernel : kernels)
      if (stored && llvm::any_of(kernel.attentions, [&](size_t place) { return ops[place] == stored; }))
        saved.again += kernel.price.seconds();
    bool isNamed = options.saved && llvm::is_contained(*options.saved, saved.names.front());
    saved.taken = options.saved ? isNamed : selection.savedByPin ? options.savePin == "all" : saved.again > saved.moved;
    selection.saved.push_back(std::move(saved));
  }
}
