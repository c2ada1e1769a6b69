//===- Together.cpp - Launches of parts that run together ------------------ -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part reads what was there before all parts and writes heads of its own, so that only its own launches have an order.
//
//===----------------------------------------------------------------------===//
#include "Together.h"

#include "attune/Tile/Together.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

PartLaunches kernel::launchesAfter(Block &block, Operation *before, const llvm::SmallPtrSetImpl<Operation *> &others) {
  PartLaunches launches;
  Block::iterator first = before ? std::next(before->getIterator()) : block.begin();
  for (Operation &op : llvm::make_range(first, block.end()))
    if (auto launch = dyn_cast<tile::LaunchOp>(op); launch && !others.contains(launch))
      launches.push_back(launch);
  return launches;
}

void kernel::joinLaunches(Block &block, ArrayRef<PartLaunches> parts) {
  size_t longest = 0;
  for (const PartLaunches &part : parts)
    longest = std::max(longest, part.size());
  for (size_t stage = 0; stage < longest; ++stage) {
    bool first = true;
    for (const PartLaunches &part : parts) {
      if (stage >= part.size())
        continue;
      part[stage]->moveBefore(&block, block.end());
      if (!first)
        tile::runWithThePrevious(part[stage]);
      first = false;
    }
  }
}
