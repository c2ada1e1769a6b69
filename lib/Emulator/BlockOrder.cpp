//===- BlockOrder.cpp - Which accesses of other blocks come before --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlockOrder.h"

using namespace attune::emulator;

bool BlockOrder::isVisible(const OrderClock &clock, uint16_t thread, const Acquisition &acquisition) const {
  return acquisition.thread == thread || acquisition.time <= clock.seen(thread / 32, acquisition.thread / 32);
}

BlockOrder::Knowledge BlockOrder::knowledgeOf(const OrderClock &clock, Actor actor) const {
  OrderClock::Times warps{};
  for (unsigned warp = 0; warp < warps.size(); ++warp)
    warps[warp] = clock.seen(actor.thread / 32, warp);
  Knowledge knowledge{{Moment(actor.block, actor.thread, clock.now()), warps}};
  for (const Acquisition &acquisition : acquisitions)
    if (isVisible(clock, actor.thread, acquisition))
      join(knowledge, acquisition.knowledge);
  return knowledge;
}

void BlockOrder::fence(const OrderClock &clock, Actor actor, Ordering ordering) {
  if (ordering.acquires && read.contains(actor.thread)) {
    acquisitions.push_back({actor.thread, clock.now(), std::move(read[actor.thread])});
    read.erase(actor.thread);
  }
  if (ordering.releases)
    fenced[actor.thread] = knowledgeOf(clock, actor);
}

void BlockOrder::access(const OrderClock &clock, Actor actor, const void *address, Ordering ordering, bool loads,
                        bool stores) {
  Knowledge &place = places[address];
  if (loads && ordering.acquires)
    acquisitions.push_back({actor.thread, clock.now(), place});
  else if (loads)
    join(read[actor.thread], place);
  if (!stores)
    return;
  if (!loads) // a store of its own begins anew, an exchange goes on with what is there
    place.clear();
  if (ordering.releases)
    join(place, knowledgeOf(clock, actor));
  else if (auto before = fenced.find(actor.thread); before != fenced.end())
    join(place, before->second);
}

bool BlockOrder::sees(const OrderClock &clock, Actor actor, Actor writer, uint32_t time) const {
  for (const Acquisition &acquisition : acquisitions) {
    if (!isVisible(clock, actor.thread, acquisition))
      continue;
    auto known = acquisition.knowledge.lower_bound(Moment(writer.block, 0, 0));
    for (; known != acquisition.knowledge.end() && std::get<0>(known->first) == writer.block; ++known) {
      auto [block, thread, until] = known->first;
      if (time <= known->second[writer.thread / 32] || (thread == writer.thread && time <= until))
        return true;
    }
  }
  return false;
}
