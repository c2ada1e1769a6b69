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
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_ORDERCLOCK_H
#define ATTUNE_EMULATOR_ORDERCLOCK_H

#include <algorithm>
#include <array>
#include <cstdint>

namespace attune::emulator {

class OrderClock {
public:
  static constexpr unsigned maxWarps = 32;
  static constexpr uint32_t maxTime = (1u << 24) - 1;
  using Row = std::array<uint32_t, maxWarps>;

  void reset() {
    time = 1;
    for (Row &row : rows)
      row.fill(0);
  }
  uint32_t now() const { return time; }
  uint32_t seen(unsigned warp, unsigned other) const { return rows[warp][other]; }

  /// bar.warp.sync: the lanes of one warp see each other.
  void syncWarp(unsigned warp) {
    rows[warp][warp] = time;
    advance();
  }
  /// What `warp` publishes when it arrives at a barrier: all that it has seen, and its own accesses so far.
  void release(unsigned warp, Row &published) {
    for (unsigned other = 0; other < maxWarps; ++other)
      published[other] = std::max(published[other], rows[warp][other]);
    published[warp] = time;
  }
  void acquire(unsigned warp, const Row &published) {
    for (unsigned other = 0; other < maxWarps; ++other)
      rows[warp][other] = std::max(rows[warp][other], published[other]);
  }
  void advance() { time = std::min(time + 1, maxTime); }

private:
  uint32_t time = 1;
  std::array<Row, maxWarps> rows{};
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_ORDERCLOCK_H
