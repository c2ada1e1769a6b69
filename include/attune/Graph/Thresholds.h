//===- Thresholds.h - From which length on which plan is the cheapest -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_THRESHOLDS_H
#define ATTUNE_GRAPH_THRESHOLDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace attune::graph {

/// The price of a plan at a length, in seconds.
using PriceAt = llvm::function_ref<double(unsigned plan, int64_t length)>;

/// Plan `plan` from length `from` up to the next segment.
struct Segment {
  unsigned plan;
  int64_t from;
};

/// The lengths at which prices are compared: 1 … longest, about four to a doubling.
llvm::SmallVector<int64_t> sampleLengths(int64_t longest);

/// The cheapest plan at every length up to `longest`, as at most `most` segments, the first from 0, each plan in one of
/// them at most. The switch between two samples is found by bisection of the price difference. Prices grow in steps of
/// tiles, so plans may take turns near a switch: segments that save less than one part in a hundred go to a neighbour,
/// and so do the least ones where there are too many or a plan would come twice.
llvm::SmallVector<Segment, 3> solveThresholds(unsigned plans, PriceAt price, int64_t longest, unsigned most);

/// The length nearest to `length` from which on (or, `below`, under which) `other` is cheaper than `plan`.
struct Crossover {
  int64_t length;
  bool below;
};
std::optional<Crossover> findCrossover(unsigned plan, unsigned other, PriceAt price, int64_t length, int64_t longest);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_THRESHOLDS_H
