//===- BlockOrder.h - Which accesses of other blocks come before -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of a launch are ordered by fences and atomics of the device alone, as the memory model of PTX has it:
//
//   release  a release fence, later a store or an exchange of the same thread; or one that releases itself
//   acquire  a load or an exchange that reads what was so stored, or what exchanges after it have made of that, later an
//            acquire fence; or one that acquires itself
//
// What came before the release comes before what is after the acquire. Within a block the clocks of its warps say what came
// before (OrderClock.h), so what a block has acquired spreads through it by barriers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_BLOCKORDER_H
#define ATTUNE_EMULATOR_BLOCKORDER_H

#include "OrderClock.h"

#include <map>
#include <tuple>

namespace attune::emulator {

/// A thread of a block, at a time of its clock.
struct Actor {
  uint32_t block; ///< linear index
  uint16_t thread;
};

/// What an atomic access or a fence does beside reading and writing; all at the scope of the device.
struct Ordering {
  bool atomic = false, acquires = false, releases = false;
};

class BlockOrder {
public:
  void beginLaunch() { places.clear(); }
  void beginBlock() { acquisitions.clear(), fenced.clear(), read.clear(); }

  void fence(const OrderClock &clock, Actor actor, Ordering ordering);
  /// An atomic access that has been done; `stores`: it has written, which an exchange that failed has not.
  void access(const OrderClock &clock, Actor actor, const void *address, Ordering ordering, bool loads, bool stores);

  /// Whether what `writer` wrote at `time` comes before what `actor`, of another block, does next.
  bool sees(const OrderClock &clock, Actor actor, Actor writer, uint32_t time) const;

private:
  /// A thread of a block at a time of the block's clock: block, thread, time.
  using Moment = std::tuple<uint32_t, uint16_t, uint32_t>;
  /// What such threads had seen of the warps of their blocks.
  using Knowledge = std::map<Moment, OrderClock::Times>;
  struct Acquisition {
    uint16_t thread;
    uint32_t time;
    Knowledge knowledge;
  };

  bool isVisible(const OrderClock &clock, uint16_t thread, const Acquisition &acquisition) const;
  Knowledge knowledgeOf(const OrderClock &clock, Actor actor) const;
  static void join(Knowledge &into, const Knowledge &from) { into.insert(from.begin(), from.end()); }

  std::map<const void *, Knowledge> places;       ///< what the last stores there have released
  std::vector<Acquisition> acquisitions;          ///< of the running block
  std::map<uint16_t, Knowledge> fenced, read;     ///< of its threads: before the last release fence; not acquired yet
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_BLOCKORDER_H
