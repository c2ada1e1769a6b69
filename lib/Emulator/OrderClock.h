//===- OrderClock.h - Which accesses of a block's warps are ordered --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks, one entry per warp. Time is a counter of the block that moves on at each synchronisation; `seen(w, v)`
// is the time up to which warp w has everything that warp v did. An access of v at time t happens before w's next
// access exactly if t <= seen(w, v). Two lanes of one warp are ordered only by bar.warp.sync or a barrier: seen(w, w).
//
// Bulk copies and warpgroup products reach memory by another way, the async proxy. What they write counts as written by
// a warp of its own, `asyncWarp`. What threads write is theirs to read only after a proxy fence, by the writer or by
// somebody who has seen it: fenced(w, v) is the time up to which that holds for the writes of v as warp w knows, and
// each thread's own fences are kept by time.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_ORDERCLOCK_H
#define ATTUNE_EMULATOR_ORDERCLOCK_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace attune::emulator {

class OrderClock {
public:
  static constexpr unsigned maxWarps = 32, asyncWarp = maxWarps;
  static constexpr uint16_t asyncThread = maxWarps * 32;
  static constexpr uint32_t maxTime = (1u << 24) - 1;
  using Times = std::array<uint32_t, maxWarps + 1>;
  struct Row {
    Times seen{}, fenced{};
  };

  void reset() {
    time = 1;
    rows.fill(Row());
    fences.clear();
  }
  uint32_t now() const { return time; }
  uint32_t seen(unsigned warp, unsigned other) const { return rows[warp].seen[other]; }

  /// bar.warp.sync: the lanes of one warp see each other.
  void syncWarp(unsigned warp) {
    rows[warp].seen[warp] = time;
    advance();
  }
  /// fence.proxy.async by a thread.
  void fenceProxy(uint16_t thread) {
    Row &row = rows[thread / 32];
    join(row.fenced, row.seen);
    if (fences.size() <= thread)
      fences.resize(thread + 1);
    fences[thread].push_back(time);
    advance();
  }
  /// May the async proxy read, for `thread`, what `writer` wrote at `written`?
  bool isFenced(uint16_t thread, uint16_t writer, uint32_t written) const {
    const Row &row = rows[thread / 32];
    if (written <= row.fenced[writer / 32])
      return true;
    if (writer >= fences.size())
      return false;
    auto fence = std::lower_bound(fences[writer].begin(), fences[writer].end(), written);
    return fence != fences[writer].end() && (writer == thread || *fence <= row.seen[writer / 32]);
  }
  /// What `warp` publishes when it arrives at a barrier: all that it has seen, and its own accesses so far.
  void release(unsigned warp, Row &published) {
    acquireInto(published, rows[warp]);
    published.seen[warp] = time;
  }
  void acquire(unsigned warp, const Row &published) { acquireInto(rows[warp], published); }
  /// A bulk copy has landed: whoever acquires this sees it.
  void publishAsync(Row &published) { published.seen[asyncWarp] = time; }
  void advance() { time = std::min(time + 1, maxTime); }

private:
  static void join(Times &into, const Times &from) {
    for (unsigned i = 0; i < into.size(); ++i)
      into[i] = std::max(into[i], from[i]);
  }
  static void acquireInto(Row &into, const Row &from) {
    join(into.seen, from.seen);
    join(into.fenced, from.fenced);
  }

  uint32_t time = 1;
  std::array<Row, maxWarps> rows{};
  std::vector<std::vector<uint32_t>> fences; ///< [thread]: times of its proxy fences
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_ORDERCLOCK_H
